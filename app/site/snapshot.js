// Python's memory as the builder left it, after it had imported Panel and Bokeh: app/build/snapshot.mjs says what is in
// the files. It is taken only whole and unchanged; whoever starts Python has another way when it is not.

const SIGNATURE = 0x31534c53;
const HEADER = 5; // words

/**
 * @param {Uint8Array[]} parts the files, in order
 * @returns {{bytes: Uint8Array, complete: (memory: WebAssembly.Memory) => void}} `bytes`: what loadPyodide takes as
 *   _loadSnapshot; `complete` is to be called with the memory of the engine, before any of its code has run
 * @throws {Error} in one sentence, if a single bit is not as it was
 */
export function open(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const part of parts) {
    bytes.set(part, filled);
    filled += part.length;
  }
  const words = bytes.length % 4 || bytes.length < 4 * (HEADER + 1) ? null : new Uint32Array(bytes.buffer);
  if (!words || words[0] !== SIGNATURE || sumOf(words) !== words[words.length - 1]) {
    throw new Damaged("The snapshot of Python is not as it was made.");
  }
  const [, total, at, known, pieces] = words;
  const image = new Uint32Array(total / 4);
  let from = HEADER + 2 * pieces;
  for (let i = 0; i < pieces; i++) {
    const [to, length] = words.subarray(HEADER + 2 * i, HEADER + 2 * i + 2);
    image.set(words.subarray(from, from + length), to);
    from += length;
  }
  return {
    bytes: new Uint8Array(image.buffer),
    complete(memory) {
      const fresh = new Uint32Array(memory.buffer, 0, known / 4);
      for (let i = 0, to = at / 4; i < fresh.length; i++, to++) image[to] ^= fresh[i];
    },
  };
}

/**
 * Tells the C library what it asks a browser only once, which was on another machine: the time zone.
 * @returns {object} the variables of the environment that this machine would have set
 */
export function settle({ _module: module }) {
  const { HEAPU32, _timezone, _daylight, _tzname } = module;
  module.__tzset_js(_timezone, _daylight, ...HEAPU32.subarray(_tzname >> 2, (_tzname >> 2) + 2));
  return { LANG: `${(globalThis.navigator?.languages?.[0] ?? "C").replace("-", "_")}.UTF-8` };
}

/** Each step can be undone, so that one changed word always changes the sum. */
function sumOf(words) {
  let sum = 0;
  for (let i = 0; i < words.length - 1; i++) sum = Math.imul(sum ^ words[i], 0x01000193);
  return sum >>> 0;
}

/** The files came, but they are not what was sent. */
export class Damaged extends Error {}
