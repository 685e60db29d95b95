// Predict first: which policy finishes sooner, and by how much? The answer is kept and laid beside the result.

import {count, h, listed, setAttr, setText} from "./replay-dom.js";

const SAME = "same";

/** Who finishes first, and how many iterations before the last. */
export function outcomeOf(policies) {
  const ends = policies.map((policy) => policy.metrics.iterations);
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const by = last - first;
  return {winner: by ? policies[ends.indexOf(first)].name : SAME, by, first, last};
}

/** A blocked or full storage is the same as an empty one. */
class Kept {
  constructor(key) {
    this.key = key;
  }

  read() {
    try {
      const data = JSON.parse(localStorage.getItem(this.key) ?? "null");
      return data && ["locked", "done", "skipped"].includes(data.state) ? data : {};
    } catch {
      return {};
    }
  }

  write(data) {
    if (!this.key) return;
    try {
      if (data) localStorage.setItem(this.key, JSON.stringify(data));
      else localStorage.removeItem(this.key);
    } catch { /* the guess lasts as long as the page */ }
  }
}

/**
 * States: open (asks), locked (a guess is made, the run not yet seen), done (seen, with a guess), skipped.
 * The three faces share one place, so that nothing moves when one gives way to another.
 */
export class Guess {
  #names = "";
  watched = "";

  /** @param {string|undefined} storageKey  @param {{settled: () => void, decided: () => void, again: () => void}} on */
  constructor(storageKey, on) {
    this.on = on;
    this.kept = new Kept(storageKey);
    const {state = "open", pick = null, by = null, actual = null, question = null} = storageKey ? this.kept.read() : {};
    Object.assign(this, {state, pick, by, actual, question});
    this.#build();
  }

  get settled() {
    return this.state === "done" || this.state === "skipped";
  }

