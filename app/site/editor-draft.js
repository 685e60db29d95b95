// The trace that was edited last, kept in this browser: a closed tab takes no work along.

/** What may be kept: beyond it the browser's storage would soon be full. */
const MOST = 500_000; // characters

export class Draft {
  #timer = 0;

  /** @param {string} key of the browser's storage */
  constructor(key) {
    this.key = key;
  }

  /** Keep `text`, a trace file with whatever is wrong in it. */
  keep(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      try {
        if (text.length <= MOST) localStorage.setItem(this.key, text);
      } catch { /* blocked or full: then it lasts as long as the page */ }
    }, 400);
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
