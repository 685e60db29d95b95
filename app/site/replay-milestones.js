// The iterations worth jumping to, found in the rows of a policy and never typed in.

import {clip} from "./replay-dom.js";

/**
 * @param {object} policy as readPolicy of replay-model.js makes it
 * @returns {{iteration: number, label: string, note: string}[]} note: a sentence without its full stop; in order, at most one an iteration
 */
export function milestonesOf(policy) {
  const rows = policy.rows.filter((row) => row && !row.idle);
  if (!rows.length && !policy.stopped) return [];
  const found = new Map();
  const add = (row, label, note) => {
    if (row && !found.has(row.iteration)) found.set(row.iteration, {iteration: row.iteration, label, note});
  };
  add(rows[0], "start", "The first batch starts");
  const first = rows.find((row) => row.completed.length);
  const keeps = rows.some((row) => row.seats.some((seat) => seat?.state === "held"));
  if (first) {
    const who = first.completed[0];
    if (keeps) {
      const drain = rows.find((row) => row.released.length);
      if (drain !== first) add(first, `${clip(who, 8)} ends`, "The slot idles");
      add(drain, "drain", "The next batch can enter");
      if (drain) add(rows.find((row) => row.iteration > drain.iteration && row.admitted.length), "next", "The next batch enters");
    } else {
      add(first, `${clip(who, 8)} ends`, "Completed, pages released, identity retained");
      const next = rows.find((row) => row.iteration > first.iteration && row.admitted.length);
      if (next) add(next, `${clip(next.admitted[0], 8)} enters`, `${clip(next.admitted[0], 12)} enters the freed slot`);
    }
  }
  const preempted = rows.find((row) => row.preempted.length);
  add(preempted, "preempts", `The pool is short: the ${policy.options.victim ?? "newest"} request gives way`);
  // What a learner's code did otherwise, or could not do, is worth more than what else happened there.
  const mark = (at, label) => at && found.set(at.iteration, {iteration: at.iteration, label, note: at.words.replace(/\.$/, "")});
  mark(policy.departure, "differs");
  mark(policy.stopped, "stops");
  return [...found.values()].sort((a, b) => a.iteration - b.iteration);
}
