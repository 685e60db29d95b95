// Fetches the big files of a start side by side, counts their bytes as they arrive, and hands them to Pyodide.

const WASM = "application/wasm";

export class Downloads {
  /**
   * @param sizes {path: bytes, as decoded} of the files that are counted
   * @param base what the paths are relative to
   * @param onProgress (loaded, total) in bytes
   */
  constructor(sizes, base, onProgress) {
    this.sizes = new Map(Object.entries(sizes).map(([path, size]) => [new URL(path, base).href, size]));
    this.total = [...this.sizes.values()].reduce((sum, size) => sum + size, 0);
    this.loaded = 0;
    this.onProgress = onProgress;
    this.started = new Map();
    /** Rejects with the first failure; Pyodide itself would wait for ever. */
    this.failure = new Promise((_, reject) => { this.fail = reject; });
    this.failure.catch(() => {});
  }

  /** Begins to fetch a file that Pyodide will ask for. */
  begin(url) {
    const response = this.#fetch(url);
    response.catch(this.fail);
    this.started.set(url, response);
  }

  /** A file, as it comes. */
  response(url) {
    return this.#fetch(url);
  }

  /** The whole content of a file. */
  async bytes(url) {
    const response = await this.#fetch(url);
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch {
      throw incomplete(url);
    }
  }

  /** Runs `action` while `fetch` hands out what was begun; afterwards `fetch` is the browser's again. */
  async serving(action) {
    const original = self.fetch;
    self.fetch = (resource, options) => {
      const url = String(resource?.url ?? resource);
      const begun = this.started.get(url);
      this.started.delete(url); // a response can be read once
      return begun ?? original.call(self, resource, options);
    };
    try {
      return await Promise.race([action(), this.failure]);
    } finally {
      self.fetch = original;
    }
  }

  async #fetch(url) {
    let response;
    try {
      response = await fetch(url);
    } catch {
      throw new Error(`The file ${nameOf(url)} could not be fetched: there is no connection to the lab's server.`);
    }
    if (!response.ok) throw new Error(`The file ${nameOf(url)} could not be fetched: the server answered ${response.status}.`);
    if (this.sizes.has(url)) {
      // Reading a copy leaves the original as it came, so the browser may keep what it compiles of it.
      this.#count(response.clone().body).catch(() => this.fail(incomplete(url)));
    }
    if (url.endsWith(".wasm") && response.headers.get("content-type") !== WASM) {
      // Some hosts do not know the type, and browsers compile nothing else while it arrives.
      return new Response(response.body, { headers: { "content-type": WASM } });
    }
    return response;
  }

  async #count(stream) {
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.loaded += part.value.byteLength;
      this.onProgress(Math.min(this.loaded, this.total), this.total);
    }
  }
}

const nameOf = (url) => url.split("/").pop();
const incomplete = (url) => new Error(`The file ${nameOf(url)} arrived incomplete.`);
