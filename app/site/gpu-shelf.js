// The measurements that were opened or made here, kept in the browser's database; where that is blocked, as long as the page.

const MOST = 12; // the oldest gives way
const STORE = "files";

export class Shelf {
  #items = []; // {id, label, text}, the newest first
  #database = null;
  #next = 0;

  /** @param {string} name of the database */
  constructor(name) {
    this.loaded = this.#load(name);
  }

  get items() {
    return this.#items;
  }

  async #load(name) {
    try {
      this.#database = await opened(name);
      const files = this.#database.transaction(STORE).objectStore(STORE);
      const [keys, values] = await Promise.all([done(files.getAllKeys()), done(files.getAll())]);
      this.#items = keys.map((id, index) => ({id, ...values[index]})).reverse();
      this.#next = Math.max(0, ...keys) + 1;
    } catch {
      this.#database = null;
    }
  }

  /** @returns the item, an older one if the same was there already */
  async add(label, text) {
    await this.loaded;
    const same = this.#items.find((item) => item.text === text);
    if (same) return same;
    // By the clock: another tab that is open keeps its own in the same database.
    const item = {id: Math.max(this.#next, Date.now()), label, text};
    this.#next = item.id + 1;
    this.#items.unshift(item);
    this.#write((files) => files.put({label, text}, item.id));
    for (const old of this.#items.slice(MOST)) this.remove(old.id);
    return item;
  }

  remove(id) {
    this.#items = this.#items.filter((item) => item.id !== id);
    this.#write((files) => files.delete(id));
  }

  #write(act) {
    try {
      if (this.#database) act(this.#database.transaction(STORE, "readwrite").objectStore(STORE));
    } catch { /* full or gone: it stays as long as the page */ }
  }
}

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

function opened(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
}
