// The waiting queue of one policy: who waits, in order, and the gate that keeps the head out.

import {ChipRow} from "./replay-chip.js";
import {clip, h, setAttr, setText} from "./replay-dom.js";
import {rowAt} from "./replay-model.js";
import {headOf} from "./replay-option-words.js";
import {gateWords} from "./replay-words.js";

const SHOWN = 12; // chips before "+ 5"

export class Queue {
  constructor() {
    const row = h("span", {class: "chips"});
    this.chips = new ChipRow(row);
    this.more = h("span", {class: "more"});
    this.why = h("span", {class: "why"});
    this.node = h("div", {class: "queue"}, h("span", {class: "name", text: "Waiting"}), row, this.more, this.why);
  }

  update(policy, t) {
    const row = rowAt(policy, t);
    const waiting = row ? row.waiting : [];
    this.chips.update(waiting.slice(0, SHOWN).map((id) => policy.byId.get(id)).filter(Boolean));
    setText(this.more, waiting.length > SHOWN ? `+ ${waiting.length - SHOWN}` : "");
    setText(this.why, waiting.length ? `${clip(headOf(row), 12)} waits: ${gateWords(policy, row)}` : "nobody");
    setAttr(this.why, "title", waiting.length ? this.why.textContent : null);
    this.node.classList.toggle("empty", !waiting.length);
  }
}
