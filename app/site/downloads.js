// Fetches the big files of a start side by side, counts their bytes as they arrive, and hands them to Pyodide.

const WASM = "application/wasm";

export class Downloads {
  /**
   * @param sizes {path: bytes} of everything that is to be counted
   * @param base what the paths are relative to
   * @param onProgress (loaded, total) in bytes, as decoded
   */
  constructor(sizes, base, onProgress) {
    this.sizes = new Map(Object.entries(sizes).map(([path, size]) => [new URL(path, base).href, size]));
    this.total = 0;
    this.loaded = 0;
    this.onProgress = onProgress;
    this.started = new Map();
    /** Rejects with the first failure; Pyodide itself would wait for ever. */
    this.failure = new Promise((_, reject) => { this.fail = reject; });
    this.failure.catch(() => {});
  }

  /** Begins to fetch the files; resolves when all are on their way. */
  async start(urls) {
    for (const url of urls) {
      const response = this.#fetch(url);
      response.catch(this.fail);
      this.started.set(url, response);
    }
    await Promise.all(this.started.values());
  }

  /** The whole content of a file. */
  async bytes(url) {
    const response = await this.#fetch(url);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Runs `action` while `fetch` hands out what was started; afterwards `fetch` is the browser's again. */
  async serving(action) {
    const original = self.fetch;
    self.fetch = (resource, options) => {
      const url = String(resource?.url ?? resource);
      const begun = this.started.get(url);
      this.started.delete(url); // a response can be read once
      return begun ?? original.call(self, resource, options);
    };
    try {
      return await action();
    } finally {
      self.fetch = original;
    }
  }

  async #fetch(url) {
    const name = url.split("/").pop();
    this.total += this.sizes.get(url) ?? 0;
    let response;
    try {
      response = await fetch(url);
    } catch {
      throw new Error(`The file ${name} could not be fetched: no connection to the lab's server.`);
    }
    if (!response.ok) throw new Error(`The file ${name} could not be fetched: the server answered ${response.status}.`);
    // Reading a copy to count its bytes leaves the browser free to keep what it compiled of the original.
    this.#count(response.clone().body).catch(() => this.fail(new Error(`The file ${name} arrived incomplete.`)));
    if (url.endsWith(".wasm") && response.headers.get("content-type") !== WASM) {
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
