// Saved results: what was made when saved code had passed all its checks. A result belongs to exactly that code and
// those checks; when either changes it stays, and is out of date.

const NAME = "results";
const MOST = 40;

export class Results {
  /** @param {import("./work-store.js").Store} store  @param {() => void} changed */
  constructor(store, changed) {
    this.store = store;
    this.changed = changed;
  }

  /** Newest first. Read anew each time: another tab may have added one. */
  list() {
    const value = this.store.json(NAME);
    return Array.isArray(value?.results) ? value.results.filter(isResult) : [];
  }

  /**
   * @param {object} result as `lab.grading` gives it, passed
   * @param {object} replay the course replay's metrics by policy
   */
  add(result, replay) {
    const {exercise, code_sha256, checks_sha256, lab_version, points, max_points} = result;
    const entry = {
      exercise, code_sha256, checks_sha256, lab_version, points, max_points,
      checks: result.checks.length, saved_at: new Date().toISOString(), replay,
    };
    const others = this.list().filter((old) => !(same(old, entry) && old.checks_sha256 === checks_sha256));
    this.#write([entry, ...others].slice(0, MOST));
  }

  remove(entry) {
    this.#write(this.list().filter((old) => !(same(old, entry) && old.saved_at === entry.saved_at)));
  }

  #write(results) {
    this.store.write(NAME, JSON.stringify({schema_version: 1, results}));
    this.changed();
  }
}

const same = (one, other) => one.exercise === other.exercise && one.code_sha256 === other.code_sha256;

/** @returns {"current"|"code"|"checks"|"gone"} whether a result still holds, or what has changed since */
export function standing(entry, exercise, codeSha256) {
  if (!exercise) return "gone";
  if (entry.checks_sha256 !== exercise.checks_sha256) return "checks";
  return entry.code_sha256 === codeSha256 ? "current" : "code";
}

function isResult(value) {
  const text = (name) => typeof value[name] === "string" && value[name].length <= 100;
  const number = (name) => Number.isSafeInteger(value[name]);
  return typeof value === "object" && value !== null
    && ["exercise", "code_sha256", "checks_sha256", "lab_version", "saved_at"].every(text)
    && ["points", "max_points", "checks"].every(number)
    && typeof value.replay === "object" && value.replay !== null;
}
