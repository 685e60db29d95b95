// Which free pages are still cached. Rows say how many; which ones follows from the block tables: a page is known from the
// iteration that fills it until it is taken for something else.

/**
 * @param {object} policy with its rows by iteration, replayed with prefix caching
 * @returns {(t: number) => Set<number>} the free pages that are known in iteration t; empty where the rows count otherwise
 *   (a page that was filled with what another page has already is not known by itself)
 */
export function cachedPages(policy) {
  const size = policy.limits.page_size;
  const none = new Set();
  const known = new Set();
  const found = [];
  let tables = new Map();
  let held = new Set();
  let last = none;
  for (let t = 1; t <= policy.end; t++) {
    const row = policy.rows[t];
    if (!row) continue;
    if (row.idle) {
      found[t] = last;
      continue;
    }
    const admitted = new Set(row.admitted);
    for (const [id, pages] of Object.entries(row.pages)) {
      const before = admitted.has(id) ? [] : tables.get(id) ?? [];
      const hits = admitted.has(id) ? Math.ceil((row.cached?.[id] ?? 0) / size) : 0;
      pages.forEach((page, index) => {
        if (before[index] !== page && index >= hits && !held.has(page)) known.delete(page);
      });
    }
    tables = new Map(Object.entries(row.pages));
    held = new Set([...tables.values()].flat());
    const free = [...known].filter((page) => !held.has(page));
    const same = free.length === last.size && free.every((page) => last.has(page));
    last = same ? last : new Set(free);
    found[t] = free.length === row.cached_free ? last : none;
    for (const [id, pages] of tables) pages.forEach((page, index) => { if (row.kv[id] >= (index + 1) * size) known.add(page); });
    for (const id of row.released) tables.delete(id);
    if (!row.released.length) continue;
    held = new Set([...tables.values()].flat()); // what is released now is free, and known, from the next iteration on
    last = new Set([...known].filter((page) => !held.has(page)));
  }
  return (t) => found[t] ?? none;
}
