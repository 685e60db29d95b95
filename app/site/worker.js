// Runs Python. Everything that may take long happens here, so that the page stays quick.
//
// page → worker: {type: "init", config, base, state}, {type: "rendered"}, {type: "patch", patch},
//                {type: "call", name, data}
// worker → page: {type: "progress", stage, label, loaded, total, share}, {type: "render", docs_json, render_items,
//                root_ids, extra: {slots: {name: root id}}}, {type: "patch", patch, buffers}, {type: "idle"}, {type: "message", name, data},
//                {type: "error", stage, message, detail}
// `data` of a call or message is plain data; `base` is the address that the folders in `config` are relative to.

import { Downloads } from "./downloads.js";
import { unpack } from "./unpack.js";

const SITE_PACKAGES = "/lib/python3.12/site-packages";

/** What each stage is called on the page, and the share of a start that is done when it begins. */
const STAGES = {
  download: ["Fetching Python and the app", 0],
  python: ["Starting Python", 0.5],
  packages: ["Loading Panel and Bokeh", 0.65],
  app: ["Building the app", 0.95],
};

let stage = "download";
let pyodide = null;
let bootstrap = null;

function enter(next, loaded = 0, total = 0) {
  stage = next;
  const [label, share] = STAGES[next];
  const part = total ? (loaded / total) * STAGES.python[1] : 0;
  self.postMessage({ type: "progress", stage, label, loaded, total, share: share + part });
}

/** One sentence for the reader, and the whole story for whoever looks into it. */
function fail(error) {
  const text = String(error?.message ?? error);
  const lines = text.trim().split("\n");
  self.postMessage({ type: "error", stage: STAGES[stage]?.[0] ?? stage, message: lines.at(-1), detail: text });
}

/** A synchronous request: only for modules that are imported late, while Python waits. */
function readNow(url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`status ${request.status}`);
  return new Uint8Array(request.response);
}

async function start({ config, base, state }) {
  enter("download");
  const folder = (kind) => new URL(config.folders[kind], base).href;
  const runtime = folder("runtime");
  const python = folder("python");
  const downloads = new Downloads(config.start, base, (loaded, total) => {
    if (stage === "download") enter("download", loaded, total);
  });
  const archive = downloads.bytes(`${python}start.zip`);
  archive.catch(() => {}); // looked at below; until then a failure is not "unhandled"
  // Modules cannot be counted as they arrive, so they are fetched as files first and imported from the browser's cache.
  const [{ loadPyodide }] = await Promise.all([
    import(`${runtime}pyodide.mjs`),
    import(`${runtime}pyodide.asm.js`),
    downloads.start([`${runtime}pyodide.asm.wasm`, `${python}stdlib.zip`, `${runtime}pyodide-lock.json`]),
  ]);
  pyodide = await downloads.serving(() =>
    Promise.race([
      loadPyodide({
        indexURL: runtime,
        stdLibURL: `${python}stdlib.zip`,
        stdout: (line) => console.log(line),
        stderr: (line) => console.warn(line),
      }),
      downloads.failure,
    ]),
  );
  const content = await archive;
  enter("python");
  unpack(pyodide.FS, content, SITE_PACKAGES);
  enter("packages");
  bootstrap = pyodide.pyimport("app.page.bootstrap");
  bootstrap.load(pyodide.toPy(config), (file) => readNow(python + file));
  enter("app");
  const send = (name, text) => self.postMessage({ type: "message", name, data: JSON.parse(text) });
  self.postMessage({ type: "render", ...JSON.parse(bootstrap.start(JSON.stringify(state ?? {}), send)) });
  stage = "running";
}

/** What Python did to the document; buffers are handed over, not copied. */
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

self.addEventListener("message", async ({ data }) => {
  try {
    await take[data.type]?.(data);
  } catch (error) {
    fail(error);
  }
});
