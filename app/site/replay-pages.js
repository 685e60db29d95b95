// The page pool of one policy: every page by its id, whose it is and how much of it is filled.

import {clip, count, fit, h, own, setAttr, setText} from "./replay-dom.js";
import {rowAt} from "./replay-model.js";

export class PageGrid {
  #cells = [];
  #width = 0;

  constructor() {
    this.caption = h("span", {class: "figure"});
    this.title = h("span", {text: "KV pages"});
    this.grid = h("div", {class: "pages", role: "img"});
    this.tip = h("div", {class: "tip", hidden: true});
    this.node = h("div", {class: "pool-box"}, h("div", {class: "label"}, this.title, this.caption), this.grid, this.tip);
    this.grid.addEventListener("pointerover", (event) => this.#point(event));
    this.grid.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  /** Lay out the pool for a document, in `width` px. */
  draw(policy, model, width) {
    this.policy = policy;
    this.model = model;
    const pages = model.limits.num_pages;
    const wide = width >= 480;
    const columns = wide ? (pages <= 40 ? 16 : pages <= 128 ? 32 : 64) : pages <= 64 ? 16 : 32;
    const rows = Math.ceil(pages / columns);
    const room = rows > (wide ? 4 : 4) ? (wide ? 100 : 150) : 58;
    const gap = rows > 4 ? 1.5 : 4;
    const height = Math.max(3, Math.min(27, (room - (rows - 1) * gap) / rows));
    this.#width = (width - (columns - 1) * gap) / columns;
    const {style} = this.grid;
    style.setProperty("--columns", columns);
    style.setProperty("--gap", `${gap}px`);
    style.setProperty("--cell", `${height}px`);
    style.setProperty("--room", `${Math.max(room, rows * (height + gap) - gap)}px`);
    setText(this.title, wide ? `KV pages of ${count(model.limits.page_size, "token")}` : "KV pages");
    const letters = this.#width >= 9 && height >= 9 ? Math.floor((this.#width - 3) / 7) || 1 : 0;
    if (letters !== this.letters) for (const cell of this.#cells) cell.key = "";
    this.letters = letters;
    while (this.#cells.length < pages) this.#cells.push(newCell(this.grid, this.#cells.length));
    while (this.#cells.length > pages) this.#cells.pop().node.remove();
  }

  /** Show iteration t; only pages that changed are touched. */
  update(t) {
    const {policy, model} = this;
    const row = rowAt(policy, t);
    const size = model.limits.page_size;
    const owners = new Array(this.#cells.length).fill(null);
    const told = [];
    if (row) {
      const held = new Set(row.seats.filter((seat) => seat?.state === "held").map((seat) => seat.id));
      for (const [id, pages] of Object.entries(row.pages)) {
        const request = policy.byId.get(id);
        if (!request) continue;
        told.push(`${id} ${pages.length}`);
        pages.forEach((page, index) => {
          const used = Math.min(size, Math.max(0, (own(row.kv, id) ?? 0) - index * size));
          owners[page] = {request, used, held: held.has(id)};
        });
      }
    }
    owners.forEach((owner, page) => this.#paint(this.#cells[page], owner, size));
    const total = model.limits.num_pages;
    const text = row ? `${row.pages_used} of ${count(total, "page")} held · ${count(row.wasted_slots, "slot")} unused` : `0 of ${count(total, "page")} held`;
    setText(this.caption, text);
    setAttr(this.grid, "aria-label", `Page pool: ${text}.${told.length ? ` Pages by request: ${told.join(", ")}.` : ""}`);
    if (!this.tip.hidden) this.#tell();
  }

  #paint(cell, owner, size) {
    if (!cell) return;
    const key = owner ? `${owner.request.index} ${owner.used} ${owner.held} ${owner.request.id}` : "free";
    if (cell.key === key) return;
    cell.key = key;
    cell.owner = owner;
    const {node} = cell;
    if (!owner) {
      node.className = "page";
      delete node.dataset.r;
      delete node.dataset.pin;
      setText(cell.low, "");
      setText(cell.high, "");
      return;
    }
    node.className = owner.held ? "page owned held" : "page owned";
    node.dataset.r = owner.request.index;
    node.dataset.pin = "";
    const letter = this.letters ? fit(owner.request, this.letters) || (/^\d/.test(owner.request.short) ? "" : Array.from(owner.request.id)[0]) : "";
    setText(cell.low, letter);
    setText(cell.high, letter);
    cell.high.style.clipPath = `inset(0 ${100 - (owner.used / size) * 100}% 0 0)`;
  }

  #point(event) {
    const node = event.target.closest(".page");
    this.pointed = node ? this.#cells[Number(node.dataset.page)] : null;
    this.tip.hidden = !this.pointed;
    if (!this.pointed) return;
    this.#tell();
    const box = this.node.getBoundingClientRect();
    const cell = node.getBoundingClientRect();
    const middle = cell.left + cell.width / 2 - box.left;
    this.tip.style.left = `${Math.max(74, Math.min(box.width - 74, middle))}px`;
    this.tip.style.top = `${cell.top - box.top}px`;
  }

  #tell() {
    const {owner, node} = this.pointed;
    setText(this.tip, owner
      ? `page ${node.dataset.page} · ${clip(owner.request.id, 12)}${owner.held ? " (held)" : ""} · ${owner.used} of ${this.model.limits.page_size} slots`
      : `page ${node.dataset.page} · free`);
  }
}

function newCell(parent, page) {
  const low = h("span", {class: "low"});
  const high = h("span", {class: "high"});
  const node = h("div", {class: "page", dataset: {page}}, low, high);
  parent.append(node);
  return {node, low, high, key: "free", owner: null};
}
