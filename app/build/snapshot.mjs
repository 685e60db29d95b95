// node snapshot.mjs RUNTIME JOB UNPACK: the memory of a Python that has imported the packages, as JOB/snapshot.bin.
// JOB/stdlib.zip and JOB/start.zip are what to start from, JOB/job.json is {vendor, modules}.
//
// The file is made of 32-bit words: SIGNATURE, bytes of the whole image, where the memory begins in it, bytes of
// `fresh`, how many pieces, then for each piece its place in the image and its length in words, then the pieces, then a
// sum over all words before. The image is Pyodide's own, but that its memory is told as the difference (exclusive or) from
// that of an interpreter that has not started yet, of which every browser has a copy in the engine; what is zero is left out.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { run, start } from "./script.mjs";

const SIGNATURE = 0x31534c53;
const PROGRAM = "./this.program"; // what Python takes itself for in a browser
const GAP = 256; // words of zeros from which on they are left out

const [runtime, job, unpackPath] = process.argv.slice(2);

/** Nothing of this machine's clock and chance gets into the image, so that the same packages give the same bytes. */
function standStill() {
  let now = 1_000_000_000_000;
  Date.now = () => now++; // Python tells by the time of a folder whether it has changed
  globalThis.Date = class extends Date {
    constructor(...args) {
      super(...(args.length ? args : [now++]));
    }
  };
  performance.now = () => 1;
  let seed = 1;
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 16;
    return array;
  };
}

/** What the memory holds before anything has run: the engine's own constants. */
function watchFresh() {
  const watched = { bytes: null };
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (code, imports) => {
    const made = await instantiate(code, imports);
    watched.bytes ??= new Uint8Array(imports.env.memory.buffer.slice(0));
    return made;
  };
  return watched;
}

function packed(image, fresh) {
  const words = new Uint32Array(image.slice(0, image.length & ~3).buffer);
  const at = words[1] / 4; // as Pyodide writes it
  const same = new Uint32Array(fresh.buffer, 0, fresh.length >> 2);
  let known = same.length;
  while (known && !same[known - 1]) known--;
  for (let i = 0; i < known; i++) words[at + i] ^= same[i];
  const pieces = [];
  for (let i = 0; i < words.length;) {
    while (i < words.length && !words[i]) i++;
    if (i === words.length) break;
    const from = i;
    let zeros = 0;
    for (; i < words.length && zeros < GAP; i++) zeros = words[i] ? 0 : zeros + 1;
    pieces.push([from, i - zeros - from]);
  }
  const content = pieces.reduce((sum, [, length]) => sum + length, 0);
  const out = new Uint32Array(5 + 2 * pieces.length + content + 1);
  out.set([SIGNATURE, 4 * words.length, 4 * at, 4 * known, pieces.length]);
  let to = 5;
  for (const piece of pieces) {
    out.set(piece, to);
    to += 2;
  }
  for (const [from, length] of pieces) {
    out.set(words.subarray(from, from + length), to);
    to += length;
  }
  let sum = 0;
  for (let i = 0; i < to; i++) sum = Math.imul(sum ^ out[i], 0x01000193);
  out[to] = sum >>> 0;
  return new Uint8Array(out.buffer);
}

await run(async () => {
  const { unpack } = await import(pathToFileURL(unpackPath));
  // A name that Panel takes from a browser's worker at import; nothing calls it.
  globalThis.XMLHttpRequest ??= class XMLHttpRequest {};
  const { vendor, modules } = JSON.parse(readFileSync(`${job}/job.json`, "utf8"));
  standStill();
  const fresh = watchFresh();
  const env = { HOME: "/home/pyodide", PYTHONHASHSEED: "0" };
  const pyodide = await start(runtime, { stdLibURL: `${job}/stdlib.zip`, env, _makeSnapshot: true, _sysExecutable: PROGRAM });
  const root = pyodide.runPython("import site; site.getsitepackages()[0]");
  unpack(pyodide.FS, new Uint8Array(readFileSync(`${job}/start.zip`)), root);
  const packages = pyodide.pyimport("app.page.packages");
  packages.make_ready_for_snapshot(vendor, pyodide.toPy(modules));
  packages.destroy();
  writeFileSync(`${job}/snapshot.bin`, packed(pyodide.makeMemorySnapshot(), fresh.bytes));
});
