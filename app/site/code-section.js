// The section in which learners write the code: a tab for each exercise, saved results, and a way to take work along.

import {h, setText} from "./replay-dom.js";
import {ExerciseView} from "./code-exercise.js";
import {SavedResults} from "./code-saved.js";
import {Tabs} from "./code-tabs.js";
import {Transfer} from "./code-transfer.js";
import {Tabs as OtherTabs} from "./work-tabs.js";
import {BLOCKED} from "./work-store.js";

export class CodeSection {
  #views = new Map();

  /**
   * @param {HTMLElement} place  @param {object} work codes (by exercise), results, store, standings()
   * @param {object} context exercises, runner, yours, ace (URL), channel (name), figures (the first trace's metrics by policy),
   *   solutions (when a reference may be opened: on-request, after-pass or never), plain (default)
   */
  constructor(place, work, context) {
    this.work = work;
    this.context = context;
    const {exercises} = context;
    this.others = new OtherTabs(context.channel, () => { for (const view of this.#views.values()) view.elsewhere(); });
    this.tabs = new Tabs(exercises, (id) => this.#shown(id));
    this.saved = new SavedResults(work.results, exercises, (id) => work.hash(id));
    this.transfer = new Transfer(work.codes, exercises);
    this.trouble = h("p", {class: "notice store-trouble", role: "status"});
    place.replaceChildren(this.trouble, this.tabs.list, ...this.tabs.panels,
      h("div", {class: "below"}, this.saved.node, this.transfer.node));
    this.storageChanged();
    const last = work.store.read("exercise");
    this.tabs.choose(exercises.some(({id}) => id === last) ? last : exercises[0].id);
    this.standings();
  }

  #shown(id) {
    let view = this.#views.get(id);
    if (!view) {
      view = this.#make(this.context.exercises.find((exercise) => exercise.id === id));
      this.#views.set(id, view);
      this.tabs.panel(id).append(view.node);
    }
    view.shown();
    this.others.open(id);
    if (this.work.store.read("exercise") !== id) this.work.store.write("exercise", id);
  }

  #make(exercise) {
    const {work, context} = this;
    const {yours} = context;
    const replayed = exercise.drives && yours;
    return new ExerciseView(exercise, {
      code: work.codes.get(exercise.id), runner: context.runner, ace: context.ace,
      plain: () => (work.store.read("plain-editor") ?? String(context.plain)) === "true",
      setPlain: (on) => {
        work.store.write("plain-editor", String(on));
        for (const view of this.#views.values()) view.editor.prefer(on);
      },
      elsewhere: () => this.others.elsewhere(exercise.id),
      solution: () => context.solutions !== "after-pass" || work.results.list().some((result) => result.exercise === exercise.id),
      typed: () => { if (replayed) yours.typed(exercise.id, work.codes.get(exercise.id).text); },
      passed: (result) => work.results.add(result, context.figures),
      experiment: replayed ? {run: (text) => yours.run(exercise.id, text), stop: () => yours.stop()} : null,
    });
  }

  /** What happened to the code of an exercise; see work-code.js. */
  codeChanged(id, what) {
    this.#views.get(id)?.codeChanged(what);
    if (what === "replaced") this.context.yours?.typed(id, this.work.codes.get(id).text);
  }

  /** Results have come, or hold no longer. */
  standings() {
    this.saved.draw();
    for (const view of this.#views.values()) view.task.offerSolution();
    for (const [id, state] of this.work.standings()) this.tabs.state(id, state);
  }

  storageChanged() {
    const {trouble} = this.work.store;
    setText(this.trouble, trouble ? `${trouble === BLOCKED ? "This browser blocks storage" : "The browser's storage is full"}: your work lasts until this page is closed. Export it to a file to keep it.` : "");
    this.trouble.hidden = !trouble;
    for (const view of this.#views.values()) view.storageChanged();
  }
}
