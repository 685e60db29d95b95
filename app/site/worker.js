// Runs Python. Everything that may take long happens here, so that the page stays quick.
//
// page → worker: {type: "init", config, base, state}, {type: "rendered"}, {type: "patch", patch},
//                {type: "call", name, data}
// worker → page: {type: "progress", stage, label, loaded, total, share}, {type: "render", docs_json, render_items,
//                root_ids, extra: {slots: {name: root id}}, start: snapshot or plain}, {type: "patch", patch, buffers}, {type: "idle"},
//                {type: "message", name, data}, {type: "damaged", urls} (of files that are not as they were made, and that
//                Python does without), {type: "error", stage, message, detail}
// `base` is the address that the folders in `config` are relative to. An error with stage "running" leaves Python
// as it was; any other ends the start.

import { Downloads } from "./downloads.js";
import { readNow, startPython } from "./worker-python.js";
import { unpack } from "./unpack.js";

const SITE_PACKAGES = "/lib/python3.12/site-packages";

/** What each stage is called on the page, and the share of a start that is done when it begins. */
const STAGES = {
  download: ["Fetching Python and the app", 0],
  python: ["Starting Python", 0.4],
  packages: ["Loading Panel and Bokeh", 0.55],
  app: ["Building the app", 0.9],
};

/** The smallest WebAssembly module: eight bytes that say what they are. */
const SMALLEST_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

let stage = "download";
let bootstrap = null;

function enter(next, loaded = 0, total = 0) {
  stage = next;
  const [label, share] = STAGES[next];
  const done = total ? (loaded / total) * STAGES.python[1] : 0;
  self.postMessage({ type: "progress", stage, label, loaded, total, share: share + done });
}

/** One sentence for the reader, and the whole story for whoever looks into it. */
function fail(error) {
  const detail = String(error?.message ?? error).trim();
  const last = detail.split("\n").at(-1);
  const message = error?.name === "PythonError" ? `Python stopped at an error. ${last}` : last;
  self.postMessage({ type: "error", stage, message, detail });
}

/** Pyodide only warns when it may not compile, and then waits for ever. */
function checkWebAssembly() {
  try {
    new WebAssembly.Module(SMALLEST_MODULE);
  } catch (error) {
    throw new Error(`Python needs WebAssembly, which this browser does not allow here: ${error?.message ?? error}`);
  }
}

async function start({ config, base, state }) {
  enter("download");
  checkWebAssembly();
  const url = (kind, file) => new URL(config.folders[kind] + file, base).href;
  const downloads = new Downloads(config.start, base, (loaded, total) => {
    if (stage !== "download") return;
    if (loaded < total) enter("download", loaded, total);
    else enter("python");
  });
  const archives = Promise.all([url("python", "data.zip"), url("lab", "app.zip")].map((address) => downloads.bytes(address)));
  const { pyodide, environment } = await startPython(config, url, downloads, archives, ({ message, damaged }) => {
    console.info(`Python starts without its snapshot. ${message}`);
    if (damaged.length) self.postMessage({ type: "damaged", urls: damaged });
  });
  enter("packages");
  for (const content of await archives) unpack(pyodide.FS, content, SITE_PACKAGES);
  bootstrap = pyodide.pyimport("app.page.bootstrap");
  bootstrap.load(pyodide.toPy(config), (file) => readNow(url("python", file)), environment && pyodide.toPy(environment));
  enter("app");
  const send = (name, text) => self.postMessage({ type: "message", name, data: JSON.parse(text) });
  self.postMessage({ type: "render", start: environment ? "snapshot" : "plain", ...JSON.parse(bootstrap.start(JSON.stringify(state ?? {}), send)) });
  stage = "running";
}

/** What Python did to the document; its buffers are handed over, not copied. */
function dispatch(patch, buffers) {
  self.postMessage({ type: "patch", patch, buffers }, [...new Set(buffers.values())]);
}

const take = {
  init: start,
  rendered: () => bootstrap.rendered(dispatch),
  patch({ patch }) {
    try {
      bootstrap.apply_patch(patch);
    } finally {
      self.postMessage({ type: "idle" });
    }
  },
  call: ({ name, data }) => bootstrap.call(name, JSON.stringify(data ?? null)),
};

self.addEventListener("unhandledrejection", ({ reason }) => fail(reason));
self.addEventListener("message", async ({ data }) => {
  try {
    await take[data.type]?.(data);
  } catch (error) {
    fail(error);
  }
});
