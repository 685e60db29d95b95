// Lesson progress: Code, Experiment, Check. Each is earned by doing, kept in storage, and told in the strip at the top.
// Until it is known how far somebody is, the strip says so and shows no figure.

import {setAttr, setText} from "./replay-dom.js";

const NAME = "progress";

export class Progress {
  /** @param {HTMLElement} strip with an element [data-part] for each part  @param {import("./work-store.js").Store} store */
  constructor(strip, store) {
    this.strip = strip;
    this.store = store;
    this.seen = new Set(this.#kept());
  }

  /** @param {string} part code, experiment or check  @param {number} done  @param {number} all  @param {string} words what is counted */
  set(part, done, all, words) {
    const place = this.strip.querySelector(`[data-part="${part}"]`);
    if (!place) return;
    setText(place.querySelector(".of"), done >= all ? "✓" : `${done}/${all}`);
    setAttr(place, "data-state", done >= all ? "done" : done ? "begun" : "open");
    place.style.setProperty("--share", all ? done / all : 0);
    tell(place, `${done} of ${all} ${words}`);
    if (![...this.strip.querySelectorAll("[data-part]")].some((one) => one.dataset.state === "reading")) setAttr(this.strip, "aria-busy", null);
  }

  /** It could not be found out how far somebody is with a part. */
  unknown(part) {
    const place = this.strip.querySelector(`[data-part="${part}"]`);
    setText(place.querySelector(".of"), "?");
    tell(place, "could not be read");
  }

  // ---- the experiment ------------------------------------------------------------------------------------------

  /** Follow the replay: seen are its hand-over (an end and who takes the seat) and the end of every run. */
  follow(root, payloadOf) {
    this.#experiment();
    const visited = new Set();
    let question = null;
    root.addEventListener("lab-iteration", ({detail: {iteration, last, reason}}) => {
      if (reason === "show" || (this.seen.has("end") && this.seen.has("milestones"))) return;
      const {replay} = payloadOf();
      const now = JSON.stringify(replay.limits);
      if (now !== question) visited.clear();
      question = now;
      visited.add(iteration);
      if (iteration >= last && last > 1) this.#saw("end");
      const stones = handOver(replay); // a trace may have none: then its end is all there is to see
      if (stones.length ? stones.every((t) => visited.has(t)) : iteration >= last) this.#saw("milestones");
    });
  }

  #kept() {
    const kept = this.store.json(NAME)?.experiment;
    return Array.isArray(kept) ? kept.filter((one) => one === "milestones" || one === "end") : [];
  }

  #saw(what) {
    if (this.seen.has(what)) return;
    for (const one of [what, ...this.#kept()]) this.seen.add(one); // another tab may have seen more
    this.store.write(NAME, JSON.stringify({experiment: [...this.seen]}));
    this.#experiment();
  }

  #experiment() {
    this.set("experiment", this.seen.size, 2, "seen: a seat handed over, and the end of both runs");
  }
}

/** The same words for who points at a part and for who hears it. */
function tell(place, words) {
  setText(place.querySelector(".spoken"), words);
  setAttr(place, "title", words);
}

/** The iterations in which continuous batching first ends a request, and next admits one. */
export function handOver(replay) {
  const rows = (replay.policies.continuous?.rows ?? []).filter((row) => !row.idle);
  const first = rows.find((row) => row.completed.length);
  const next = first && rows.find((row) => row.iteration > first.iteration && row.admitted.length);
  return next ? [first.iteration, next.iteration] : [];
}
