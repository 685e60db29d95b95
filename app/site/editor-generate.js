// The form that generates a trace from a seed, as `serving-lab trace generate` does; ranges are checked by Python.

import {h, setText} from "./replay-dom.js";
import {Fields} from "./editor-fields.js";

/** Which values belong to a kind; each: name, label, what it begins with. */
const ARRIVALS = {
  "at-once": [], steady: [["gap", "every", "4", "iterations"]], poisson: [["gap", "on average every", "4", "iterations"]],
  bursty: [["gap", "bursts every", "16", "iterations"], ["size", "of", "4", "requests"]],
};
const LENGTHS = {
  fixed: [["tokens", "tokens", "32"]], uniform: [["min", "from", "8"], ["max", "to", "64"]],
  lognormal: [["median", "median", "32"], ["sigma", "sigma", "0.7"], ["min", "from", "4"], ["max", "to", "256"]],
};
const MIX = [["chat", "chat", "70"], ["rag", "RAG", "30"]];

export class Generate {
  /**
   * @param {object} calls  @param {(trace: object) => void} made
   * @param {() => {limits: object, options: object}} sheet of which the trace gets the limits and the options
   */
  constructor(calls, made, sheet) {
    Object.assign(this, {calls, made, sheet});
    this.fields = new Fields("generate");
    const {fields} = this;
    this.groups = [];
    this.command = h("code");
    this.without = h("span", {text: " It writes the same requests and limits, without the options that are on.", hidden: true});
    const shown = () => this.#shown();
    const lengths = (name, label) => h("div", {class: "line", dataset: {lengths: name}},
      fields.choice(`${name}.kind`, label, [["lognormal", "lognormal"], ["uniform", "uniform"], ["fixed", "all the same"]], shown), ...this.#values(name, LENGTHS));
    this.node = h("details", {class: "ed-part"}, h("summary", {text: "Generate a trace"}), h("form", {on: {submit: (event) => {
      event.preventDefault();
      this.#generate();
    }}},
    h("div", {class: "line"}, fields.number("requests", "Requests", "24", 4), fields.number("seed", "Seed", "1", 8)),
    h("div", {class: "line"}, fields.choice("arrivals.kind", "Arrivals", [["poisson", "Poisson"], ["steady", "steady"], ["bursty", "bursty"], ["at-once", "all at once"]], shown), ...this.#values("arrivals", ARRIVALS)),
    h("div", {class: "line"}, fields.choice("lengths", "Lengths", [["own", "of one kind"], ["mix", "chat and RAG"]], shown),
      h("span", {class: "values", dataset: {of: "mix"}}, ...MIX.map(([name, label, value]) => fields.number(`mix.${name}`, label, value, 4)))),
    lengths("prompt_tokens", "Prompts"), lengths("output_tokens", "Outputs"),
    h("div", {class: "line"}, h("button", {type: "submit", class: "ghost", text: "Generate"}),
      h("button", {type: "button", class: "ghost", text: "Next seed", on: {click: () => this.#next()}}), fields.trouble),
    h("p", {class: "quiet command"}, this.command, this.without)));
    this.#shown();
  }

  #values(name, kinds) {
    return Object.entries(kinds).map(([kind, values]) => {
      const group = h("span", {class: "values", dataset: {of: name, kind}}, ...values.flatMap(([value, label, text, unit]) => [
        this.fields.number(`${name}.${value}:${kind}`, label, text, 4), ...(unit ? [h("span", {class: "quiet", text: unit})] : []),
      ]));
      this.groups.push({name, kind, group});
      return group;
    });
  }

  #shown() {
    const mixed = this.fields.value("lengths") === "mix";
    for (const {name, kind, group} of this.groups) group.hidden = this.fields.value(`${name}.kind`) !== kind;
    this.node.querySelector('[data-of="mix"]').hidden = !mixed;
    for (const line of this.node.querySelectorAll("[data-lengths]")) line.hidden = mixed;
  }

  #spec(name, kinds) {
    const kind = this.fields.value(`${name}.kind`);
    return {kind, ...Object.fromEntries(kinds[kind].map(([value]) => [value, this.fields.value(`${name}.${value}:${kind}`)]))};
  }

  get recipe() {
    const {fields} = this;
    const mixed = fields.value("lengths") === "mix";
    return {
      seed: fields.value("seed"), requests: fields.value("requests"), arrivals: this.#spec("arrivals", ARRIVALS), limits: this.sheet().limits,
      ...(mixed ? {mix: Object.fromEntries(MIX.map(([name]) => [name, fields.value(`mix.${name}`)]))}
        : {prompt_tokens: this.#spec("prompt_tokens", LENGTHS), output_tokens: this.#spec("output_tokens", LENGTHS)}),
    };
  }

  async #generate() {
    const {fields} = this;
    let answer;
    try {
      answer = await this.calls.call("generate", {recipe: this.recipe});
    } catch (error) {
      fields.say(null, error.message);
      return;
    }
    const {field, why, trace, command} = answer.data;
    if (answer.name === "generate_refused") {
      // arrivals.gap is the field of the kind that is chosen.
      const kind = field?.includes(".") && this.fields.all.get(`${field.split(".")[0]}.kind`)?.value;
      fields.say(fields.all.has(`${field}:${kind}`) ? `${field}:${kind}` : field, why);
      return;
    }
    fields.say();
    setText(this.command, command + flags(this.recipe.limits));
    this.without.hidden = Object.keys(this.sheet().options ?? {}).length === 0;
    this.made(trace);
  }

  #next() {
    const seed = this.fields.all.get("seed");
    seed.value = String((Number(seed.value) || 0) + 1);
    this.#generate();
  }
}

/** The limits as the command line takes them, so that it writes the same bytes. */
function flags(limits) {
  return Object.entries(limits).filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) => ` --${name.replaceAll("_", "-")}${value === true ? "" : ` ${value}`}`).join("");
}
