// The page's end of the judge's worker: calls by name, answered in order.

const START_SECONDS = 90;
const CALL_SECONDS = 60; // judging takes milliseconds; past this the judge itself is broken

export class JudgeLink {
  #worker = null;
  #calls = new Map();
  #count = 0;

  constructor(config, base) {
    this.config = config;
    this.base = base;
    this.#reset();
  }

  #reset() {
    this.#worker?.terminate();
    this.#worker = null;
    this.started = null;
    for (const { reject } of this.#calls.values()) reject(new Error("The judge was stopped."));
    this.#calls.clear();
  }

  /** {supply, ready}: promises of a function that supplies a learner's worker, and of the judge being ready. */
  start() {
    this.started ??= this.#begin();
    return this.started;
  }

  #begin() {
    const worker = new Worker(new URL("judge.js", import.meta.url), { type: "module", name: "judge" });
    this.#worker = worker;
    const supply = withResolvers();
    const ready = withResolvers();
    const fail = (message) => {
      clearTimeout(timer);
      if (this.#worker !== worker) return;
      const error = new Error(message);
      supply.reject(error);
      ready.reject(error);
      this.#reset();
    };
    const timer = setTimeout(() => fail("The judge did not start in time."), START_SECONDS * 1000);
    for (const { promise } of [supply, ready]) promise.catch(() => {});
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || "The judge did not load.");
    };
    const take = {
      parts: () => supply.resolve((port) => worker.postMessage({ type: "supply" }, [port])),
      ready: () => {
        clearTimeout(timer);
        ready.resolve();
      },
      failed: (data) => fail(data.message),
      answer: ({ id, text }) => this.#settle(id)?.resolve(JSON.parse(text)),
      refused: ({ id, message }) => this.#settle(id)?.reject(new Error(message)),
    };
    worker.onmessage = ({ data }) => take[data.type]?.(data);
    worker.postMessage({ type: "init", config: this.config, base: this.base });
    return { supply: supply.promise, ready: ready.promise };
  }

  #settle(id) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    clearTimeout(call?.timer);
    return call;
  }

  /** What the judge answers; rejects with one sentence if it refuses. */
  async call(method, ...args) {
    await this.start().ready;
    return new Promise((resolve, reject) => {
      const id = ++this.#count;
      const timer = setTimeout(() => this.#reset(), CALL_SECONDS * 1000);
      this.#calls.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ type: "call", id, method, args });
    });
  }

  close() {
    this.#reset();
  }
}

function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
