// What the engine's options add to a replay that has to be followed over time: the samples of a request, pages in host
// memory, clients that left, pages that are free but still cached.

/**
 * The further samples of a request ("a#2") under their own names: they look like it, and share its index and colour.
 * @param {Map<string, object>} byId of the requests; is added to
 */
export function addSequences(byId, policies) {
  for (const {rows} of Object.values(policies)) {
    for (const {forked} of rows) {
      for (const [id, children] of Object.entries(forked ?? {})) {
        const request = byId.get(id);
        for (const child of request ? children : []) {
          if (!byId.has(child)) byId.set(child, {...request, id: child, request: id, short: `${request.short}${child.slice(id.length)}`});
        }
      }
    }
  }
}

/** The sequences of a request: itself, and its samples if it was forked. */
export function sequencesOf(policy, id) {
  return [id, ...(policy.history.forks.get(id) ?? [])];
}

/** @param {object} policy with its rows by iteration */
export function historyOf(policy) {
  const arrivedAt = new Map();
  const goneAt = new Map(); // request → the iteration in which its client left
  const forks = new Map(); // request → its further samples
  const ends = []; // of requests that were cancelled: {id, at, seats}
  const onHost = new Map(); // sequence → [[from, to, pages]] of its stays in host memory
  const open = new Map();
  const close = (id, t) => {
    const stay = open.get(id);
    if (stay) stay[1] = t;
    open.delete(id);
  };
  for (let t = 1; t <= policy.end; t++) {
    const row = policy.rows[t];
    if (!row || row.idle) continue;
    for (const id of row.arrived) arrivedAt.set(id, t);
    for (const id of row.left ?? []) if (!goneAt.has(id)) goneAt.set(id, t);
    for (const [id, children] of Object.entries(row.forked ?? {})) forks.set(id, children.filter((child) => child !== id));
    for (const id of Object.keys(row.swapped_in ?? {})) close(id, t - 1);
    for (const [id, pages] of Object.entries(row.swapped_out ?? {})) {
      const stay = [t, Infinity, pages];
      open.set(id, stay);
      if (!onHost.has(id)) onHost.set(id, []);
      onHost.get(id).push(stay);
    }
    for (const id of row.cancelled ?? []) {
      for (const one of [id, ...(forks.get(id) ?? [])]) {
        close(one, t);
        const seat = row.seats.findIndex((place) => place?.id === one);
        const before = seat >= 0 ? -1 : policy.rows[t - 1]?.seats?.findIndex((place) => place?.id === one) ?? -1;
        if (seat >= 0 || before >= 0) ends.push({id: one, at: seat >= 0 ? t + 1 : t, seat: seat >= 0 ? seat : before});
      }
    }
  }
  return {
    forks, ends,
    /** Whether the client of that request had left before iteration t, so that what runs now runs for nobody. */
    goneBefore: (id, t) => goneAt.has(id) && goneAt.get(id) < t,
    goneAt: (id) => goneAt.get(id),
    arrivedAt: (id) => arrivedAt.get(id),
    /** Pages that a sequence has in host memory after iteration t. */
    onHost: (id, t) => onHost.get(id)?.find(([from, to]) => from <= t && t <= to)?.[2] ?? 0,
    hosted: (t) => [...onHost.keys()].filter((id) => onHost.get(id).some(([from, to]) => from <= t && t <= to)),
  };
}