  #build() {
    this.choices = h("span", {class: "choices", role: "radiogroup", "aria-label": "Which policy finishes sooner?"});
    this.number = h("input", {type: "number", min: 1, max: 99999, step: 1, inputmode: "numeric", "aria-label": "by how many iterations", placeholder: "?"});
    this.lock = h("button", {type: "submit", class: "solid", text: "Lock in my guess", disabled: true});
    const skip = h("button", {type: "button", class: "quiet", text: "Skip", on: {click: () => this.#skip()}});
    this.form = h("form", {class: "face ask", on: {
      submit: (event) => { event.preventDefault(); this.#lockIn(); },
      change: () => this.#changed(),
    }},
    h("p", {class: "question"}, h("b", {text: "Guess before you play."}), " Which finishes sooner?"),
    this.choices, h("label", {class: "by"}, "by", this.number, h("span", {text: "iterations"})), h("span", {class: "acts"}, this.lock, skip));
    this.said = h("p");
    this.change = h("button", {type: "button", class: "quiet", text: "Change it", on: {click: () => this.#set("open", true)}});
    this.locked = h("div", {class: "face"}, this.said, h("span", {class: "acts"}, this.change,
      h("button", {type: "button", class: "quiet", text: "Show results", on: {click: () => this.settle()}})));
    this.outcome = h("b");
    this.compared = h("span");
    this.verdict = h("p", {}, this.outcome, this.compared);
    this.again = h("button", {type: "button", class: "quiet", text: "Guess again", on: {click: () => this.#again()}});
    this.result = h("div", {class: "face"}, this.verdict, h("span", {class: "acts"}, this.again));
    this.node = h("div", {class: "guess", role: "group", "aria-label": "Your guess"}, this.form, this.locked, this.result);
    for (const words of [this.said, this.verdict]) setAttr(words, "role", "status");
  }

  show(model) {
    // The guess is about the engine's policies; a learner's own code is beside the point.
    this.model = model = {...model, policies: model.policies.filter((policy) => !policy.learner)};
    const names = model.policies.map((policy) => policy.name);
    this.comparable = names.length > 1 && model.policies.every((policy) => policy.metrics.completed > 0);
    if (this.pick && this.pick !== SAME && !names.includes(this.pick)) Object.assign(this, {pick: null, by: null, actual: null, state: "open"});
    if (names.join("\n") !== this.#names) {
      this.#names = names.join("\n");
      const options = [...model.policies.map(({name, title}) => [name, title]), [SAME, names.length > 2 ? "All the same" : "Both the same"]];
      const group = `guess-${Math.random().toString(36).slice(2)}`;
      this.choices.replaceChildren(...options.map(([value, text]) => h("label", {},
        h("input", {type: "radio", name: group, value, checked: value === this.pick}), h("span", {text}))));
    }
    this.#changed();
    this.#draw();
  }

  /** Once a run has been seen to its end it is too late to guess. `ended` and `running` are policies. */
  watch(ended, running) {
    const text = !ended.length || !running.length ? ""
      : `${listed(ended.map((policy) => `${policy.title} is done in iteration ${policy.end}`)).join("")}; ${listed(running.map(({title}) => title.toLowerCase())).join("")} still ${running.length > 1 ? "run" : "runs"}.`;
    if (text === this.watched) return;
    this.watched = text;
    this.#draw();
  }

  /** The learner has now seen every policy to its end, or asked for the results. */
  settle() {
    if (this.settled) return;
    this.#set(this.state === "locked" ? "done" : "skipped");
    this.on.settled();
  }

  get #chosen() {
    return this.choices.querySelector("input:checked")?.value ?? null;
  }

  #changed() {
    const pick = this.#chosen;
    this.lock.disabled = !pick;
    this.number.disabled = pick === SAME;
  }

  #lockIn() {
    this.pick = this.#chosen;
    if (!this.pick) return;
    const by = Number(this.number.value);
    this.by = this.pick === SAME ? 0 : this.number.value === "" ? null : by;
    this.actual = outcomeOf(this.model.policies);
    this.question = this.model.question;
    this.#set("locked");
    this.on.decided();
  }

  #skip() {
    Object.assign(this, {pick: null, by: null, actual: null});
    this.#set("skipped");
    this.on.settled();
    this.on.decided();
  }

  #again() {
    Object.assign(this, {pick: null, by: null, actual: null});
    for (const input of this.choices.querySelectorAll("input")) input.checked = false;
    this.number.value = "";
    this.#changed();
    this.watched = "";
    this.#set("open", true);
    this.on.again();
  }

  #set(state, byHand = false) {
    this.state = state;
    const {pick, by, actual, question} = this;
    this.kept.write(state === "open" ? null : {state, pick, by, actual, question});
    this.#draw();
    // The control that was pressed is gone with its face: take the focus to the one that took its place.
    if (byHand) this.node.querySelector(".face:not([inert])").querySelector("button:not(:disabled), input")?.focus({preventScroll: true});
  }

  #title(name) {
    if (name === SAME) return "no difference";
    return this.model.policies.find((policy) => policy.name === name)?.title.toLowerCase() ?? name;
  }

  #bet() {
    return `${this.#title(this.pick)}${this.by ? ` by ${this.by}` : ""}`;
  }

  #draw() {
    const faces = {open: this.watched ? this.locked : this.form, locked: this.locked};
    const face = (this.comparable && faces[this.state]) || this.result;
    for (const one of [this.form, this.locked, this.result]) {
      one.classList.toggle("shown", one === face);
      one.inert = one !== face;
    }
    const bet = this.state === "locked" ? `Your guess: ${this.#bet()}. ` : "";
    setText(this.said, face === this.locked ? bet + (this.watched || "Press Play and watch both runs to their ends.") : "");
    this.change.hidden = Boolean(this.watched);
    const [outcome, compared] = face === this.result ? this.#outcome() : ["", ""];
    setText(this.outcome, outcome);
    setText(this.compared, compared);
    this.again.hidden = !this.comparable;
  }

  #outcome() {
    if (!this.comparable) return ["", this.model.policies.length > 1 ? "Nothing to compare: not every policy served a request." : ""];
    const {winner, by, first, last} = outcomeOf(this.model.policies);
    const result = winner === SAME ? [`${this.model.policies.length > 2 ? "All" : "Both"} end in iteration ${first}.`, ""]
      : [`${this.model.policies.find((policy) => policy.name === winner).title} finishes ${count(by, "iteration")} sooner`, `: ${first} against ${last}.`];
    if (this.state !== "done" || !this.actual) return result;
    const was = this.actual.winner === this.pick ? (this.actual.winner === SAME ? "so it was" : `it was ${this.actual.by}`)
      : this.actual.winner === SAME ? "it was the same" : `it was ${this.#title(this.actual.winner)} by ${this.actual.by}`;
    const then = this.question === this.model.question ? "" : " under the limits of that time";
    return [result[0], `${result[1]} You guessed ${this.#bet()}; ${was}${then}.`];
  }
}
