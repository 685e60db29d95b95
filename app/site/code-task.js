// What is asked for: statement, signature, inputs, returns, rule, example; hints one by one; the reference solution.

import {h, setText} from "./replay-dom.js";

const TRIES = 3; // checks without success after which the reference solution is offered

export class Task {
  /** @param {object} exercise of exercises.json  @param {() => boolean} solution whether the reference may be opened now */
  constructor(exercise, solution) {
    this.exercise = exercise;
    this.mayOpen = solution;
    this.tries = 0;
    this.node = h("div", {class: "task-text"},
      ...exercise.statement.map((text) => h("p", {text})),
      h("dl", {class: "task-facts"},
        ...fact("Signature", h("code", {text: exercise.signature})),
        ...fact("Inputs", fields(exercise.inputs)),
        ...fact("Returns", fields(exercise.returns)),
        ...fact("Rule", h("span", {text: exercise.rule})),
        ...fact("Example", example(exercise))),
      this.#hints(), this.#reference());
  }

  #hints() {
    const {hints} = this.exercise;
    this.opened = 0;
    this.hints = h("ol", {class: "hints"});
    this.more = h("button", {type: "button", class: "ghost", on: {click: () => this.#openHint()}});
    this.#nameHint();
    return h("div", {class: "hint-box", hidden: !hints.length}, this.hints, this.more);
  }

  #openHint() {
    const item = h("li", {tabindex: -1, text: this.exercise.hints[this.opened++]});
    this.hints.append(item);
    this.#nameHint();
    item.focus({preventScroll: true}); // so that it is read, and the button may go
  }

  #nameHint() {
    const all = this.exercise.hints.length;
    const left = all - this.opened;
    this.more.hidden = !left;
    setText(this.more, this.opened ? `Next hint (${this.opened + 1} of ${all})` : `Show a hint (${all} to open one by one)`);
  }

  #reference() {
    const {reference, approach} = this.exercise;
    if (reference === null) return null;
    this.offer = h("p", {class: "offer", role: "status"});
    this.solution = h("details", {class: "reference"}, h("summary", {text: "Reference solution"}),
      h("p", {}, h("b", {text: "Approach. "}), approach), h("pre", {tabindex: 0, "aria-label": "Reference solution"}, h("code", {text: reference})));
    this.later = h("p", {class: "quiet", text: "The reference solution can be opened here once your code has passed all checks."});
    const node = h("div", {}, this.offer, this.later, this.solution);
    this.offerSolution();
    return node;
  }

  /** A result has come: the reference may have become open. It never closes again while somebody reads it. */
  offerSolution() {
    if (!this.solution) return;
    const open = this.solution.open || this.mayOpen();
    this.solution.hidden = !open;
    this.later.hidden = open;
  }

  /** One more check is over. */
  tried(passed) {
    this.tries = passed ? 0 : this.tries + 1;
    if (!this.offer) return;
    setText(this.offer, this.tries >= TRIES && !this.solution.open && !this.solution.hidden
      ? "Stuck? One way to do it is in the reference solution below. Reading it costs nothing; then try it in your own words." : "");
  }
}

function fact(term, ...content) {
  return [h("dt", {text: term}), h("dd", {}, ...content)];
}

function fields(list) {
  return h("ul", {}, ...list.map(({name, type, text: words}) => h("li", {}, h("code", {text: name}), " ", h("span", {class: "quiet", text: type}), ": ", words)));
}

function example({example: {call, returns, text: words}}) {
  return h("div", {}, h("code", {class: "block", text: call}), h("code", {class: "block", text: `→ ${returns}`}), h("p", {text: words}));
}
