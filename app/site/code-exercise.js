// One exercise at work: the task, the editor, what can be done with the code, and what came of it.

import {h, setText} from "./replay-dom.js";
import {Editor} from "./code-editor.js";
import {marksOf} from "./code-lines.js";
import {OutputBox} from "./code-output.js";
import {askConflict, offerAside, Questions} from "./code-questions.js";
import {CheckResults} from "./code-results.js";
import {Run} from "./code-run.js";
import {Task} from "./code-task.js";
import {timeWords} from "./code-words.js";
import {BLOCKED} from "./work-store.js";
import {sha256} from "./work-sha256.js";

const ENDED = {
  ran: "It ran to its end.", failed: "It ended with an error.", did_not_run: "It did not run.", stopped: "It was stopped.", crashed: "It crashed.",
};

export class ExerciseView {
  /**
   * @param {object} exercise of exercises.json
   * @param {object} context runner, code (work-code.js), ace (URL), plain() and setPlain(on), elsewhere(), typed(), passed(result), solution(),
   *   experiment: null, or {run(codeText): Promise of what to say, stop()}
   */
  constructor(exercise, context) {
    this.exercise = exercise;
    this.context = context;
    this.code = context.code;
    this.run = new Run((busy) => this.#busy(busy));
    this.task = new Task(exercise, context.solution);
    this.questions = new Questions();
    this.editor = new Editor({
      label: `Code of ${exercise.title}`, text: this.code.text, ace: context.ace, plain: context.plain(),
      input: (text) => this.#typed(text), check: () => this.check(), chosen: (on) => context.setPlain(on),
    });
    this.results = new CheckResults(exercise, context.runner.deadline, (line) => this.editor.goTo(line));
    this.node = h("div", {class: "workbench"},
      h("div", {class: "card task-card"}, h("h3", {text: exercise.title}), this.task.node),
      h("div", {class: "bench"}, this.#editorCard(), h("div", {class: "card results-card"}, this.#printed(), this.results.node)));
    this.#state();
    offerAside(this.questions, this.code);
    this.elsewhere();
  }

  #editorCard() {
    const button = (text, kind, click) => h("button", {type: "button", class: kind, text, on: {click}});
    this.saved = h("span", {class: "saved"});
    this.checkButton = button("Check", "solid", () => this.check());
    this.runButton = button("Run", "ghost", () => this.runCode());
    this.stopButton = button("Stop", "ghost", () => this.run.stop());
    this.stopButton.disabled = true;
    this.resetButton = button("Reset", "ghost", () => this.#askReset());
    this.experimentButton = this.context.experiment
      ? button("Experiment with your code", "ghost wide", () => this.experiment()) : null;
    this.says = h("p", {class: "tool-says", role: "status"});
    return h("div", {class: "card editor-card"},
      h("header", {}, h("code", {class: "file", text: `${this.exercise.id}.py`}), this.saved),
      this.questions.node, this.editor.node,
      h("div", {class: "tools"}, this.checkButton, this.runButton, this.stopButton, this.resetButton, this.experimentButton), this.says);
  }

  #printed() {
    this.output = new OutputBox("Output of Run");
    this.ended = h("p", {class: "said"});
    this.printed = h("section", {class: "run-output", hidden: true, "aria-label": "Run"}, this.output.node, this.ended);
    return this.printed;
  }

  // ---- the code ------------------------------------------------------------------------------------------------

  #typed(text) {
    this.code.type(text);
    setText(this.says, "");
    setText(this.saved, "Typing…");
    this.#outdate();
    this.context.typed();
  }

  #outdate() {
    if (this.checked !== undefined) this.results.outdate(this.checked !== this.code.text);
  }

  /** The exercise's tab is shown now. */
  shown() {
    this.editor.bring();
    this.editor.shown();
  }

  /** What happened to the saved code. @param {"saved"|"conflict"|"aside"|"replaced"} what */
  codeChanged(what) {
    if (what === "conflict") askConflict(this.questions, this.code);
    else if (!this.code.conflict) this.questions.drop("conflict");
    if (what === "aside" || what === "replaced") offerAside(this.questions, this.code);
    if (what === "replaced") {
      this.editor.replace(this.code.text);
      this.editor.mark([]);
      this.#outdate();
    }
    this.#state();
  }

