// Starts the app's Python: from the snapshot of its memory, or the ordinary way where that cannot be done.

import { load } from "./pyodide-parts.js";
import { Damaged, open, settle } from "./snapshot.js";
import { unpack } from "./unpack.js";

const STDLIB = "/lib/python312.zip"; // where Python looks for it
const SITE_PACKAGES = "/lib/python3.12/site-packages";

/** A synchronous request: only for modules that are imported late, while Python waits. */
export function readNow(url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`the server answered ${request.status}`);
  return new Uint8Array(request.response);
}

/**
 * @param config the site's: `snapshot` and `plain` are {path: bytes} of what is fetched for the one way and the other
 * @param url (kind, file) => address
 * @param needed a promise of what is fetched besides, without which Python need not start
 * @param onWithout ({message, damaged: [address, …]}) hears why the snapshot was of no use
 * @returns {Promise<{pyodide: object, environment: object | null}>} `environment`: what Python, if it comes from the
 *   snapshot, is to be told of this machine
 */
export async function startPython(config, url, downloads, needed, onWithout) {
  const engine = {
    runtime: url("runtime", ""),
    wasm: downloads.compiled(url("runtime", "pyodide.asm.wasm")),
    lock: downloads.bytes(url("runtime", "pyodide-lock.json")),
  };
  const failure = new Promise((_, reject) => {
    for (const part of [engine.wasm, engine.lock, needed]) part.catch(reject);
  });
  failure.catch(() => {});
  const options = { stdout: (line) => console.log(line), stderr: (line) => console.warn(line) };
  const unlessFailed = (promise) => Promise.race([failure, promise]);
  const paths = Object.keys(config.snapshot); // in order
  if (paths.length) {
    downloads.expect(config.snapshot);
    const addresses = paths.map((path) => url("python", path.split("/").pop()));
    try {
      const image = open(await unlessFailed(Promise.all(addresses.map((address) => downloads.bytes(address)))));
      const pyodide = await unlessFailed(load({ ...engine, stdlib: new Blob(), image }, options));
      whenRead(pyodide.FS, STDLIB, () => readNow(url("python", "stdlib.zip")));
      return { pyodide, environment: settle(pyodide) };
    } catch (error) {
      await unlessFailed(null); // without the engine the other way leads nowhere either
      onWithout({ message: String(error?.message ?? error), damaged: error instanceof Damaged ? addresses : [] });
    }
  }
  downloads.expect(config.plain);
  const stdlib = downloads.bytes(url("python", "stdlib.zip"));
  const start = downloads.bytes(url("python", "start.zip"));
  start.catch(() => {});
  const pyodide = await unlessFailed(load({ ...engine, stdlib }, options));
  unpack(pyodide.FS, await start, SITE_PACKAGES);
  return { pyodide, environment: null };
}

/** Has a file of Emscripten's file system get its content from `read()`, when that is asked for first. */
function whenRead(FS, path, read) {
  const { node } = FS.lookupPath(path);
  const fill = () => {
    const contents = read();
    for (const [name, value] of Object.entries({ contents, usedBytes: contents.length })) {
      Object.defineProperty(node, name, { value, writable: true, configurable: true, enumerable: true });
    }
  };
  for (const name of ["contents", "usedBytes"]) {
    Object.defineProperty(node, name, {
      configurable: true,
      enumerable: true,
      get() {
        fill();
        return node[name];
      },
    });
  }
}
