// Starts a bare Pyodide in a worker from parts that are handed in, so that nothing has to be fetched for it.

import { load } from "./pyodide-parts.js";
import { unpack } from "./unpack.js";

const SITE_PACKAGES = "/lib/python3.12/site-packages";

/**
 * @param parts as for pyodide-parts.js
 * @param archive Blob: a zip of ours, to be unpacked into site-packages
 * @param memory bytes that Python may use at most; `js` what `import js` gives
 * @returns Pyodide
 */
export async function startPython(parts, archive, { memory, js = globalThis } = {}) {
  const contents = archive.arrayBuffer();
  const pyodide = await load(parts, {
    memory,
    jsglobals: js,
    stdin: () => null,
    stdout: () => {}, // also what Pyodide itself has to say, which would go to the console
    stderr: () => {},
  });
  // Written to no one, and kept nowhere: Pyodide's own way would collect a line that never ends.
  for (const set of [pyodide.setStdout, pyodide.setStderr]) set({ write: (bytes) => bytes.length });
  unpack(pyodide.FS, new Uint8Array(await contents), SITE_PACKAGES);
  return pyodide;
}
