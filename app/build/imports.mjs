// node imports.mjs RUNTIME SIDE_MODULE…: prints, as JSON, for each side module what it imports and the runtime has not.
// The runtime links such a module all the same: what is missing fails when it is called, so this is for the build to see.
import { readFileSync } from "node:fs";

const [runtime, ...sideModules] = process.argv.slice(2);

/** What the loader of side modules provides for each of them. */
const GIVEN = new Set(["memory", "__indirect_function_table", "__stack_pointer", "__memory_base", "__table_base"]);

const compile = (path) => new WebAssembly.Module(readFileSync(path));
const exported = (module) => WebAssembly.Module.exports(module).map(({ name }) => name);
const inRuntime = new Set(exported(compile(`${runtime}/pyodide.asm.wasm`)));
const words = new Set(readFileSync(`${runtime}/pyodide.asm.js`, "utf8").match(/[\w$]+/g));

const missing = sideModules.map((path) => {
  const module = compile(path);
  const own = new Set(exported(module));
  return WebAssembly.Module.imports(module)
    .map(({ name }) => name)
    .filter((name) => !GIVEN.has(name) && !inRuntime.has(name) && !own.has(name) && !words.has(name));
});
console.log(JSON.stringify(missing));
