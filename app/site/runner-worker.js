// The page's end of one learner's worker. Whatever comes from there is somebody's data: it is looked at, never trusted.

import { Deadline } from "./runner-clock.js";

const MEMORY = 256 * 1024 * 1024; // bytes that Python may use there; a browser never gives them back to the page
const LONGEST = 16 * 1024 * 1024; // characters of one message, and of all the parts of one request
const MOST_PARTS = 20_000;
const START_SECONDS = 90; // a phone that also starts the app
const ENDINGS = new Set(["memory", "exit", "signal", "recursion", "lost"]);

export class LearnerWorker {
  #worker;
  #port;
  #request = null; // {token, settle, onPart} of the request under way

  /** @param supply (port) => lets the judge's worker send over `port` what this one starts from */
  constructor(supply) {
    this.#worker = new Worker(new URL("learner.js", import.meta.url), { type: "module", name: "learner" });
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.ended = false;
    /** Resolves when a request can be sent; rejects with one sentence. */
    this.ready = new Promise((resolve, reject) => {
      const timer = setTimeout(() => refuse("The interpreter for your code did not start in time."), START_SECONDS * 1000);
      const refuse = (message) => {
        clearTimeout(timer);
        this.end();
        reject(new Error(message));
      };
      this.#worker.onerror = (event) => {
        event.preventDefault();
        refuse(event.message || "The interpreter for your code did not load.");
      };
      port1.onmessage = ({ data }) => {
        if (data?.type === "failed") return refuse(`The interpreter for your code did not start: ${data.message}`);
        if (data?.type !== "ready") return;
        clearTimeout(timer);
        // From now on an error there is the learner's, and is told by who asked.
        this.#worker.onerror = (event) => event.preventDefault();
        port1.onmessage = (event) => this.#hear(event.data);
        resolve(this);
      };
    });
    this.ready.catch(() => {});
    const parts = new MessageChannel();
    supply(parts.port1);
    this.#worker.postMessage({ memory: MEMORY }, [parts.port2, port2]);
  }

  /**
   * Sends one request; resolves with {answer: text}, or {ended, detail} as lab.grading.reply has it.
   * @param onPart hears of the texts that are told before the answer; each gives the request its full time again
   * @param seconds the deadline; past it this worker is ended. `most` bounds the whole where parts extend the deadline
   */
  ask(kind, args, { seconds, most = seconds, onPart = null }) {
    if (this.ended) return Promise.resolve({ ended: "lost" });
    return new Promise((resolve) => {
      const token = crypto.getRandomValues(new Uint32Array(4)).join("-");
      const late = () => this.end({ ended: "time", detail: seconds });
      const deadline = new Deadline(seconds, late);
      const whole = most > seconds ? new Deadline(most, () => this.end({ ended: "time", detail: most })) : null;
      let parts = 0;
      let room = LONGEST;
      this.#request = {
        token,
        settle: (reply) => {
          this.#request = null;
          deadline.clear();
          whole?.clear();
          resolve(reply);
        },
        onPart: (text) => {
          if (!onPart || ++parts > MOST_PARTS || (room -= text.length) < 0) return;
          onPart(text);
          if (whole) deadline.again();
        },
      };
      this.#port.postMessage({ token, kind, args });
    });
  }

  #hear(data) {
    const request = this.#request;
    if (!request || typeof data !== "object" || data === null || data.token !== request.token) return;
    const { type, text, ended, detail } = data;
    const sound = typeof text === "string" && text.length <= LONGEST;
    if (type === "part" && sound) request.onPart(text);
    else if (type === "answer" && sound) request.settle({ answer: text });
    else if (type === "ended" && ENDINGS.has(ended)) {
      this.end({ ended, detail: ended === "exit" && Number.isInteger(detail) ? detail : null });
    }
  }

  /** Ends the worker at once, whatever it is doing. A request under way gets `reply`. */
  end(reply = { ended: "lost" }) {
    if (this.ended) return;
    this.ended = true;
    this.#worker.terminate();
    this.#port.close();
    this.#request?.settle(reply);
  }
}
