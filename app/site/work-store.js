// Keeps text in the browser's storage, or, where that is blocked or full, in memory until the page is closed.

export const BLOCKED = "blocked";
export const FULL = "full";

export class Store {
  #memory = new Map();
  #trouble = null;

  /** @param {(name: string) => string} key  the storage key of a name  @param {(trouble: string|null) => void} changed */
  constructor(key, changed = () => {}) {
    this.key = key;
    this.changed = changed;
    this.#probe();
  }

  /** null, BLOCKED or FULL: why something is kept in memory only. */
  get trouble() {
    return this.#trouble;
  }

  /** @returns {string|null} what is kept under `name`; memory is newer than storage wherever it has something */
  read(name) {
    if (this.#memory.has(name)) return this.#memory.get(name);
    return this.stored(name);
  }

  /** What the storage itself has, which another tab may have written. */
  stored(name) {
    try {
      return localStorage.getItem(this.key(name));
    } catch {
      return null;
    }
  }

  /** @returns {boolean} whether it is in the storage now, and not only in memory */
  write(name, text) {
    this.#memory.set(name, text);
    this.#settle();
    return !this.#memory.has(name);
  }

  remove(name) {
    this.#memory.delete(name);
    try {
      localStorage.removeItem(this.key(name));
    } catch { /* nothing was kept there */ }
    this.#settle();
  }

  /** What is kept under `name` as JSON; null where there is none, or where it cannot be read. */
  json(name) {
    const text = this.read(name);
    if (text === null) return null;
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  /** Try to bring everything that waits in memory into the storage: it may have room again. */
  #settle() {
    let trouble = null;
    for (const [name, text] of this.#memory) {
      try {
        localStorage.setItem(this.key(name), text);
        this.#memory.delete(name);
      } catch (error) {
        trouble = reason(error);
      }
    }
    this.#tell(trouble ?? (this.#trouble === BLOCKED ? BLOCKED : null));
  }

  #probe() {
    const name = this.key("probe");
    try {
      localStorage.setItem(name, "1");
      localStorage.removeItem(name);
    } catch (error) {
      this.#trouble = reason(error);
    }
  }

  #tell(trouble) {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.changed(trouble);
  }
}

function reason(error) {
  return error?.name === "QuotaExceededError" || error?.name === "NS_ERROR_DOM_QUOTA_REACHED" ? FULL : BLOCKED;
}
