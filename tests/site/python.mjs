// Starts the built site's Python under Node as the page's worker does, from the site's own archives.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [site, work, answerFile, ...rest] = process.argv.slice(2);
const folder = (kind) => `${site}/${readdirSync(site).find((name) => name.startsWith(`${kind}-`))}/`;

export const args = rest;
export const SITE_PACKAGES = "/lib/python3.12/site-packages";
export const config = { folders: { vendor: "vendor-x/" } };

/** Bytes of a file in the site's folder of that kind. */
export const file = (kind, name) => new Uint8Array(readFileSync(folder(kind) + name));

/** Pyodide with what a start loads; `main` (a path) takes the place of the app's own module, if given. */
export async function python(main) {
  globalThis.XMLHttpRequest ??= class XMLHttpRequest {};
  const { unpack } = await import(pathToFileURL(`${work}/unpack.mjs`));
  const { loadPyodide } = await import(pathToFileURL(`${folder("runtime")}pyodide.mjs`));
  const pyodide = await loadPyodide({ indexURL: folder("runtime"), stdLibURL: `${folder("python")}stdlib.zip` });
  unpack(pyodide.FS, file("python", "start.zip"), SITE_PACKAGES);
  unpack(pyodide.FS, file("lab", "app.zip"), SITE_PACKAGES);
  if (main) {
    pyodide.FS.unlink(`${SITE_PACKAGES}/app/page/main.pyc`);
    pyodide.FS.writeFile(`${SITE_PACKAGES}/app/page/main.py`, readFileSync(main));
  }
  return pyodide;
}

/** Runs `main` and writes what it returns as JSON; a failure prints its message, not the minified line it came from. */
export async function answer(main) {
  try {
    writeFileSync(answerFile, JSON.stringify(await main()));
  } catch (error) {
    console.error(error?.message ?? error);
    process.exit(1);
  }
  process.exit(0);
}
