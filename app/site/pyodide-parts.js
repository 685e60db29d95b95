// Starts Pyodide from parts that are handed in, so that it fetches nothing by itself.

const PAGE = 65536; // bytes of a page of WebAssembly memory

/** What Pyodide asks for by name; the addresses only have to be told apart. */
const STDLIB = "/stdlib.zip";
const LOCK = "pyodide-lock.json";

async function module(url) {
  try {
    return await import(url);
  } catch (error) {
    throw new Error(`The file ${url.split("/").pop()} could not be loaded: ${error?.message ?? error}`);
  }
}

/**
 * @param {object} parts {runtime: URL of the runtime's folder, wasm: WebAssembly.Module, stdlib: what a Response takes,
 *   lock: text}, each but the first also as a promise; and `image`, as snapshot.js opens it, or none
 * @param {object} options {memory: bytes that Python may use at most, …as loadPyodide takes them}
 * @returns Pyodide; rejects with the failure of a part, for which Pyodide itself would wait for ever
 */
export async function load({ runtime, wasm, stdlib, lock, image = null }, { memory = Infinity, ...options } = {}) {
  // The engine is a script that Pyodide would import itself, but only after it has started.
  const [{ loadPyodide }] = await Promise.all([module(`${runtime}pyodide.mjs`), module(`${runtime}pyodide.asm.js`)]);
  const { fetch: browserFetch } = self;
  const { instantiateStreaming, instantiate, Memory } = WebAssembly;
  let fail;
  const failure = new Promise((_, reject) => { fail = reject; });
  for (const part of [wasm, stdlib, lock]) Promise.resolve(part).catch(fail);
  self.fetch = async (resource) => {
    const url = String(resource?.url ?? resource);
    if (url.endsWith(STDLIB)) return new Response(await stdlib);
    if (url.endsWith(LOCK)) return new Response(await lock);
    if (url.endsWith(".wasm")) return new Response();
    throw new Error(`${url} is none of the parts that Python starts from.`);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    try {
      const engine = await wasm;
      const instance = await instantiate(engine, imports);
      image?.complete(imports.env.memory);
      return { module: engine, instance };
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  WebAssembly.Memory = function ({ initial, maximum }) {
    return new Memory({ initial, maximum: Math.min(maximum, memory / PAGE) });
  };
  const given = { indexURL: runtime, stdLibURL: runtime + STDLIB, ...options };
  if (image) given._loadSnapshot = image.bytes;
  try {
    return await Promise.race([loadPyodide(given), failure]);
  } finally {
    failure.catch(() => {});
    self.fetch = browserFetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
    WebAssembly.Memory = Memory;
  }
}
