// What learner code printed: a bounded box of text, with what was cut off counted.

import {h, setText} from "./replay-dom.js";
import {sizeWords} from "./code-words.js";

const SHOWN = 64 * 1024; // characters drawn at most, whatever arrives

/** What a verdict says was printed, as {text, bytes}; null where nothing was. */
export function printedBox({text, bytes}) {
  return bytes ? outputBox("Printed", text, Math.max(0, bytes - new TextEncoder().encode(text).length)) : null;
}

/**
 * @param {string} label  @param {string} text what is kept of it  @param {number} cut bytes printed beyond that
 * @returns {HTMLElement}
 */
function outputBox(label, text, cut) {
  const box = new OutputBox(label);
  box.show(text, cut);
  return box.node;
}

export class OutputBox {
  constructor(label) {
    this.text = h("pre", {tabindex: 0, role: "region", "aria-label": label});
    this.cut = h("p", {class: "quiet"});
    this.node = h("div", {class: "output"}, h("h4", {text: label}), this.text, this.cut);
    this.show("", 0);
  }

  show(text, cut = 0) {
    const kept = text.slice(0, SHOWN);
    const more = cut + (text.length - kept.length);
    setText(this.text, kept);
    this.text.hidden = kept === "";
    setText(this.cut, more > 0 ? `${sizeWords(more)} more ${more === 1 ? "was" : "were"} printed and cut off here.` : "");
    this.cut.hidden = more <= 0;
  }
}
