// Questions to Python and their answers: each carries a serial number. And one question at a time, where only the newest counts.

export class Calls {
  #serial = 0;
  #open = new Map();

  /** @param {(name: string, data: object) => void} send  @param {() => string} silent why nothing can be asked now; "" when it can */
  constructor(send, silent = () => "") {
    this.send = send;
    this.silent = silent;
  }

  /** @returns {Promise<{name: string, data: object}>} the message that answers; rejects when Python cannot answer any more */
  call(name, data) {
    const why = this.silent();
    if (why) return Promise.reject(new Error(why));
    const serial = ++this.#serial;
    return new Promise((resolve, reject) => {
      this.#open.set(serial, {resolve, reject});
      this.send(name, {...data, serial});
    });
  }

  /** A message has come. @returns {boolean} whether it was an answer to one of ours */
  take(name, data) {
    const asked = this.#open.get(data?.serial);
    if (!asked) return false;
    this.#open.delete(data.serial);
    asked.resolve({name, data});
    return true;
  }

  /** Python has stopped: nothing that is open will be answered. */
  drop(why) {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const {reject} of open) reject(new Error(why));
  }
}

/** Runs `work(item)` for one item at a time; of those that come meanwhile only the newest is kept. */
export class Newest {
  #waiting = null;
  #busy = false;

  constructor(work) {
    this.work = work;
  }

  get busy() {
    return this.#busy;
  }

  async ask(item) {
    this.#waiting = {item};
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (this.#waiting) {
        const next = this.#waiting.item;
        this.#waiting = null;
        await this.work(next);
      }
    } finally {
      this.#busy = false;
    }
  }
}
