// Takes from a worker everything of the browser that Python does not need, before a learner's code runs in it.
//
// What is kept is listed, and all else goes: from the global object, and from the prototypes that it inherits from. The
// policy that the server sends with learner.js forbids connections and code from text as well; this holds where a host
// sends no such header, and is the only wall for what no policy speaks of (storage, channels, the console).
//
// Two steps: `forbidCodeFromText` before Python is loaded, so that nothing of it keeps hold of the means; `seal` after.

/** JavaScript's own names, and the few of the browser's that Python's clock, timers and random numbers use. */
const KEPT = new Set([
  ...["Object", "Array", "Boolean", "Number", "String", "Symbol", "BigInt", "Math", "Date", "RegExp", "JSON", "Reflect"],
  ...["Proxy", "Promise", "Map", "Set", "WeakMap", "WeakSet", "WeakRef", "FinalizationRegistry", "Intl", "Iterator"],
  ...["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"],
  ...["ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array"],
  ...["Int32Array", "Uint32Array", "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"],
  ...["Atomics", "WebAssembly", "globalThis", "undefined", "NaN", "Infinity"],
  ...["Function", "isFinite", "isNaN", "parseFloat", "parseInt", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent"],
  ...["console", "crypto", "performance", "queueMicrotask", "setTimeout", "clearTimeout", "TextDecoder", "TextEncoder"],
]);

/** @returns the names that this browser would not let go */
export function seal(scope) {
  // An error that nobody catches is the learner's affair, not the page's.
  for (const type of ["error", "unhandledrejection"]) scope.addEventListener(type, (event) => event.preventDefault());
  silenceConsole(scope);
  const left = [];
  for (let part = scope; part && part !== Object.prototype; part = Object.getPrototypeOf(part)) {
    for (const name of Object.getOwnPropertyNames(part)) {
      if (part !== scope && (name === "constructor" || Object.hasOwn(scope, name))) remove(part, name);
      else if (!KEPT.has(name) && !remove(part, name)) left.push(name);
    }
  }
  return left;
}

function remove(part, name) {
  try {
    if (Reflect.deleteProperty(part, name)) return true;
    return Reflect.defineProperty(part, name, { value: undefined, writable: false });
  } catch {
    return false;
  }
}

/** Takes the ways away to make code of text. Every function knows its constructor, which is one of them. */
export function forbidCodeFromText(scope) {
  const refuse = function Function() {
    throw new TypeError("Code cannot be made of text here.");
  };
  refuse.prototype = Function.prototype; // for `instanceof`
  for (const kind of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    Object.defineProperty(Object.getPrototypeOf(kind), "constructor", { value: refuse, writable: false, configurable: false });
  }
  scope.Function = refuse;
  scope.eval = refuse;
  const later = scope.setTimeout;
  scope.setTimeout = (action, ...rest) => (typeof action === "function" ? later(action, ...rest) : 0);
}

/** The console belongs to the page: what is written there costs the page time. */
function silenceConsole(scope) {
  const silent = {};
  for (const name of Object.keys(scope.console)) silent[name] = () => {};
  Object.defineProperty(scope, "console", { value: Object.freeze(silent), writable: false, configurable: false });
}
