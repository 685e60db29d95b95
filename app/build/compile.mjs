// node compile.mjs RUNTIME JOB HERE: compiles JOB/in/*.py with the runtime's own Python (see inside.py in HERE).
import { writeFileSync } from "node:fs";
import { run, start } from "./script.mjs";

const [runtime, job, here] = process.argv.slice(2);

await run(async () => {
  // A fixed hash seed keeps the order of frozen sets in the bytecode the same from build to build. Columns, which say
  // where in its line an error was, are of use only beside the source, which does not go to the browser.
  const pyodide = await start(runtime, { env: { PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" } });
  pyodide.mountNodeFS("/job", job);
  pyodide.mountNodeFS("/here", here);
  pyodide.runPython('import sys; sys.path.insert(0, "/here"); sys.dont_write_bytecode = True');
  writeFileSync(`${job}/complaints.json`, pyodide.pyimport("inside").compile_all("/job"));
});
