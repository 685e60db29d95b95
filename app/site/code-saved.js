// The saved results, each with the code and the checks that it belongs to, and whether it still holds.

import {h} from "./replay-dom.js";
import {figuresTable} from "./code-figures.js";
import {standing} from "./work-results.js";
import {timeWords} from "./code-words.js";

const STANDING = {
  current: "Current: the saved code is the code that was checked.",
  code: "Out of date: the code has been edited since. Check it again, or bring that code back.",
  checks: "Out of date: the checks have changed since. Check the code again.",
  gone: "Out of date: this lab does not have the exercise any more.",
};

export class SavedResults {
  /** @param {import("./work-results.js").Results} results  @param {object[]} exercises  @param {(id: string) => string|null} codeHash of the code as it is now */
  constructor(results, exercises, codeHash) {
    this.results = results;
    this.exercises = exercises;
    this.codeHash = codeHash;
    this.list = h("ul", {class: "saved-results"});
    this.none = h("p", {class: "quiet", text: "None yet. A result is saved once your saved code has passed all its checks."});
    this.node = h("section", {class: "saved-box", "aria-labelledby": "saved-title"}, h("h3", {id: "saved-title", text: "Saved results"}), this.none, this.list,
      this.notes = h("p", {class: "quiet", text: "The replay figures are those of the trace that the page opens with. The validation is tied to the code that was saved and checked, and to nothing else."}));
    this.draw();
  }

  draw() {
    const entries = this.results.list();
    this.none.hidden = entries.length > 0;
    this.notes.hidden = !entries.length;
    this.list.replaceChildren(...entries.map((entry) => this.#card(entry)));
  }

  #card(entry) {
    const exercise = this.exercises.find(({id}) => id === entry.exercise);
    const state = standing(entry, exercise, this.codeHash(entry.exercise));
    const fact = (term, ...content) => [h("dt", {text: term}), h("dd", {}, ...content)];
    return h("li", {class: "card saved-result", dataset: {state, exercise: entry.exercise}},
      h("header", {}, h("h4", {text: exercise?.title ?? entry.exercise}), h("span", {class: "points-got", text: `${entry.points} of ${entry.max_points} points`})),
      h("p", {class: "standing", text: STANDING[state]}),
      h("dl", {class: "task-facts"},
        ...fact("Checked", timeWords(new Date(entry.saved_at)), h("span", {class: "quiet", text: `, ${entry.checks} checks, lab ${entry.lab_version}`})),
        ...fact("Code", hash(entry.code_sha256)), ...fact("Checks", hash(entry.checks_sha256))),
      figuresTable("Replay", Object.entries(entry.replay).filter(([, metrics]) => typeof metrics === "object" && metrics !== null)),
      h("button", {type: "button", class: "ghost", text: "Remove", "aria-label": `Remove this result of ${exercise?.title ?? entry.exercise}`, on: {click: () => this.results.remove(entry)}}));
  }
}

/** The first digits are enough to compare by eye; the rest is there for who copies it. */
function hash(sha256) {
  return h("code", {class: "hash", title: sha256, text: sha256.slice(0, 12)});
}
