// The results of a check run, one by one as they arrive, in places that are there from the start so that nothing moves.

import {count, h, setAttr, setText} from "./replay-dom.js";
import {printedBox} from "./code-output.js";
import {Verdict} from "./code-verdict.js";

export class CheckResults {
  /** @param {object} exercise of exercises.json  @param {number} deadline in seconds  @param {(line: number) => void} goTo */
  constructor(exercise, deadline, goTo) {
    this.exercise = exercise;
    this.verdicts = exercise.checks.map((check) => new Verdict(check, goTo));
    this.said = h("p", {class: "said", role: "status"});
    this.stale = h("p", {class: "quiet", text: "You have edited the code since this check."});
    this.problem = h("div", {class: "problem", hidden: true});
    this.list = h("ol", {class: "verdicts"}, ...this.verdicts.map(({node}) => node));
    const {hidden} = exercise;
    this.hidden = h("p", {class: "quiet", text:
      `Each check may take ${deadline} s. ${hidden ? `${count(hidden, "more check")} for ${count(exercise.hidden_points, "point")} ${hidden === 1 ? "is" : "are"} hidden: not in this page, and counted where your work is graded.` : ""}`});
    this.goTo = goTo;
    this.node = h("section", {class: "check-results", "aria-label": "Checks"},
      h("header", {}, h("h4", {text: "Checks"}), this.said), this.problem, this.stale, this.list, this.hidden);
    this.clear();
  }

  clear() {
    for (const verdict of this.verdicts) verdict.wait();
    this.#problem(null);
    this.outdate(false);
    setText(this.said, `${count(this.verdicts.length, "check")}, ${count(this.exercise.points, "point")}. None has run yet.`);
  }

  start() {
    for (const verdict of this.verdicts) verdict.wait();
    this.#problem(null);
    this.outdate(false);
    this.opened = false;
    this.arrived = 0;
    this.passed = 0;
    this.verdicts[0]?.wait("running");
    setText(this.said, "Checking…");
  }

  /** One verdict has arrived. */
  add(verdict, index) {
    const view = this.verdicts[index];
    if (!view) return;
    const failed = verdict.outcome !== "passed";
    view.show(verdict, failed && !this.opened && Boolean(verdict.call || verdict.cause));
    this.opened ||= failed;
    this.arrived = Math.max(this.arrived, index + 1);
    this.passed += failed ? 0 : 1;
    this.verdicts[index + 1]?.wait("running");
  }

  /** The whole result; it also has what never arrived one by one. */
  finish(result) {
    for (const [index, verdict] of result.checks.entries()) if (index >= this.arrived) this.add(verdict, index);
    this.#problem(result.problem);
    const passed = result.checks.filter(({outcome}) => outcome === "passed").length;
    const all = result.checks.length;
    setText(this.said, result.outcome === "passed"
      ? `All ${count(all, "check")} passed: ${result.points} of ${count(result.max_points, "point")}.`
      : `${passed} of ${count(all, "check")} passed: ${result.points} of ${count(result.max_points, "point")}.`);
    setAttr(this.node, "data-outcome", result.outcome);
  }

  /** The run ended early. @param {string} words one sentence */
  end(words) {
    for (const [index, verdict] of this.verdicts.entries()) if (index >= this.arrived) verdict.wait("left");
    setText(this.said, words);
    setAttr(this.node, "data-outcome", null);
  }

  outdate(on) {
    this.stale.hidden = !on;
    this.node.classList.toggle("outdated", on);
  }

  /** Why no check could run at all. */
  #problem(problem) {
    this.problem.hidden = !problem;
    if (!problem) return;
    this.problem.replaceChildren(h("p", {class: "message"}, problem.message,
      Number.isInteger(problem.line)
        ? h("button", {type: "button", class: "line-link", text: `Go to line ${problem.line}`, on: {click: () => this.goTo(problem.line)}}) : null),
    h("p", {class: "cause", text: problem.cause}), printedBox(problem.output) ?? "");
  }
}
