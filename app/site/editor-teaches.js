// What the trace teaches: one sentence, and the figures of both policies side by side. Python has worked out all of it.

import {h, setText} from "./replay-dom.js";

const GATES = {seats: "a seat", tokens: "the token budget", pages: "pages", batch: "the batch to end"};

export class Teaches {
  /** @param {() => void} lift what is to be done when somebody does not want to guess */
  constructor(lift) {
    this.sentence = h("p", {class: "sentence"});
    this.body = h("tbody");
    this.foot = h("p", {class: "quiet", text: "Waits and latencies are in iterations. The queue’s waits count the iterations in which its head was held back."});
    this.table = h("table", {}, h("thead", {}, h("tr", {}, h("td"), h("th", {scope: "col", text: "static"}), h("th", {scope: "col", text: "continuous"}))), this.body);
    this.hidden = h("p", {class: "quiet"}, "This would answer the guess below. Guess first, or ",
      h("button", {type: "button", class: "as-link", text: "show the results", on: {click: lift}}), ".");
    this.node = h("aside", {class: "ed-teaches", "aria-labelledby": "editor-teaches-title"},
      h("h3", {id: "editor-teaches-title", text: "What this trace teaches", tabindex: -1}), this.hidden, this.sentence, this.table, this.foot);
  }

  /** @param {object|undefined} teaches as lab.teaches says  @param {boolean} veiled somebody has still to guess */
  show(teaches, veiled) {
    this.node.hidden = !teaches;
    if (!teaches) return;
    const pressed = this.hidden.contains(document.activeElement);
    this.hidden.hidden = !veiled;
    for (const part of [this.sentence, this.table, this.foot]) part.hidden = veiled;
    if (pressed && !veiled) this.node.firstChild.focus({preventScroll: true});
    setText(this.sentence, teaches.sentence);
    const rows = teaches.figures.filter(({name, static: one, continuous: two}) => name !== "rejected" || one || two)
      .map(({label, unit, static: one, continuous: two}) => [label, number(one, unit), number(two, unit)]);
    for (const [gate, words] of Object.entries(GATES)) {
      const [one, two] = [teaches.gates.static?.[gate] ?? 0, teaches.gates.continuous?.[gate] ?? 0];
      if (one || two) rows.push([`Queue waits for ${words}`, String(one), String(two)]);
    }
    while (this.body.children.length > rows.length) this.body.lastChild.remove();
    rows.forEach((cells, index) => {
      const row = this.body.children[index] ?? this.body.appendChild(h("tr", {}, h("th", {scope: "row"}), h("td"), h("td")));
      cells.forEach((text, column) => setText(row.children[column], text));
    });
  }
}

function number(value, unit) {
  if (unit === "share") return `${Math.round(value * 100)} %`;
  return String(Math.round(value * 10) / 10);
}
