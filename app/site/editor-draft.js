// The trace that was edited last, kept in this browser: a closed tab takes no work along.

/** What may be kept: beyond it the browser's storage would soon be full. */
const MOST = 500_000; // characters

export class Draft {
  #timer = 0;
  #text = null; // what is not kept yet

  /** @param {string} key of the browser's storage */
  constructor(key) {
    this.key = key;
    window.addEventListener("pagehide", () => this.#write()); // a tab that is closed at once takes nothing along either
  }

  /** Keep `text`, a trace file with whatever is wrong in it. */
  keep(text) {
    this.#text = text;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), 400);
  }

  #write() {
    const text = this.#text;
    this.#text = null;
    try {
      if (text !== null && text.length <= MOST) localStorage.setItem(this.key, text);
    } catch { /* blocked or full: then it lasts as long as the page */ }
  }

  /** @returns {string|null} */
  read() {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return null;
    }
  }
}