  /** Storage has come or gone. */
  #state() {
    const {trouble} = this.code.store;
    if (trouble) {
      setText(this.saved, trouble === BLOCKED ? "Not saved: this browser blocks storage" : "Not saved: the browser's storage is full");
    } else if (this.code.conflict) setText(this.saved, "Not saved: another tab's version stands");
    else setText(this.saved, this.code.savedAt ? `Saved ${timeWords(this.code.savedAt)}` : "Saved as you type");
    this.saved.classList.toggle("trouble", Boolean(trouble || this.code.conflict));
    if (this.code.unreadable && !this.questions.has("unreadable")) {
      this.questions.ask("unreadable", "What was saved here could not be read, so the starter code stands here. It is kept in the browser's storage all the same.", [
        {label: "All right", run: () => { this.code.unreadable = false; }},
      ]);
    }
  }

  storageChanged() {
    this.#state();
  }

  /** Another tab may have opened or left this exercise. */
  elsewhere() {
    const other = this.context.elsewhere();
    if (other && !this.questions.has("elsewhere") && !this.toldElsewhere) {
      this.toldElsewhere = true;
      this.questions.ask("elsewhere", "This exercise is open in another tab too. If both change it, you are asked which version stays.", [
        {label: "All right", run: () => {}},
      ]);
    } else if (!other) {
      this.toldElsewhere = false;
      this.questions.drop("elsewhere");
    }
  }

  #askReset() {
    if (this.code.text === this.exercise.starter) {
      setText(this.says, "This is the starter code already.");
      return;
    }
    const bar = this.questions.ask("reset", "Put the starter code back? Yours is kept aside, and can be brought back.", [
      {label: "Reset", solid: true, run: () => {
        this.code.replace(this.exercise.starter, "reset");
        setText(this.says, "The starter code is back.");
        this.resetButton.focus();
      }},
      {label: "Keep mine", run: () => this.resetButton.focus()},
    ]);
    bar.querySelector("button").focus();
  }

  // ---- running it ----------------------------------------------------------------------------------------------

  get #starters() {
    return [this.checkButton, this.runButton, this.experimentButton].filter(Boolean);
  }

  #busy(busy) {
    // A button that is disabled loses the focus: it goes to the one that can be pressed next, and back.
    const {activeElement} = document;
    const starters = this.#starters;
    const next = busy ? starters.includes(activeElement) && this.stopButton : activeElement === this.stopButton && this.refocus;
    if (busy && next) this.refocus = activeElement;
    if (busy) this.stopButton.disabled = false;
    else for (const one of starters) one.disabled = false;
    if (next) next.focus();
    if (busy) for (const one of starters) one.disabled = true;
    else this.stopButton.disabled = true;
    setText(this.checkButton, busy === "check" ? "Checking…" : "Check");
    setText(this.runButton, busy === "run" ? "Running…" : "Run");
  }

  async check() {
    if (this.run.busy) return;
    this.code.flush();
    const text = this.code.text;
    this.checked = text;
    this.editor.mark([]);
    this.results.start();
    setText(this.says, "");
    const ended = await this.run.start("check", (signal) => this.context.runner.check(this.exercise.id, text, {
      signal, onCheck: (verdict, index) => { if (!signal.aborted) this.results.add(verdict, index); },
    }));
    if (ended.stopped) this.results.end("You stopped the checks.");
    else if (ended.failed) this.results.end(`The checks could not be run. ${ended.failed}`);
    if (!ended.done) return;
    const result = ended.done;
    this.results.finish(result);
    this.#outdate();
    if (text === this.code.text) this.editor.mark(marksOf(result, text, this.exercise.name));
    const passed = result.outcome === "passed";
    this.task.tried(passed);
    // A result belongs to saved code; while another tab's version stands there, this one is not.
    const saved = passed && !this.code.conflict;
    if (saved && result.code_sha256 === sha256(text)) this.context.passed(result);
    if (saved) setText(this.says, "All checks passed. The result is saved below.");
    else if (passed) setText(this.says, "All checks passed. Choose which version shall stay, then check again to save the result.");
  }

  async runCode() {
    if (this.run.busy) return;
    this.code.flush();
    const text = this.code.text;
    let printed = "";
    this.printed.hidden = false;
    this.output.show("");
    setText(this.ended, "Running…");
    this.editor.mark([]);
    const ended = await this.run.start("run", (signal) => this.context.runner.run(text, {
      signal, onOutput: (piece) => {
        if (signal.aborted) return;
        printed += piece;
        this.output.show(printed);
      },
    }));
    if (ended.stopped) setText(this.ended, "You stopped it.");
    else if (ended.failed) setText(this.ended, `It could not be run. ${ended.failed}`);
    if (!ended.done) return;
    const {outcome, output, bytes, error} = ended.done;
    this.output.show(output, Number.isFinite(bytes) ? Math.max(0, bytes - new TextEncoder().encode(output).length) : 0);
    const told = error ? [error.type, error.message].filter(Boolean).join(": ") : "";
    const where = error && Number.isInteger(error.line) ? `Line ${error.line}: ` : "";
    setText(this.ended, [ENDED[outcome] ?? "", told && `${where}${told}${/[.!?]$/.test(told) ? "" : "."}`, error?.cause ?? "",
      !error && !output ? "Nothing was printed: call your function and print what it returns." : ""].filter(Boolean).join(" "));
    if (error && Number.isInteger(error.line) && text === this.code.text) this.editor.mark([{line: error.line, text: told, kind: "error"}]);
  }

  /** Replay the trace on the screen with this code, passing or not. */
  async experiment() {
    if (this.run.busy) return;
    this.code.flush();
    const {text} = this.code;
    setText(this.says, "Replaying your code…");
    const ended = await this.run.start("replay", (signal) => {
      signal.addEventListener("abort", () => this.context.experiment.stop());
      return this.context.experiment.run(text);
    });
    setText(this.says, ended.done ?? ended.failed ?? "You stopped the replay of your code.");
  }
}
