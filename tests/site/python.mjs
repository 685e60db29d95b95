// Starts the built site's Python under Node as the page's worker does, from the site's own archives.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [site, workFolder, answerFile, ...rest] = process.argv.slice(2);
const folder = (kind) => `${site}/${readdirSync(site).find((name) => name.startsWith(`${kind}-`))}/`;

export const args = rest;
export const work = workFolder;
export const SITE_PACKAGES = "/lib/python3.12/site-packages";
export const config = { folders: { vendor: `${readdirSync(site).find((name) => name.startsWith("vendor-"))}/` } };

/** Bytes of a file in the site's folder of that kind. */
export const file = (kind, name) => new Uint8Array(readFileSync(folder(kind) + name));

/** The files of the snapshot, in order. */
export const snapshotFiles = () =>
  readdirSync(folder("python")).filter((name) => name.endsWith(".bin")).sort().map((name) => file("python", name));

/**
 * Pyodide with what a start loads. `main` (a path) takes the place of the app's own module, if given; `image`: a snapshot
 * to start from, as snapshot.js opens it, if given.
 */
export async function python(main, image) {
  globalThis.XMLHttpRequest ??= class XMLHttpRequest {};
  const { unpack } = await import(pathToFileURL(`${work}/unpack.mjs`));
  const { loadPyodide } = await import(pathToFileURL(`${folder("runtime")}pyodide.mjs`));
  const { instantiate } = WebAssembly;
  if (image) {
    WebAssembly.instantiate = async (code, imports) => {
      const made = await instantiate(code, imports);
      image.complete(imports.env.memory);
      return made;
    };
  }
  const from = image ? { _loadSnapshot: image.bytes } : {};
  const pyodide = await loadPyodide({ indexURL: folder("runtime"), stdLibURL: `${folder("python")}stdlib.zip`, _sysExecutable: "./this.program", ...from });
  WebAssembly.instantiate = instantiate;
  if (!image) unpack(pyodide.FS, file("python", "start.zip"), SITE_PACKAGES);
  unpack(pyodide.FS, file("python", "data.zip"), SITE_PACKAGES);
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
