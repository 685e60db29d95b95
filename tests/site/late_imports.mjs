// node late_imports.mjs … MODULES: imports modules that no start needs, one after the other.
import { answer, args, config, file, python } from "./python.mjs";

await answer(async () => {
  const pyodide = await python();
  pyodide.pyimport("app.page.no_arrays").install();
  const rest = pyodide.pyimport("app.page.rest");
  const fetched = [];
  let reachable = false;
  rest.install((name) => {
    if (!reachable) throw new Error("there is no connection");
    fetched.push(name);
    return file("python", name);
  });
  const attempt = (name) => {
    const before = fetched.length;
    try {
      pyodide.pyimport(name);
      return { name, found: true, fetched: fetched.slice(before) };
    } catch (error) {
      return { name, found: false, fetched: fetched.slice(before), why: error.message.trim().split("\n").at(-1) };
    }
  };
  const offline = attempt(args[0]);
  reachable = true;
  const unknown = attempt("no_such_module_anywhere");
  return { offline, unknown, attempts: args.map(attempt) };
});
