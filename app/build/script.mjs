// What our Node scripts share.
import { pathToFileURL } from "node:url";

/** Runs `main` and ends the process: a failure prints what went wrong and not the minified line in which it did. */
export async function run(main) {
  try {
    await main();
  } catch (error) {
    console.error(error?.message ?? String(error));
    process.exit(1);
  }
  process.exit(0);
}

/** Pyodide from the folder `runtime`; `options` as for loadPyodide. */
export async function start(runtime, options = {}) {
  const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
  return loadPyodide({ indexURL: runtime, ...options });
}
