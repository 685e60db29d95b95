// Fetches the big files of a start side by side, and counts their bytes as they arrive.

const WASM = "application/wasm";

export class Downloads {
  /**
   * @param sizes {path: bytes, as decoded} of the files that are counted
   * @param base what the paths are relative to
   * @param onProgress (loaded, total) in bytes
   */
  constructor(sizes, base, onProgress) {
    this.base = base;
    this.sizes = new Map();
    this.loaded = 0;
    this.onProgress = onProgress;
    this.expect(sizes);
  }

  /** These are counted as well. */
  expect(sizes) {
    for (const [path, size] of Object.entries(sizes)) this.sizes.set(new URL(path, this.base).href, size);
  }

  get total() {
    return [...this.sizes.values()].reduce((sum, size) => sum + size, 0);
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

  /** The WebAssembly in a file, compiled while it arrives. */
  async compiled(url) {
    const response = await this.#fetch(url);
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (error) {
      throw error instanceof WebAssembly.CompileError ? error : incomplete(url);
    }
  }

  async #fetch(url) {
    let response;
    try {
      response = await fetch(url, {priority: "low"}); // the page's own files are small, and what is seen first
    } catch {
      throw new Error(`The file ${nameOf(url)} could not be fetched: there is no connection to the lab's server.`);
    }
    if (!response.ok) throw new Error(`The file ${nameOf(url)} could not be fetched: the server answered ${response.status}.`);
    if (this.sizes.has(url)) {
      // Reading a copy leaves the original as it came, so the browser may keep what it compiles of it.
      this.#count(response.clone().body).catch(() => {}); // who reads the original is told
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
