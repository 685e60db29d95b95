// The learner's own code as a third policy of the replay: beside the two, on the same trace and limits, passing or not.

import {h, setText} from "./replay-dom.js";
import {figuresTable} from "./code-figures.js";
import {Run} from "./code-run.js";

const SOON = 300; // ms after the limits have changed

export class Yours {
  #timer = 0;

  /** @param {import("./replay.js").ReplayView} view  @param {object} runner */
  constructor(view, runner) {
    this.view = view;
    this.runner = runner;
    this.made = null; // {policy, question}: what was replayed, and for which trace and limits
    this.exercise = null; // whose code it is
    this.code = null;
    this.payload = null;
    this.job = new Run(() => this.#draw());
    this.#build();
  }

  #build() {
    const button = (text, click) => h("button", {type: "button", class: "ghost", text, on: {click}});
    this.title = h("h3", {text: "Your code in the replay", tabindex: -1});
    this.verdict = h("p", {class: "verdict-words"});
    this.go = button("", () => this.view.seek(this.marked.iteration));
    this.why = h("p");
    this.stale = h("p", {class: "stale"});
    this.off = h("p", {class: "quiet"});
    this.figures = h("div", {class: "compared"});
    this.again = button("Run it again", () => this.run(this.exercise, this.typedCode ?? this.code));
    this.remove = button("Remove it", () => this.clear());
    this.node = h("aside", {class: "yours", "aria-label": "Your code in the replay"}, this.title,
      h("div", {role: "status"}, this.verdict, this.why, this.stale), this.off, h("div", {class: "tools"}, this.go, this.again, this.remove), this.figures);
  }

  get shown() {
    return this.made !== null;
  }

  /** The payload as the view shall draw it: with the learner's policy, if there is one. */
  join(payload) {
    this.payload = payload;
    if (!this.made) return payload;
    const question = questionOf(payload.replay);
    if (question !== this.made.question) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#replay(), SOON);
    }
    this.#draw();
    // Of another trace nothing can be drawn here; under other limits the old picture stands until the new one is made.
    if (this.made.trace !== traceOf(payload.replay)) return payload;
    const {replay} = payload;
    return {...payload, replay: {...replay, policies: {...replay.policies, yours: this.made.policy}}};
  }

  /** @param {string} exercise  @param {string} code  @returns {Promise<string>} what to tell the learner, in one sentence */
  async run(exercise, code) {
    this.exercise = exercise;
    this.code = code;
    this.typedCode = code;
    const failed = await this.#replay();
    if (failed !== null) return failed;
    const side = this.view.root.querySelector('.side[data-policy="yours"]');
    side?.scrollIntoView({block: "start"});
    this.title.focus({preventScroll: true});
    return "Your code is the third side of the replay.";
  }

  async #replay() {
    clearTimeout(this.#timer);
    const {replay} = this.payload;
    const {exercise, code} = this;
    const ended = await this.job.start("replay", (signal) => this.runner.replay(exercise, code, replay.trace, replay.limits, {signal}));
    if (ended.stopped) return "The replay of your code was stopped.";
    if (ended.failed) {
      this.trouble = ended.failed;
      this.#draw();
      return `Your code could not be replayed. ${ended.failed}`;
    }
    this.trouble = null;
    const {policy, departure, stopped, problem} = ended.done;
    const marks = {departure: placed(departure), stopped: placed(stopped) ?? (problem ? {iteration: 1, words: sentence(problem.message)} : null)};
    this.made = {
      question: questionOf(replay), trace: traceOf(replay), code,
      policy: {...policy, ...marks, limits: replay.limits},
    };
    this.view.sides.append(this.node);
    this.view.show(this.join(this.payload));
    return null;
  }

  /** The learner has changed the code of an exercise. */
  typed(exercise, code) {
    if (exercise !== this.exercise) return;
    this.typedCode = code;
    if (this.made) this.#draw();
  }

  stop() {
    this.job.stop();
  }

  /** Take the third policy away again. */
  clear() {
    clearTimeout(this.#timer);
    this.job.stop();
    this.made = null;
    this.trouble = null;
    this.node.remove();
    this.view.show(this.payload);
  }

  #draw() {
    if (!this.made) return;
    const {departure, stopped} = this.made.policy;
    this.marked = departure ?? stopped;
    setText(this.verdict, departure ? `It first differs from the engine in iteration ${departure.iteration}.`
      : stopped ? `As the engine until iteration ${stopped.iteration}, where it stops.` : "Every step is the engine's: the same requests run, in the same iterations, on as many pages.");
    setText(this.why, [departure?.words, stopped && (departure && departure.iteration !== stopped.iteration
      ? `In iteration ${stopped.iteration} it stops: ${stopped.words}` : departure ? "There it also stops." : stopped.words)].filter(Boolean).join(" "));
    this.why.hidden = !this.why.textContent;
    setText(this.stale, this.#staleWords());
    this.stale.hidden = !this.stale.textContent;
    this.node.classList.toggle("out", this.#behind);
    const {limits, options} = this.payload.replay;
    const on = [limits.max_num_batched_tokens !== null && "a token budget", limits.chunked_prefill && "chunked prefill", options && "options of the engine"].filter(Boolean);
    setText(this.off, `Token budget${options ? ", chunked prefill and options" : " and chunked prefill"} are off for your code: the exercise does not know them.${
      on.length ? ` The sides above have ${on.join(" and ")}; your code is compared with an engine that has not.` : ""}`);
    this.#compare(stopped);
    this.go.hidden = !this.marked;
    if (this.marked) setText(this.go, `Go to iteration ${this.marked.iteration}`);
    this.again.disabled = this.job.busy !== null;
  }

  /** All runs side by side; hidden by code.css while the learner still guesses, and while a run is out of date. */
  #compare(stopped) {
    const {policies} = this.payload.replay;
    const name = stopped ? `your code, until ${stopped.iteration - 1}` : "your code";
    const runs = [...Object.entries(policies).map(([policy, {metrics}]) => [policy, metrics]), [name, this.made.policy.metrics]];
    this.figures.replaceChildren(figuresTable("Latency and use of capacity", runs));
    this.figures.hidden = this.#behind;
  }

  get #behind() {
    return questionOf(this.payload.replay) !== this.made.question;
  }

  #staleWords() {
    if (this.#behind) {
      if (this.trouble) return `Out of date: the limits have changed, and your code could not be replayed under them. ${this.trouble}`;
      return "Out of date: the limits have changed. Your code is being replayed under them.";
    }
    return this.typedCode !== this.made.code ? "You have edited the code since: this is the code as it was." : "";
  }
}

const traceOf = (replay) => replay.trace.sha256 ?? replay.trace.name;
const questionOf = (replay) => JSON.stringify([traceOf(replay), replay.limits]);

function placed(at) {
  return at ? {iteration: at.iteration, words: sentence(at.words)} : null;
}

function sentence(words) {
  const text = String(words ?? "").trim();
  return text && text + (/[.!?…]$/.test(text) ? "" : ".");
}
