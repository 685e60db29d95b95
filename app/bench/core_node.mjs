// node core_node.mjs RUNTIME ARCHIVE CORE: answers a case a line until stdin ends.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { answerer } from "./core_answers.mjs";

const [runtime, archive, core] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
const bytes = new Uint8Array(readFileSync(archive));
const answer = await answerer(loadPyodide, runtime, bytes, core);
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(answer(line) + "\n");
}
process.exit(0);
