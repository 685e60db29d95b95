// The learner's code of one exercise: as typed, as saved, and the version that something else has put aside.
//
// Two tabs share one place in storage. Before anything is written there, it is looked whether the place still holds what
// this tab has last seen; if not, another tab was here: nothing is overwritten, this tab's code goes on beside it, and
// the learner is asked.

import {sha256} from "./work-sha256.js";
import {readSolution, solutionOf} from "./work-solution.js";

const SOON = 400; // ms after the last key

export class Code {
  #timer = 0;
  #hashed = null;
  #hash = "";
  #seen; // the text in storage that this tab knows of

  /**
   * @param {{id: string, starter: string, checks_sha256: string}} exercise  @param {import("./work-store.js").Store} store
   * @param {(what: "saved"|"conflict"|"aside"|"replaced") => void} changed
   */
  constructor(exercise, store, changed) {
    this.exercise = exercise;
    this.store = store;
    this.changed = changed;
    this.name = `code:${exercise.id}`;
    this.asideName = `code-aside:${exercise.id}`;
    this.conflict = null; // the other tab's saved solution (its code null: it was taken away)
    this.unreadable = false;
    this.#load();
    this.aside = this.#readAside();
  }

  #load() {
    this.#seen = this.store.read(this.name);
    const saved = parsed(this.#seen, this.exercise.id);
    if (this.#seen !== null && !saved) {
      // Whatever it is, it is kept: the next save takes its place under the usual name.
      this.unreadable = true;
      this.store.write(`code-unreadable:${this.exercise.id}`, this.#seen);
    }
    this.text = saved?.code ?? this.exercise.starter;
    this.savedAt = saved ? new Date(saved.saved_at) : null;
    this.pending = false;
  }

  /** SHA-256 of the code as it is now. */
  get hash() {
    if (this.#hashed !== this.text) {
      this.#hashed = this.text;
      this.#hash = sha256(this.text);
    }
    return this.#hash;
  }

  get touched() {
    return this.text !== this.exercise.starter;
  }

  /** The learner has typed. */
  type(text) {
    if (text === this.text) return;
    this.text = text;
    this.pending = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), SOON);
  }

  /** Save what is pending, now. */
  flush() {
    clearTimeout(this.#timer);
    if (!this.pending) return;
    this.pending = false;
    this.look();
    if (this.conflict) {
      this.#putAside(this.text, "other tab");
      this.changed("aside");
      return;
    }
    this.#save();
  }

  #save() {
    const at = new Date();
    this.#seen = JSON.stringify(solutionOf(this.exercise.id, this.exercise.checks_sha256, this.text, at));
    this.store.write(this.name, this.#seen);
    this.savedAt = at;
    this.changed("saved");
  }

  /** See whether another tab has saved something else. */
  look() {
    if (this.store.trouble) return; // then this tab's memory is the newest there is
    const stored = this.store.stored(this.name);
    if (stored === this.#seen || stored === this.conflict?.stored) return;
    const theirs = stored === null ? {code: this.exercise.starter, saved_at: null} : parsed(stored, this.exercise.id);
    if (theirs && theirs.code === this.text) {
      this.#seen = stored; // the same code: nothing to ask
      this.conflict = null;
      this.pending = false;
      if (theirs.saved_at) this.savedAt = new Date(theirs.saved_at);
      this.changed("saved");
      return;
    }
    this.conflict = {code: theirs?.code ?? null, at: theirs?.saved_at ? new Date(theirs.saved_at) : null, stored};
    this.changed("conflict");
  }

  /** Settle a conflict: what is here goes into storage, and the other version is put aside. */
  keepMine() {
    const {code, stored} = this.conflict;
    this.conflict = null;
    this.#seen = stored;
    if (code !== null) this.#putAside(code, "other tab");
    this.pending = false;
    this.#save();
  }

  /** Settle a conflict: the other version is shown here, and this one is put aside. */
  takeTheirs() {
    const {code, at, stored} = this.conflict;
    this.conflict = null;
    this.#putAside(this.text, "other tab");
    this.#seen = stored;
    this.text = code ?? this.exercise.starter;
    this.savedAt = at;
    this.pending = false;
    this.changed("replaced");
  }

  /** Put other code in the place of this one, which is put aside. @param {"reset"|"import"|"aside"|"reference"} why */
  replace(text, why) {
    this.flush();
    if (this.touched && text !== this.text) this.#putAside(this.text, why);
    this.text = text;
    this.pending = true;
    this.flush();
    this.changed("replaced");
  }

  /** Bring back what was put aside; what stood here takes its place. */
  bringBack() {
    const {code} = this.aside;
    this.aside = null;
    this.replace(code, "aside");
  }

  forgetAside() {
    this.aside = null;
    this.store.remove(this.asideName);
    this.changed("aside");
  }

  #putAside(code, why) {
    if (code === this.exercise.starter) return; // that one is never lost
    this.aside = {code, why, at: new Date()};
    this.store.write(this.asideName, JSON.stringify({...this.aside, at: this.aside.at.toISOString()}));
    this.changed("aside");
  }

  #readAside() {
    const value = this.store.json(this.asideName);
    if (typeof value?.code !== "string" || typeof value.why !== "string") return null;
    const at = new Date(value.at);
    return {code: value.code, why: value.why, at: Number.isNaN(at.getTime()) ? null : at};
  }

  /** The saved solution of the code as it is now. */
  solution() {
    return solutionOf(this.exercise.id, this.exercise.checks_sha256, this.text, this.savedAt ?? new Date());
  }
}

function parsed(text, exercise) {
  try {
    const solution = readSolution(JSON.parse(text), "saved work");
    return solution.exercise === exercise ? solution : null;
  } catch {
    return null;
  }
}
