// One check: its name, what came of it in a word and a colour, and behind it the call, what came back and why that is.

import {count, h, setAttr, setText} from "./replay-dom.js";
import {printedBox} from "./code-output.js";
import {OUTCOMES, outcomeOf} from "./code-words.js";

export class Verdict {
  /** @param {{name: string, points: number, hint: string}} check  @param {(line: number) => void} goTo */
  constructor(check, goTo) {
    this.check = check;
    this.goTo = goTo;
    this.sign = h("span", {class: "sign", "aria-hidden": "true"});
    this.word = h("span", {class: "word"});
    this.points = h("span", {class: "points-got"});
    this.body = h("div", {class: "body"});
    this.summary = h("summary", {}, this.sign, this.word, h("span", {class: "check-name", text: check.name}), this.points);
    this.details = h("details", {}, this.summary, this.body);
    this.node = h("li", {class: "verdict"}, this.details);
    // What there is nothing to say about does not open.
    this.summary.addEventListener("click", (event) => { if (!this.body.firstChild) event.preventDefault(); });
    this.wait();
  }

  wait(outcome = "waiting") {
    this.#head(outcome, 0, this.check.points);
    this.body.replaceChildren();
    this.details.open = false;
  }

  /** @param {object} verdict as lab.grading.judge makes it  @param {boolean} open */
  show(verdict, open) {
    const outcome = outcomeOf(verdict.outcome);
    this.#head(outcome, verdict.points, verdict.max_points);
    this.body.replaceChildren(...this.#parts(verdict, outcome));
    this.details.open = open && this.body.firstChild !== null;
  }

  #head(outcome, points, most) {
    const {word, sign} = OUTCOMES[outcome];
    setAttr(this.node, "data-outcome", outcome);
    setText(this.sign, sign);
    setText(this.word, word);
    setText(this.points, outcome === "waiting" || outcome === "running" ? count(most, "point") : `${points} of ${count(most, "point")}`);
  }

  #parts(verdict, outcome) {
    const parts = [];
    const passed = outcome === "passed";
    if (verdict.message) parts.push(h("p", {class: "message"}, verdict.message, this.#lineButton(verdict.line)));
    if (verdict.cause) parts.push(h("p", {class: "cause", text: verdict.cause}));
    const facts = [["Call", verdict.call], ["Expected", verdict.expected], [passed ? "Returned" : "Came back", verdict.returned]]
      .filter(([, text]) => text);
    if (facts.length) {
      parts.push(h("dl", {class: "values"}, ...facts.flatMap(([term, text]) => [h("dt", {text: term}), h("dd", {}, h("code", {text}))])));
    }
    if (verdict.mutated.length) {
      parts.push(h("p", {text: `The call changed what it was given: ${verdict.mutated.join(", ")}.`}));
    }
    if (verdict.frames.length > 1) parts.push(this.#frames(verdict.frames));
    if (!passed && verdict.hint) parts.push(h("p", {class: "hint"}, h("b", {text: "Hint. "}), verdict.hint));
    if (verdict.output.bytes) parts.push(printedBox(verdict.output));
    return parts;
  }

  #lineButton(line) {
    if (!Number.isInteger(line)) return null;
    return h("button", {type: "button", class: "line-link", text: `Go to line ${line}`, on: {click: () => this.goTo(line)}});
  }

  /** The learner's own lines that were being run, the outermost first. */
  #frames(frames) {
    return h("ol", {class: "frames", "aria-label": "Lines that were being run"}, ...frames.map((frame) => h("li", {},
      h("button", {type: "button", class: "line-link", text: `line ${frame.line}`, on: {click: () => this.goTo(frame.line)}}),
      h("code", {text: frame.code}), frame.times > 1 ? h("span", {class: "quiet", text: `${frame.times} times`}) : null)));
  }
}
