// Searches near the trace for one with a property. Python looks for a moment at a time, so that Stop is simply not asking again.

import {count, h, setAttr, setText} from "./replay-dom.js";
import {Fields} from "./editor-fields.js";

const FIGURES = [
  ["preemptions", "preemptions"], ["iterations", "iterations"], ["wait_mean", "mean wait"], ["wait_p95", "P95 wait"], ["wait_max", "longest wait"],
  ["latency_mean", "mean latency"], ["latency_p95", "P95 latency"], ["utilization", "utilization, %"], ["peak_pages", "peak pages"],
  ["gate_seats", "iterations waiting for a seat"], ["gate_pages", "iterations waiting for pages"],
  ["gate_tokens", "iterations waiting for the token budget"], ["gate_batch", "iterations waiting for the batch"],
];
const WHO = [["continuous", "continuous has"], ["static", "static has"], ["static - continuous", "static exceeds continuous by"], ["continuous - static", "continuous exceeds static by"]];
/** What an instructor may start from: words, and what the fields then say. */
const EXAMPLES = [
  ["continuous preempts", "continuous", "at_least", "1", "preemptions"],
  ["static needs 30 iterations more", "static - continuous", "at_least", "30", "iterations"],
  ["no difference in length", "static - continuous", "at_most", "0", "iterations"],
  ["continuous waits for pages", "continuous", "at_least", "5", "gate_pages"],
  ["nobody waits", "continuous", "at_most", "0", "wait_max"],
];

export class Search {
  #running = 0; // counts searches; one that is no longer the newest ends

  /** @param {object} calls  @param {() => {trace: string, limits: object}} from  @param {(trace: object, words: string) => void} found */
  constructor(calls, from, found) {
    Object.assign(this, {calls, from, found});
    this.fields = new Fields("search");
    const {fields} = this;
    this.bar = h("progress", {max: 1, value: 0, "aria-label": "Search", hidden: true});
    this.says = h("p", {class: "quiet", role: "status"});
    this.go = h("button", {type: "submit", class: "ghost", text: "Search"});
    this.halt = h("button", {type: "button", class: "ghost", text: "Stop", hidden: true, on: {click: () => this.stop()}});
    this.node = h("details", {class: "ed-part"}, h("summary", {text: "Find a trace near this one"}), h("form", {on: {submit: (event) => {
      event.preventDefault();
      this.#search();
    }}},
    h("div", {class: "line"}, h("span", {class: "quiet", text: "Such as"}), ...EXAMPLES.map(([words, ...says]) => h("button", {type: "button", class: "as-link", text: words, on: {click: () => this.#say(says)}}))),
    h("div", {class: "line"}, fields.choice("goal.of", "Such that", WHO), fields.choice("goal.bound", "", [["at_least", "at least"], ["at_most", "at most"]]),
      fields.number("goal.number", "", "1", 4), fields.choice("goal.figure", "", FIGURES)),
    h("div", {class: "line"}, fields.number("seed", "Seed", "1", 6), this.go, this.halt, this.bar, this.says, fields.trouble)));
    for (const [name, label] of [["goal.bound", "at least or at most"], ["goal.number", "how many"], ["goal.figure", "of what"]]) setAttr(fields.all.get(name), "aria-label", label);
  }

  #say([of, bound, number, figure]) {
    for (const [name, value] of Object.entries({of, bound, number, figure})) this.fields.all.get(`goal.${name}`).value = value;
    this.go.focus();
  }

  get goal() {
    const {fields} = this;
    const figure = fields.value("goal.figure");
    const number = fields.value("goal.number");
    return {figure, of: fields.value("goal.of"), [fields.value("goal.bound")]: figure === "utilization" && typeof number === "number" ? number / 100 : number ?? null};
  }

  stop() {
    if (!this.#running) return;
    this.#running = 0;
    this.#still();
    setText(this.says, `Stopped after ${this.tried} tries. The trace is as it was.`);
  }

  #still() {
    const away = document.activeElement === this.halt;
    this.bar.hidden = true;
    this.halt.hidden = true;
    this.go.hidden = false;
    if (away) this.go.focus();
  }

  async #search() {
    const {fields, goal} = this;
    if (fields.value("goal.number") === undefined) {
      fields.say("goal.number", "write a number");
      return;
    }
    const mine = this.#running = Date.now();
    fields.say();
    const ask = {...this.from(), goal, seed: fields.value("seed") ?? null};
    this.tried = 0;
    this.bar.hidden = false;
    this.halt.hidden = false;
    this.go.hidden = true;
    this.halt.focus();
    let step = {done: false, tried: 0};
    while (!step.done) {
      try {
        step = (await this.calls.call("search", {...ask, tried: step.tried})).data;
      } catch (error) {
        step = {...step, done: true, field: null, why: error.message};
      }
      if (mine !== this.#running) return;
      this.tried = step.tried;
      if (step.most) this.bar.value = step.tried / step.most;
      if (!step.done) setText(this.says, `${step.tried} of ${step.most} tries; ${step.found ? "found one, looking for a nearer one" : `nearest so far: ${number(step.best, goal)}`}`);
    }
    this.#running = 0;
    this.#still();
    if (step.why) {
      setText(this.says, "");
      fields.say({"goal.at_least": "goal.number", "goal.at_most": "goal.number"}[step.field] ?? step.field, step.why.replace(`${step.field}: `, "")); // the field is named once
    } else if (step.found) {
      setText(this.says, step.tried > 1 ? `Found after ${step.tried} tries: ${number(step.best, goal)}. Undo brings the trace before back.` : "This trace is one already.");
      this.found(step.found);
    } else setText(this.says, `Nothing found in ${count(step.tried, "try", "tries")}; the nearest had ${number(step.best, goal)}. The trace is as it was.`);
  }
}

function number(value, {figure}) {
  if (value === null || value === undefined) return "nothing";
  return figure === "utilization" ? `${Math.round(value * 1000) / 10} %` : String(Math.round(value * 10) / 10);
}
