// The iterations worth jumping to, found in the rows of a policy and never typed in.

/**
 * @param {object} policy as readPolicy of replay-model.js makes it
 * @returns {{iteration: number, label: string, note: string}[]} in order, at most one an iteration
 */
export function milestonesOf(policy) {
  const rows = policy.rows.filter((row) => row && !row.idle);
  if (!rows.length) return [];
  const found = new Map();
  const add = (row, label, note) => {
    if (row && !found.has(row.iteration)) found.set(row.iteration, {iteration: row.iteration, label, note});
  };
  add(rows[0], "start", "the first batch starts");
  const first = rows.find((row) => row.completed.length);
  const keeps = rows.some((row) => row.seats.some((seat) => seat?.state === "held"));
  if (first) {
    const who = first.completed[0];
    if (keeps) {
      add(first, `${who} finishes`, "a member finishes; its slot idles");
      const drain = rows.find((row) => row.released.length);
      add(drain, "drain", "the longest member finishes: the batch drains, and the next one can enter");
      if (drain) add(rows.find((row) => row.iteration > drain.iteration && row.admitted.length), "next batch", "the next batch enters");
    } else {
      add(first, `${who} finishes`, "completed, pages released, identity retained: the lane keeps letter and colour");
      const next = rows.find((row) => row.iteration > first.iteration && row.admitted.length);
      if (next) add(next, `${next.admitted[0]} enters`, "a waiting request enters the freed slot");
    }
  }
  const preempted = rows.find((row) => row.preempted.length);
  add(preempted, `${preempted?.preempted[0]} preempted`, "the pool is short: the newest request gives way");
  return [...found.values()].sort((a, b) => a.iteration - b.iteration);
}
