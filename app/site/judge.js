// The worker in which the judge runs: a bare Python with the whole of `lab`, in which no learner code ever runs.
//
// Why a worker of its own, and not the app's: a learner can check code before Panel has started, while the app is busy with
// a long replay, and also when Panel could not start at all. It costs some 40 MB and half a second, once.
// It also fetches and compiles what every learner's worker starts from, and hands it to them, so that those need no
// connection. (It does not go by way of the page, which may not even hold WebAssembly: Firefox asks the page's policy.)
//
// page → worker: {type: "init", config, base}, {type: "supply"} and a port to a learner's worker,
//                {type: "call", id, method, args}    method: one of app.page.judge.Judge
// worker → page: {type: "parts"} (it can supply), {type: "ready"} (it can judge), {type: "failed", message},
//                {type: "answer", id, text} | {type: "refused", id, message}

import { startPython } from "./bare-python.js";
import { Downloads } from "./downloads.js";

let judge = null;
let supplies = null;

async function start({ config, base }) {
  const url = (kind, file) => new URL(config.folders[kind] + file, base).href;
  const downloads = new Downloads({}, base, () => {});
  const blob = async (address) => new Blob([await downloads.bytes(address)]);
  const wasm = downloads.compiled(url("runtime", "pyodide.asm.wasm"));
  const [module, stdlib, lock, learner, app] = await Promise.all([
    wasm,
    blob(url("python", "stdlib.zip")),
    blob(url("runtime", "pyodide-lock.json")).then((content) => content.text()),
    blob(url("lab", "learner.zip")),
    blob(url("lab", "app.zip")),
  ]);
  const parts = { runtime: url("runtime", ""), wasm: module, stdlib, lock };
  supplies = { ...parts, archive: learner };
  self.postMessage({ type: "parts" });
  const pyodide = await startPython(parts, app);
  judge = pyodide.pyimport("app.page.judge").Judge();
  self.postMessage({ type: "ready" });
}

const lastLine = (error) => String(error?.message ?? error).trim().split("\n").at(-1);

const take = {
  async init(data) {
    try {
      await start(data);
    } catch (error) {
      self.postMessage({ type: "failed", message: lastLine(error) });
    }
  },
  supply(_, [port]) {
    // Only when asked, as both ends are surely joined then: in Firefox, WebAssembly that is sent before can get lost.
    port.onmessage = () => port.postMessage(supplies);
  },
  call({ id, method, args }) {
    try {
      self.postMessage({ type: "answer", id, text: judge[method](...args) });
    } catch (error) {
      self.postMessage({ type: "refused", id, message: lastLine(error).replace(/^[\w.]+: /, "") });
    }
  },
};

self.addEventListener("message", ({ data, ports }) => take[data.type]?.(data, ports));
