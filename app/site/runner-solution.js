// One solution during one ask: in one interpreter for as long as that lives, and in the next after it was lost.

export class Solution {
  #pool;
  #seconds;
  #open;
  #worker = null;
  #closed = false;

  /** @param open the arguments of Host.open */
  constructor(pool, seconds, open) {
    this.#pool = pool;
    this.#seconds = seconds;
    this.#open = open;
  }

  /** The reply to one request; see LearnerWorker.ask. An interpreter that gave none is not used again. */
  async ask(kind, args = [], options = {}) {
    const limits = { seconds: this.#seconds, ...options };
    let reply = null;
    if (!this.#worker) {
      const worker = await this.#pool.take();
      if (this.#closed) {
        this.#pool.release(worker);
        return { ended: "lost" };
      }
      this.#worker = worker;
      reply = await worker.ask("open", this.#open, { seconds: this.#seconds });
      // Nothing of the learner's has run yet: compiling it was too much for the browser's stack.
      if (reply.ended === "recursion" || reply.ended === "signal") reply = { ended: "deep" };
    }
    if (!reply?.ended) reply = await this.#worker.ask(kind, args, limits);
    if (reply.ended) this.renew();
    return reply;
  }

  /** What comes next gets another interpreter. */
  renew() {
    if (!this.#worker) return;
    this.#pool.release(this.#worker);
    this.#worker = null;
  }

  close() {
    this.#closed = true;
    this.renew();
  }
}
