// The app's Python from the snapshot, beside one that was started the ordinary way: both tell what they are like.
import { pathToFileURL } from "node:url";
import { answer, config, python, snapshotFiles, work } from "./python.mjs";

const { open, settle } = await import(pathToFileURL(`${work}/snapshot.mjs`));
const files = snapshotFiles();
const bytes = new Uint8Array(Buffer.concat(files));

const PORTRAIT = `
import json, locale, os, random, sys, time, uuid
import sched  # a module that no start imports
json.dumps({
    "modules": sorted(sys.modules), "environ": dict(os.environ), "path": sys.path, "flags": list(sys.flags)[:9],
    "argv": sys.argv, "cwd": os.getcwd(), "executable": sys.executable, "encoding": sys.getfilesystemencoding(),
    "locale": locale.setlocale(locale.LC_ALL), "recursion": sys.getrecursionlimit(), "finders": [str(type(f)) for f in sys.meta_path],
    "zone": [time.timezone, time.altzone, time.daylight, list(time.tzname)], "year": time.localtime().tm_year,
    "chance": [random.random(), str(uuid.uuid4())],
})
`;

/** `value` as text, with the random names of Bokeh's models numbered in the order of their appearance. */
function numbered(value) {
  const names = new Map();
  return JSON.stringify(value).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (name) => {
    if (!names.has(name)) names.set(name, `#${names.size}`);
    return names.get(name);
  });
}

/** What a start gives, and what this Python is like after it. */
async function portrait(image) {
  const pyodide = await python(undefined, image);
  const before = JSON.parse(pyodide.runPython("import json, sys; json.dumps(sorted(sys.modules))"));
  const bootstrap = pyodide.pyimport("app.page.bootstrap");
  const environment = image ? [pyodide.toPy(settle(pyodide))] : [];
  bootstrap.load(pyodide.toPy(config), () => { throw new Error("nothing is fetched"); }, ...environment);
  const messages = [];
  const { docs_json, extra } = JSON.parse(bootstrap.start("{}", (name, text) => messages.push([name, text])));
  const patches = [];
  bootstrap.rendered((patch, buffers) => patches.push([JSON.stringify(patch), buffers.size]));
  bootstrap.rehearse();
  bootstrap.call("open_trace", JSON.stringify({ serial: 1, trace: "not a trace" }));
  const made = numbered([Object.values(JSON.parse(docs_json)), extra.slots, patches, messages]);
  return { before, made, ...JSON.parse(pyodide.runPython(PORTRAIT)) };
}

/** How `open` takes the file after `change`. */
function opened(change) {
  const copy = bytes.slice();
  try {
    open([change(copy) ?? copy]);
    return "as good";
  } catch (error) {
    return error.constructor.name;
  }
}

await answer(async () => {
  const last = bytes.length - 1;
  const places = [0, 4, 8, 17, 21, 1000, 100_001, last >> 1, last - 4, last];
  return {
    damaged: [
      ...places.map((place) => opened((copy) => { copy[place] ^= 1; })),
      ...[0, 3, 4, 24, bytes.length - 4, bytes.length - 1].map((length) => opened((copy) => copy.subarray(0, length))),
      opened((copy) => new Uint8Array(copy.length)),
    ],
    whole: opened(() => {}),
    swapped: [files.toReversed?.() ?? [...files].reverse(), files.slice(1), []].map((parts) => {
      try {
        open(parts);
        return "as good";
      } catch (error) {
        return error.constructor.name;
      }
    }),
    restored: await portrait(open(files)),
    again: (await portrait(open(files))).chance,
    plain: await portrait(),
  };
});
