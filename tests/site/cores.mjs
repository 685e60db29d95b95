// What Python says of its core, and the figures of random traces: with the compiled core, and asked for the plain one.
// Then what it says where the runtime does not load the extension, though it is what the build made.
import { answer, python } from "./python.mjs";

const REPORT = `
import json, random
from lab import core
from lab import advance
from lab.figures import figures
from lab.workload import Limits, Request

preempted, made = 0, []
for seed in range(60):
    pick = random.Random(seed).randint
    requests = [Request(str(n), pick(0, 60), pick(1, 90), pick(1, 60)) for n in range(pick(1, 40))]
    limits = Limits(pick(1, 8), pick(10, 60), (1, 4, 16)[pick(0, 2)], *((None, False), (pick(8, 90), True))[pick(0, 1)])
    for policy in ("static", "continuous"):
        for spans in (True, False):
            found = figures(requests, limits, policy, spans=spans)
            preempted += found.metrics["preemptions"]
            made.append([found.metrics, found.requests()])
said = {"core": core.core(), "why": core.why(), "file": advance.__file__, "preempted": preempted, "figures": made}
json.dumps(said)
`;

const REFUSED = `
import hashlib, os, sys
from pathlib import Path
folder = Path(core.FOLDER)
extension, note = folder / core.extension_of("lab.advance"), folder / core.note_name()
extension.write_bytes(b"no WebAssembly")
digests = {extension.name: hashlib.sha256(extension.read_bytes()).hexdigest()}
note.write_text(json.dumps({**json.loads(note.read_text()), "extensions": digests}))
os.environ["SERVING_LAB_CORE"] = ""
core.reason.cache_clear()
del sys.modules["lab.advance"], sys.modules["lab"].advance
from lab import advance
json.dumps({"core": core.core(), "why": core.why(), "file": advance.__file__})
`;

await answer(async () => {
  const said = {};
  for (const core of ["", "pure"]) {
    const pyodide = await python();
    pyodide.runPython(`import os; os.environ["SERVING_LAB_CORE"] = "${core}"`);
    said[core] = JSON.parse(pyodide.runPython(REPORT));
    if (core === "pure") said.refused = JSON.parse(pyodide.runPython(REFUSED));
  }
  return said;
});
