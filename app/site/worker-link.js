// The worker in which Python runs: starts it, shows how far it is, and starts it again when that failed.

/** Starts `worker.js` and hands its messages to `handlers`, an object of functions by message type. */
export class WorkerLink {
  constructor(url, handlers) {
    this.url = url;
    this.handlers = handlers;
    this.worker = null;
  }

  start(init) {
    this.stop();
    const worker = new Worker(this.url, {type: "module", name: "python"});
    this.worker = worker;
    worker.onmessage = ({data}) => {
      if (this.worker === worker) this.handlers[data.type]?.(data);
    };
    worker.onerror = (event) => {
      event.preventDefault?.();
      if (this.worker === worker) {
        this.handlers.error?.({stage: "worker", message: event.message || "The file worker.js, or one that it needs, did not load."});
      }
    };
    worker.postMessage({type: "init", ...init});
  }

  send(message) {
    this.worker?.postMessage(message);
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }
}

/** "4.1 of 10.1 MB", or "" where there is nothing to count. */
export function bytesText(loaded, total) {
  if (!total) return "";
  const mb = (n) => (n / 1e6).toFixed(1);
  return `${mb(Math.min(loaded, total))} of ${mb(total)} MB`;
}
