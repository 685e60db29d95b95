// The page pool of one policy: every page by its id, whose it is and how much of it is filled.

import {clip, count, fit, h, own, setAttr, setText} from "./replay-dom.js";
import {rowAt} from "./replay-model.js";
import {wasteOf} from "./replay-option-words.js";

export class PageGrid {
  #cells = [];
  #width = 0;

  constructor() {
    this.caption = h("span", {class: "figure"});
    this.title = h("span", {text: "KV pages"});
    this.grid = h("div", {class: "pages", role: "img"});
    this.tip = h("div", {class: "tip", hidden: true});
    this.waste = h("p", {class: "waste", hidden: true});
    this.node = h("div", {class: "pool-box"}, h("div", {class: "label"}, this.title, this.caption), this.grid, this.waste, this.tip);
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
    const waste = wasteOf(policy.options, row);
    const runs = policy.options.allocation === "slab";
    if (row) {
      const held = new Set(row.seats.filter((seat) => seat?.state === "held").map((seat) => seat.id));
      for (const [id, pages] of Object.entries(row.pages)) {
        const request = policy.byId.get(id);
        if (!request) continue;
        told.push(`${id} ${pages.length}`);
        const whole = held.has(id) ? 0 : request.prompt_tokens + request.output_tokens;
        pages.forEach((page, index) => {
          const within = (tokens) => Math.min(size, Math.max(0, tokens - index * size));
          const used = within(own(row.kv, id) ?? 0);
          const one = {request, used, held: held.has(id), end: waste.length ? Math.max(used, within(whole)) : size};
          if (runs) one.run = [index > 0, index < pages.length - 1];
          // A page of several: the first to be named is drawn, the others are marked on it.
          if (owners[page]) owners[page].others = [...(owners[page].others ?? []), one];
          else owners[page] = one;
        });
      }
    }
    const cached = policy.cached?.(t);
    owners.forEach((owner, page) => this.#paint(this.#cells[page], owner, size, cached?.has(page) ?? false));
    this.#waste(waste);
    const total = model.limits.num_pages;
    const text = row ? `${row.pages_used} of ${count(total, "page")} held · ${count(row.wasted_slots, "slot")} unused` : `0 of ${count(total, "page")} held`;
    setText(this.caption, text);
    setAttr(this.grid, "aria-label", `Page pool: ${text}.${told.length ? ` Pages by request: ${told.join(", ")}.` : ""}`);
    if (!this.tip.hidden) this.#tell();
  }

  #paint(cell, owner, size, cached) {
    if (!cell) return;
    const others = owner?.others ?? [];
    const key = owner ? [owner.request.index, owner.used, owner.held, owner.request.id, owner.end, owner.run ?? "", ...others.map((one) => one.request.id)].join(" ") : cached ? "cached" : "free";
    if (cell.key === key) return;
    cell.key = key;
    cell.owner = owner;
    cell.cached = cached;
    const {node} = cell;
    if (!owner) {
      node.className = cached ? "page cached" : "page";
      delete node.dataset.r;
      delete node.dataset.rs;
      delete node.dataset.pin;
      setText(cell.low, "");
      setText(cell.high, "");
      return;
    }
    const [before, after] = owner.run ?? [];
    const split = owner.end < size && !owner.held;
    node.className = ["page owned", owner.held && "held", before && "before", after && "after", split && "split", !owner.used && "empty", others.length && "shared"].filter(Boolean).join(" ");
    const several = new Set([owner, ...others].map((one) => one.request.index));
    node.dataset.r = owner.request.index;
    if (several.size > 1) node.dataset.rs = [...several].join(" ");
    else delete node.dataset.rs;
    node.dataset.pin = "";
    if (split) node.style.setProperty("--end", `${(owner.end / size) * 100}%`);
    if (others.length) node.style.setProperty("--marks", stripes(others.map((one) => one.request.color)));
    if (others.length && this.letters) {
      const text = `${fit(owner.request, 2) || Array.from(owner.request.id)[0]}+${others.length}`;
      setText(cell.low, this.letters >= text.length ? text : "");
      setText(cell.high, cell.low.textContent);
      cell.high.style.clipPath = `inset(0 ${100 - (owner.used / size) * 100}% 0 0)`;
      return;
    }
    const letter = this.letters ? fit(owner.request, this.letters) || (/^\d/.test(owner.request.short) ? "" : Array.from(owner.request.id)[0]) : "";
    setText(cell.low, letter);
    setText(cell.high, letter);
    cell.high.style.clipPath = `inset(0 ${100 - (owner.used / size) * 100}% 0 0)`;
  }

  /** What the unused slots are, told apart, and what is free but still cached. */
  #waste(parts) {
    this.waste.hidden = !parts.length;
    const key = parts.join();
    if (this.wasteKey === key) return;
    this.wasteKey = key;
    this.waste.replaceChildren(...parts.map(([name, text]) => h("span", {class: "kind"}, h("i", {class: `swatch ${name}`}), text)));
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
      ? [`page ${node.dataset.page}`, [owner, ...(owner.others ?? [])].slice(0, 6).map((one) => clip(one.request.id, 12)).join(", ") + (owner.held ? " (held)" : ""),
        ...(owner.others ? [`ref_count ${owner.others.length + 1}`] : []), `${owner.used} of ${this.model.limits.page_size} slots`].join(" · ")
      : `page ${node.dataset.page} · free${this.pointed.cached ? ", still cached" : ""}`);
  }
}

function newCell(parent, page) {
  const low = h("span", {class: "low"});
  const high = h("span", {class: "high"});
  const node = h("div", {class: "page", dataset: {page}}, low, high);
  parent.append(node);
  return {node, low, high, key: "free", owner: null};
}

/** Bands of the colours of a page's further owners, as a background. */
function stripes(colors) {
  const width = 100 / colors.length;
  return `linear-gradient(to right, ${colors.map((color, index) => `${color} ${index * width}% ${(index + 1) * width}%`).join(", ")})`;
}
