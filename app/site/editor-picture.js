// The trace as a picture: a bar for each prompt, and one for each output from its arrival on. Ends are dragged, or moved by keys.

import {fit, h, s, setAttr, setText} from "./replay-dom.js";
import {numberOf} from "./editor-sheet.js";
import {ticks} from "./editor-ticks.js";

const HEAD = 30; // px, as the table's head
const HIT = 14; // px that a handle can be caught in
const EDGE = 10;
const GAP = 30; // between prompts and time
/** What one iteration is in a trace's unit: the conversion that `lab` states. */
const ITERATION = {iteration: 1, ms: 20, s: 0.02};
const STEP = {iteration: 1, ms: 1, s: 0.01};
const HANDLES = [
  {what: "prompt_tokens", words: "prompt tokens", least: 1},
  {what: "arrival", words: "arrival", least: 0},
  {what: "output_tokens", words: "output tokens", least: 1},
];

export class Picture {
  #rows = new Map(); // key → its elements
  #drag = null;
  #at = null; // key of the row whose handles can be reached by Tab

  /** @param {object} on change(key, field, text, gesture), done() after a drag, row(key|null) */
  constructor(on) {
    this.on = on;
    this.axis = s("svg", {class: "ed-axis", "aria-hidden": "true", height: HEAD});
    this.svg = s("svg", {class: "ed-bars", role: "group", "aria-label": "Picture of the requests", "aria-describedby": "editor-picture-keys", on: {
      pointerdown: (event) => this.#grab(event), pointermove: (event) => this.#pull(event),
      pointerup: () => this.#drop(), pointercancel: () => this.#drop(),
      keydown: (event) => this.#key(event),
    }});
    this.lines = s("g", {class: "lines"});
    this.svg.append(this.lines);
    // A drawing that listens to the focus would be a stop of Tab itself; its box listens.
    this.node = h("div", {class: "ed-picture", on: {focusin: (event) => this.#entered(event)}}, this.axis, this.svg);
    new ResizeObserver(() => this.#resize()).observe(this.node);
  }

  show(sheet, colors) {
    this.sheet = sheet;
    this.colors = colors;
    this.unit = sheet.head.time_unit ?? "iteration";
    if (!this.unit || !Object.hasOwn(ITERATION, this.unit)) this.unit = "iteration";
    this.#draw();
  }

  #resize() {
    const {row, width} = this.#measure();
    if (width && (width !== this.width || row !== this.row)) this.#draw();
  }

  #measure() {
    return {width: Math.floor(this.node.clientWidth), row: parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || 28};
  }

  #draw() {
    Object.assign(this, this.#measure());
    if (!this.sheet || !this.width) return;
    const values = this.sheet.rows.map(({cells}) => ({
      arrival: numberOf(cells.arrival), prompt_tokens: numberOf(cells.prompt_tokens), output_tokens: numberOf(cells.output_tokens),
    }));
    // While something is dragged the scale stands still under the pointer.
    if (!this.#drag) this.#scale(values);
    const height = Math.max(this.sheet.rows.length, 1) * this.row;
    for (const [node, tall] of [[this.axis, HEAD], [this.svg, height]]) {
      setAttr(node, "width", this.width);
      setAttr(node, "height", tall);
    }
    this.#drawAxis(height);
    const keys = new Set(this.sheet.rows.map(({key}) => key));
    for (const [key, made] of this.#rows) {
      if (keys.has(key)) continue;
      made.group.remove();
      this.#rows.delete(key);
    }
    if (!keys.has(this.#at)) this.#at = this.sheet.rows[0]?.key ?? null;
    this.sheet.rows.forEach((row, index) => this.#drawRow(row, index, values[index]));
  }

  #scale(values) {
    const most = (numbers) => Math.max(0, ...numbers.filter((n) => n !== null));
    const iteration = ITERATION[this.unit];
    const split = EDGE + Math.round(Math.min(Math.max(this.width * 0.26, 70), 220));
    const start = split + GAP;
    const prompts = Math.max(most(values.map((value) => value.prompt_tokens)) * 1.08, 16);
    const time = Math.max(most(values.map(({arrival, output_tokens}) => (arrival ?? 0) + (output_tokens ?? 1) * iteration)) * 1.08, 20 * iteration);
    this.x = {split, start, end: this.width - EDGE, prompts, time};
    this.x.perToken = (split - EDGE) / prompts;
    this.x.perTime = (this.x.end - start) / time;
  }

  promptX = (tokens) => EDGE + tokens * this.x.perToken;
  timeX = (time) => this.x.start + time * this.x.perTime;

  #drawAxis(height) {
    const {split, start, end, prompts, time} = this.x;
    const marks = [];
    const lines = [];
    const mark = (x, text, anchor) => {
      marks.push(s("text", {x, y: 25, "text-anchor": anchor, text}));
      lines.push(s("line", {x1: Math.round(x) + 0.5, x2: Math.round(x) + 0.5, y1: 0, y2: height}));
    };
    const unit = this.unit === "iteration" ? "" : ` ${this.unit}`;
    for (const tick of ticks(prompts, (split - EDGE) / 50)) mark(this.promptX(tick), String(tick), tick ? "middle" : "start");
    for (const tick of ticks(time, (end - start) / 64)) mark(this.timeX(tick), `${tick}${tick ? unit : ""}`, tick ? "middle" : "start");
    marks.push(s("text", {class: "title", x: EDGE, y: 11, text: "prompt tokens"}));
    marks.push(s("text", {class: "title", x: start, y: 11, text: this.width < 420 ? "arrival, then output" : "arrival, then an output token each iteration"}));
    this.axis.replaceChildren(...marks);
    this.lines.replaceChildren(...lines);
  }

  #make(key) {
    const bar = (what) => s("rect", {class: `bar ${what}`, rx: 3, dataset: {what: what === "prompt" ? "prompt_tokens" : "arrival"}});
    const made = {
      group: s("g", {class: "ed-row", dataset: {key}}), back: s("rect", {class: "back", x: 0}), prompt: bar("prompt"), output: bar("output"),
      under: s("line", {class: "under", x1: 0}), name: s("text", {class: "name"}), handles: new Map(),
    };
    made.group.append(made.back, made.under, made.prompt, made.output, made.name);
    for (const {what, words, least} of HANDLES) {
      const hit = s("rect", {class: "hit", width: HIT});
      const grip = s("rect", {class: "grip", width: 3, rx: 1.5});
      const value = s("text", {class: "value"});
      const node = s("g", {class: "handle", role: "slider", tabindex: -1, "aria-valuemin": least, dataset: {what, words}}, hit, grip, value);
      made.handles.set(what, {node, hit, grip, value});
      made.group.append(node);
    }
    this.#rows.set(key, made);
    return made;
  }

  #drawRow({key, cells}, index, value) {
    const made = this.#rows.get(key) ?? this.#make(key);
    if (this.svg.children[index + 1] !== made.group && made.group !== this.#drag?.group) this.#place(made.group, this.svg.children[index + 1] ?? null);
    const {row} = this;
    const drawn = [cells, index, this.colors[index], this.x, row, key === this.#at];
    if (made.drawn?.every((part, at) => part === drawn[at])) return;
    made.drawn = drawn;
    const thick = Math.min(row - 10, 16);
    const top = (row - thick) / 2;
    setAttr(made.group, "transform", `translate(0 ${index * row})`);
    made.group.style.setProperty("--c", this.colors[index] ?? "var(--soft)");
    made.group.classList.toggle("current", key === this.#at);
    setAttr(made.back, "width", this.width);
    setAttr(made.back, "height", row);
    for (const [name, value] of [["x2", this.width], ["y1", row - 0.5], ["y2", row - 0.5]]) setAttr(made.under, name, value);
    const place = (node, from, to) => {
      setAttr(node, "visibility", from === null ? "hidden" : null);
      if (from === null) return;
      setAttr(node, "x", from.toFixed(1));
      setAttr(node, "width", Math.max(to - from, 1.5).toFixed(1));
      setAttr(node, "y", top);
      setAttr(node, "height", thick);
    };
    const start = value.arrival === null ? null : this.timeX(value.arrival);
    const end = start === null || value.output_tokens === null ? null : this.timeX(value.arrival + value.output_tokens * ITERATION[this.unit]);
    const prompt = value.prompt_tokens === null ? null : this.promptX(value.prompt_tokens);
    place(made.prompt, prompt === null ? null : EDGE, prompt);
    place(made.output, end === null ? null : start, end);
    const room = end === null ? 0 : Math.floor((end - start - 8) / 7);
    setText(made.name, end === null ? "" : fit({id: cells.id ?? "", short: cells.id ?? ""}, room));
    if (end !== null) {
      setAttr(made.name, "x", (start + 6).toFixed(1));
      setAttr(made.name, "y", row / 2 + 4);
    }
    for (const [what, x, side] of [["prompt_tokens", prompt, 1], ["arrival", start, -1], ["output_tokens", end, 1]]) {
      this.#drawHandle(made.handles.get(what), {x, side, row, thick, text: cells[what] ?? "", id: cells.id || `row ${index + 1}`, here: key === this.#at});
    }
  }

  #drawHandle({node, hit, grip, value}, {x, side, row, thick, text, id, here}) {
    setAttr(node, "display", x === null ? "none" : null);
    node.setAttribute("tabindex", here ? "0" : "-1");
    if (x === null) return;
    setAttr(node, "aria-label", `${node.dataset.words} of ${id}`);
    setAttr(node, "aria-valuenow", numberOf(text));
    setAttr(node, "aria-valuetext", `${text}${node.dataset.what === "arrival" && this.unit !== "iteration" ? ` ${this.unit}` : ""}`);
    setAttr(hit, "x", (side > 0 ? x - 4 : x - HIT + 4).toFixed(1));
    setAttr(hit, "y", 1);
    setAttr(hit, "height", row - 2);
    setAttr(grip, "x", (side > 0 ? x + 2 : x - 5).toFixed(1));
    setAttr(grip, "y", (row - thick) / 2 + 2);
    setAttr(grip, "height", thick - 4);
    setText(value, text);
    // Beside the bar, outside of it; at the edge of the picture there is room on the other side only.
    const outside = side > 0 ? x + 10 + text.length * 7 < this.width : x - 12 - text.length * 7 > this.x.split;
    setAttr(value, "x", (side > 0 === outside ? x + 9 : x - 9).toFixed(1));
    setAttr(value, "text-anchor", side > 0 === outside ? "start" : "end");
    setAttr(value, "y", row / 2 + 4);
    value.classList.toggle("inside", !outside);
  }

  #place(group, before) {
    const focused = group.contains(document.activeElement) ? document.activeElement : null;
    this.svg.insertBefore(group, before);
    focused?.focus({preventScroll: true});
  }

  // ---- moving ------------------------------------------------------------------------------------------------

  /** Light a row, as the table's current one. */
  current(key) {
    if (key === this.#at) return;
    const before = this.#at;
    this.#at = key;
    for (const one of [before, key]) {
      const made = this.#rows.get(one);
      if (!made) continue;
      made.group.classList.toggle("current", one === key);
      for (const {node} of made.handles.values()) node.setAttribute("tabindex", one === key ? "0" : "-1");
    }
  }

  #cells(key) {
    return this.sheet.rows.find((row) => row.key === key)?.cells ?? {};
  }

  #set(key, what, value, gesture) {
    const step = what === "arrival" ? STEP[this.unit] : 1;
    const {least} = HANDLES.find((handle) => handle.what === what);
    const rounded = Math.max(Math.round(value / step) * step, least);
    const text = String(step < 1 ? Number(rounded.toFixed(2)) : rounded);
    if (text !== this.#cells(key)[what]) this.on.change(key, what, text, gesture);
  }

  #grab(event) {
    const group = event.target.closest(".ed-row");
    const what = event.target.closest("[data-what]")?.dataset.what;
    if (!group || !what || event.button !== 0) return;
    const key = Number(group.dataset.key);
    event.preventDefault();
    this.svg.setPointerCapture(event.pointerId);
    const handle = this.#rows.get(key).handles.get(what).node;
    this.current(key);
    handle.focus({preventScroll: true});
    this.#drag = {key, what, group, x: event.clientX, from: numberOf(this.#cells(key)[what]), gesture: `drag ${key} ${what} ${event.timeStamp}`};
    group.classList.add("dragged");
    this.node.classList.add("dragging");
  }

  #pull(event) {
    if (!this.#drag) return;
    const {key, what, x, from, gesture} = this.#drag;
    const {perToken, perTime} = this.x;
    const per = what === "prompt_tokens" ? perToken : what === "arrival" ? perTime : perTime * ITERATION[this.unit];
    this.#set(key, what, from + (event.clientX - x) / per, gesture);
  }

  #drop() {
    if (!this.#drag) return;
    this.#drag.group.classList.remove("dragged");
    this.node.classList.remove("dragging");
    this.#drag = null;
    this.on.done();
    this.#draw();
  }

  #entered({target}) {
    const group = target.closest(".ed-row");
    if (!group) return;
    const key = Number(group.dataset.key);
    this.current(key);
    this.on.row(key);
  }

  #key(event) {
    const handle = event.target.closest(".handle");
    if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = Number(handle.closest(".ed-row").dataset.key);
    const {what} = handle.dataset;
    const step = what === "arrival" ? STEP[this.unit] : 1;
    const by = (n) => () => this.#set(key, what, (numberOf(this.#cells(key)[what]) ?? 0) + n * step, `keys ${key} ${what}`);
    const act = {
      ArrowRight: by(event.shiftKey ? 10 : 1), ArrowLeft: by(event.shiftKey ? -10 : -1), PageUp: by(10), PageDown: by(-10),
      Home: () => this.#set(key, what, 0, `keys ${key} ${what}`),
      ArrowUp: () => this.#go(key, what, -1), ArrowDown: () => this.#go(key, what, 1),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #go(key, what, by) {
    const {rows} = this.sheet;
    const next = rows[rows.findIndex((row) => row.key === key) + by];
    if (!next) return;
    this.current(next.key);
    const {node} = this.#rows.get(next.key).handles.get(what);
    node.focus({preventScroll: true});
    node.closest(".ed-row").scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
  }
}
