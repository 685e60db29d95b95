// The worker in which a learner's code runs: a bare Python, shut off from the browser, that serves one ask and is ended.
//
// page → worker, once: {memory} and two ports: one to the judge's worker, over which come {runtime, wasm, stdlib, lock,
//                archive}, once, and one to the page, over which goes all else:
// page → worker: {token, kind, args}      kind: a method of app.page.learner.Host; args: texts
// worker → page: {type: "ready"} | {type: "failed", message}, then for each request
//                {type: "part", token, text}…, {type: "answer", token, text} | {type: "ended", token, ended, detail}
// The port and the token live in this module alone, so learner code has no name for them: it cannot answer for us, and
// a message that does not carry the token of the request under way is none. What is used after learner code has run was
// taken hold of before, so that a prototype changed by it is not asked.

import { startPython } from "./bare-python.js";
import { forbidCodeFromText, seal } from "./learner-seal.js";

/** Methods that tell of what happens before they answer. */
const TELLING = new Set(["replay", "execute"]);
const MOST_PARTS = 20_000;
const LONGEST = 16 * 1024 * 1024; // characters of all that one request may send
const KINDS = ["open", "prepare", "run", ...TELLING];

/** After these modules have been imported once, learner code finds none of their names. */
const HIDE = `
import sys
from pyodide.ffi import unregister_js_module
from app.page.learner import host

HIDDEN = ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core", "micropip")

class Hidden:
    """Says of the bridge to JavaScript what is true of every other package: it is not there."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

unregister_js_module("js")
unregister_js_module("pyodide_js")
for name in [name for name in sys.modules if name.partition(".")[0] in HIDDEN]:
    del sys.modules[name]
sys.meta_path.insert(0, Hidden)
host()
`;

const dataOf = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data").get;
const { apply } = Reflect;

self.addEventListener("message", begin, { once: true });

async function begin(event) {
  const { memory } = event.data;
  const [supply, port] = event.ports;
  const post = port.postMessage.bind(port);
  const { archive, ...parts } = await supplied(supply);
  supply.close();
  let methods;
  forbidCodeFromText(self);
  try {
    const pyodide = await startPython(parts, archive, { memory, js: Object.create(null) });
    const host = pyodide.runPython(HIDE, { globals: pyodide.toPy({}) });
    methods = Object.fromEntries(KINDS.map((kind) => [kind, host[kind]]));
  } catch (error) {
    post({ type: "failed", message: String(error?.message ?? error).trim().split("\n").at(-1) });
    return;
  }
  seal(self);
  port.onmessage = (message) => take(apply(dataOf, message, []));
  post({ type: "ready" });

  function take({ token, kind, args }) {
    let parts = 0;
    let room = LONGEST;
    const tell = (text) => {
      if (typeof text !== "string" || ++parts > MOST_PARTS || (room -= text.length) < 0) return;
      post({ type: "part", token, text });
    };
    let reply;
    try {
      const text = TELLING.has(kind) ? methods[kind](...args, tell) : methods[kind](...args);
      const sound = typeof text === "string" && text.length <= LONGEST;
      reply = sound ? { type: "answer", token, text } : { type: "ended", token, ended: "lost" };
    } catch (error) {
      reply = { type: "ended", token, ...ending(error) };
    }
    post(reply);
  }
}

/** What the judge's worker gives, asked for again when the browser could not deliver it. */
function supplied(port) {
  return new Promise((resolve) => {
    const ask = () => port.postMessage("parts");
    port.onmessage = ({ data }) => resolve(data);
    port.onmessageerror = () => setTimeout(ask, 50);
    ask();
  });
}

/** How Python ended, from what came out of it instead of an answer. */
function ending(error) {
  try {
    if (error.name === "ExitStatus" || error.name === "Exit") return { ended: "exit", detail: Number(error.status ?? 0) };
    if (error.name === "PythonError" && error.type === "MemoryError") return { ended: "memory" };
    // The browser's stack ran out where Python did not count: in its C parts. Firefox has a name of its own for that.
    if (error.name === "RangeError" || error.name === "InternalError") return { ended: "recursion" };
    if (error.name === "RuntimeError") return { ended: "signal" };
  } catch {
    // An error that cannot even be looked at.
  }
  return { ended: "lost" };
}
