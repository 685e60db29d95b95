// A plain text field with line numbers: before the editor proper is there, where it does not load, and for who prefers it.

import {h} from "./replay-dom.js";

const LINE = 21; // px; code.css sets the same line height
const INDENT = 4;

export class PlainEditor {
  /** @param {{label: string, describedBy: string, input: (text: string) => void}} options */
  constructor({label, describedBy, input}) {
    this.numbers = h("div", {class: "numbers", "aria-hidden": "true"});
    this.bars = h("div", {class: "bars", "aria-hidden": "true"});
    this.area = h("textarea", {
      "aria-label": label, "aria-describedby": describedBy, spellcheck: "false", autocapitalize: "off", autocomplete: "off", autocorrect: "off", wrap: "off",
      on: {
        input: () => { this.#number(); input(this.area.value); },
        keydown: (event) => this.#key(event),
        scroll: () => this.#scroll(),
      },
    });
    this.node = h("div", {class: "plain"}, h("div", {class: "gutter"}, this.numbers), this.bars, this.area);
    this.marks = [];
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.#number();
  }

  /** Put other text in, so that the browser's own undo can take it back. */
  replace(value) {
    this.area.focus({preventScroll: true});
    this.area.select();
    if (!document.execCommand("insertText", false, value)) this.area.value = value;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = 0;
    this.#number();
  }

  mark(marks) {
    this.marks = marks;
    this.bars.replaceChildren(...marks.map(({line, kind}) => {
      const bar = h("div", {class: `bar ${kind}`});
      bar.style.top = `${(line - 1) * LINE}px`;
      return bar;
    }));
    this.#scroll();
  }

  goTo(line) {
    const {value} = this.area;
    let start = 0;
    for (let n = 1; n < line; n++) {
      const next = value.indexOf("\n", start);
      if (next < 0) break;
      start = next + 1;
    }
    const end = value.indexOf("\n", start);
    this.area.focus();
    this.area.setSelectionRange(start, end < 0 ? value.length : end);
    this.area.scrollTop = Math.max(0, (line - 4) * LINE);
  }

  focus() {
    this.area.focus();
  }

  get focused() {
    return document.activeElement === this.area;
  }

  #number() {
    const lines = this.area.value.split("\n").length;
    if (lines !== this.lines) {
      this.lines = lines;
      this.numbers.textContent = Array.from({length: lines}, (_, index) => index + 1).join("\n");
    }
    // As high as its text within bounds, like the editor proper; the last line is for a scroll bar.
    this.node.style.setProperty("--lines", Math.min(30, Math.max(12, lines + 1)));
    this.#scroll();
  }

  #scroll() {
    const shift = `translateY(${-this.area.scrollTop}px)`;
    this.numbers.style.transform = shift;
    this.bars.style.transform = shift;
  }

  /** Tab and Shift+Tab indent the selected lines; Enter keeps the indentation, one step deeper after a colon. */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Tab") this.#indent(event.shiftKey);
    else if (event.key === "Enter" && !event.shiftKey) this.#newLine();
    else return;
    event.preventDefault();
  }

  #insert(text) {
    if (!document.execCommand("insertText", false, text)) this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
  }

  #newLine() {
    const {value, selectionStart} = this.area;
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const indent = /^[ \t]*/.exec(line)[0];
    this.#insert(`\n${indent}${/:\s*(#.*)?$/.test(line) ? " ".repeat(INDENT) : ""}`);
  }

  #indent(back) {
    const {area} = this;
    const {value, selectionStart, selectionEnd} = area;
    if (selectionStart === selectionEnd && !back) {
      const column = selectionStart - value.lastIndexOf("\n", selectionStart - 1) - 1;
      this.#insert(" ".repeat(INDENT - (column % INDENT)));
      return;
    }
    const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const last = value.indexOf("\n", Math.max(selectionStart, selectionEnd - 1));
    const to = last < 0 ? value.length : last;
    const lines = value.slice(from, to).split("\n");
    const shifted = lines.map((line) => (back ? line.replace(/^( {1,4}|\t)/, "") : line && " ".repeat(INDENT) + line)).join("\n");
    if (shifted === lines.join("\n")) return;
    area.setSelectionRange(from, to);
    this.#insert(shifted);
    area.setSelectionRange(from, from + shifted.length);
  }
}
