// Runs one thing at a time with the learner's code, and can stop it.

export class Run {
  #abort = null;

  /** @param {(busy: string|null) => void} changed told what is going on, or null */
  constructor(changed) {
    this.changed = changed;
    this.busy = null;
  }

  /**
   * @param {string} what is done: check, run, replay  @param {(signal: AbortSignal) => Promise<T>} action
   * @returns {Promise<{done: T}|{stopped: true}|{failed: string}>} never rejects
   * @template T
   */
  async start(what, action) {
    this.stop();
    const abort = this.#abort = new AbortController();
    this.busy = what;
    this.changed(what);
    try {
      const done = await action(abort.signal);
      return abort.signal.aborted ? {stopped: true} : {done};
    } catch (error) {
      if (abort.signal.aborted || error?.name === "AbortError") return {stopped: true};
      return {failed: error?.message || "The code could not be run."};
    } finally {
      if (this.#abort === abort) {
        this.#abort = null;
        this.busy = null;
        this.changed(null);
      }
    }
  }

  stop() {
    this.#abort?.abort();
  }
}
