// Interpreters in which no learner code has run yet. One that was taken is never given back.

import { LearnerWorker } from "./runner-worker.js";

export class Pool {
  #fresh = null;
  #closed = false;

  /**
   * @param supplier () => promise of a function that supplies a worker with what it starts from
   * @param spare whether one is made ready while another is in use
   */
  constructor(supplier, spare) {
    this.supplier = supplier;
    this.spare = spare;
    this.inUse = 0;
  }

  /** Makes one ready, if none is. */
  async warm() {
    if (this.#closed) throw new Error("This page is done with running code.");
    this.#fresh ??= this.#start();
    const fresh = this.#fresh;
    try {
      await fresh;
    } catch (error) {
      if (this.#fresh === fresh) this.#fresh = null; // the next call tries again
      throw error;
    }
  }

  async #start() {
    const worker = new LearnerWorker(await this.supplier());
    if (this.#closed) worker.end();
    return worker.ready;
  }

  /** A fresh interpreter, for the taker alone, who says `release` when it has ended. */
  async take() {
    await this.warm();
    const fresh = this.#fresh;
    this.#fresh = null;
    const worker = await fresh;
    if (worker.ended) return this.take();
    this.inUse += 1;
    if (this.spare) this.#prepare();
    return worker;
  }

  /** Ends what `take` gave. */
  release(worker) {
    worker.end();
    this.inUse -= 1;
    this.#prepare();
  }

  #prepare() {
    if (!this.#closed && (this.spare || this.inUse === 0)) this.warm().catch(() => {});
  }

  close() {
    this.#closed = true;
    this.#fresh?.then((worker) => worker.end(), () => {});
    this.#fresh = null;
  }
}
