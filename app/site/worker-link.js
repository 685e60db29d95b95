// The worker in which Python runs: starts it, hears what it says, and starts it again when that failed.

const script = new URL("worker.js", import.meta.url);

let early = null;
let taken = false; // the page has started one of its own, or has taken over the early one

/** Starts `worker.js` ahead of the page, which takes it over by WorkerLink's first start; too late, it does nothing. */
export function startEarly(init) {
  if (!taken) early = begin(init);
}

/** A worker; what it says is kept until somebody sets `hear`. */
function begin(init) {
  const started = {worker: new Worker(script, {type: "module", name: "python"}), said: [], hear: null};
  const tell = (kind, event) => (started.hear ? started.hear(kind, event) : started.said.push([kind, event]));
  started.worker.onmessage = (event) => tell("message", event);
  started.worker.onerror = (event) => {
    event.preventDefault?.();
    tell("error", event);
  };
  started.worker.postMessage({type: "init", ...init});
  return started;
}

/** Hands the worker's messages to `handlers`, an object of functions by message type. */
export class WorkerLink {
  constructor(handlers) {
    this.handlers = handlers;
    this.worker = null;
  }

  start(init) {
    this.stop();
    const started = early ?? begin(init);
    early = null;
    taken = true;
    this.worker = started.worker;
    started.hear = (kind, event) => {
      if (this.worker === started.worker) this.#take(kind, event);
    };
    for (const said of started.said) started.hear(...said);
  }

  #take(kind, {data, message}) {
    if (kind === "message") this.handlers[data.type]?.(data);
    else this.handlers.error?.({stage: "worker", message: message || "The file worker.js, or one that it needs, did not load."});
  }

  send(message) {
    this.worker?.postMessage(message);
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }
}
