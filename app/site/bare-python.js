// Starts a bare Pyodide in a worker from parts that are handed in, so that nothing has to be fetched for it.

import { unpack } from "./unpack.js";

const SITE_PACKAGES = "/lib/python3.12/site-packages";
const PAGE = 65536; // bytes of a page of WebAssembly memory
const LARGEST = 4 * 1024 ** 3;

/** What Pyodide asks for by name; the addresses only have to be told apart. */
const STDLIB = "/stdlib.zip";
const LOCK = "pyodide-lock.json";

/**
 * @param parts {runtime: URL of the runtime's folder, wasm: WebAssembly.Module, stdlib: Blob, lock: text}
 * @param archive Blob: a zip of ours, to be unpacked into site-packages
 * @param memory bytes that Python may use at most; `js` what `import js` gives
 * @returns Pyodide
 */
export async function startPython({ runtime, wasm, stdlib, lock }, archive, { memory = LARGEST, js = globalThis } = {}) {
  // Both are scripts of this site. The second is one that Pyodide would ask for itself, but later.
  const [{ loadPyodide }, contents] = await Promise.all([
    import(`${runtime}pyodide.mjs`),
    archive.arrayBuffer(),
    import(`${runtime}pyodide.asm.js`),
  ]);
  const { fetch: browserFetch } = self;
  const { instantiateStreaming, instantiate, Memory } = WebAssembly;
  self.fetch = async (resource) => {
    const url = String(resource?.url ?? resource);
    if (url.endsWith(STDLIB)) return new Response(stdlib);
    if (url.endsWith(LOCK)) return new Response(lock);
    if (url.endsWith(".wasm")) return new Response();
    throw new Error(`${url} is none of the parts that Python starts from.`);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => ({ module: wasm, instance: await instantiate(wasm, imports) });
  WebAssembly.Memory = function ({ initial, maximum }) {
    return new Memory({ initial, maximum: Math.min(maximum, memory / PAGE) });
  };
  let pyodide;
  try {
    pyodide = await loadPyodide({
      indexURL: runtime,
      stdLibURL: runtime + STDLIB,
      jsglobals: js,
      stdin: () => null,
      stdout: () => {}, // also what Pyodide itself has to say, which would go to the console
      stderr: () => {},
    });
    // Written to no one, and kept nowhere: Pyodide's own way would collect a line that never ends.
    for (const set of [pyodide.setStdout, pyodide.setStderr]) set({ write: (bytes) => bytes.length });
  } finally {
    self.fetch = browserFetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
    WebAssembly.Memory = Memory;
  }
  unpack(pyodide.FS, new Uint8Array(contents), SITE_PACKAGES);
  return pyodide;
}
