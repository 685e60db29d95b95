// node trace.mjs RUNTIME JOB UNPACK: starts the app in Pyodide as the page's worker does, and notes which files it needed.
// JOB/stdlib.zip and JOB/all.zip are what to start from, JOB/config.json is the site's; the answer is JOB/needed.json.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { run, start } from "./script.mjs";

const [runtime, job, unpackPath] = process.argv.slice(2);

const WATCH = `
import os, sys
opened = set()
def note(event, args):
    if event == "open" and isinstance(args[0], (str, os.PathLike)):
        opened.add(os.fspath(args[0]))
sys.addaudithook(note)
`;
const REPORT = `
import json
modules = sorted({str(f) for m in list(sys.modules.values()) if (f := getattr(m, "__file__", None))})
json.dumps({"modules": modules, "opened": sorted(opened), "names": list(sys.modules)})
`;

await run(async () => {
  const { unpack } = await import(pathToFileURL(unpackPath));
  // A name that Panel takes from a browser's worker at import; nothing calls it.
  globalThis.XMLHttpRequest ??= class XMLHttpRequest {};
  const config = JSON.parse(readFileSync(`${job}/config.json`, "utf8"));
  const pyodide = await start(runtime, { stdLibURL: `${job}/stdlib.zip` });
  const root = pyodide.runPython("import site; site.getsitepackages()[0]");
  unpack(pyodide.FS, new Uint8Array(readFileSync(`${job}/all.zip`)), root);
  pyodide.runPython(WATCH);
  const bootstrap = pyodide.pyimport("app.page.bootstrap");
  bootstrap.load(pyodide.toPy(config), () => {
    throw new Error("nothing is fetched in a trace");
  });
  bootstrap.start("{}", () => {});
  bootstrap.rendered(() => {});
  bootstrap.rehearse();
  writeFileSync(`${job}/needed.json`, JSON.stringify({ root, ...JSON.parse(pyodide.runPython(REPORT)) }));
});
