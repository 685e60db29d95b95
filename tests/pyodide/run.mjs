// node run.mjs RUNTIME ROOT CORE: runs pytest inside Pyodide on the checkout mounted from ROOT.
// ROOT/packages holds pytest and what it needs, ROOT/checkout what is tested, ROOT/arguments.json pytest's arguments;
// CORE is which core is asked for, compiled or pure. ROOT/result.json is written by the plugin, ROOT/status by us.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [runtime, root, core] = process.argv.slice(2);

const RUN = `
import json, os, sys
sys.path[:0] = ["/mounted/checkout", "/mounted/packages", "/mounted/checkout/tests/pyodide"]
sys.dont_write_bytecode = True
os.chdir("/mounted/checkout")
os.environ["COLLECTED"] = "/mounted/result.json"
import pytest
int(pytest.main(json.load(open("/mounted/arguments.json")), plugins=["collected"]))
`;

try {
  const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
  // Fewer random cases than in CPython, where the same properties are tried: one takes some ten times as long here.
  const pyodide = await loadPyodide({ indexURL: runtime, env: { SERVING_LAB_EXAMPLES: "20", SERVING_LAB_CORE: core } });
  pyodide.mountNodeFS("/mounted", root);
  writeFileSync(`${root}/status`, String(pyodide.runPython(RUN)));
} catch (error) {
  console.error(error?.message ?? error);
  process.exit(1);
}
process.exit(0);
