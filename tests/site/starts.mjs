// The app itself, from the site's archives alone: nothing may be fetched while it starts and does its first work.
import { answer, config, python } from "./python.mjs";

await answer(async () => {
  const pyodide = await python();
  const fetched = [];
  const bootstrap = pyodide.pyimport("app.page.bootstrap");
  bootstrap.load(pyodide.toPy(config), (name) => {
    fetched.push(name);
    throw new Error("not in this test");
  });
  const { docs_json, render_items, root_ids, extra } = JSON.parse(bootstrap.start("{}", () => {}));
  const names = () => JSON.parse(pyodide.runPython("import json, sys; json.dumps(sorted(sys.modules))"));
  const imported = names();
  bootstrap.rendered(() => {});
  bootstrap.rehearse();
  const loaded = names();
  const numpy = pyodide.runPython("import numpy; numpy.ndarray.__module__");
  return { fetched, imported, numpy, docs: JSON.parse(docs_json), items: JSON.parse(render_items), roots: JSON.parse(root_ids), extra, loaded };
});
