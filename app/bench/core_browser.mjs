// A worker in the browser: answers each message, a case, with a message. Its name says which core is asked for.
import { loadPyodide } from "/runtime/pyodide.mjs";
import { answerer } from "/core_answers.mjs";

try {
  const archive = new Uint8Array(await (await fetch("/lab.zip")).arrayBuffer());
  const answer = await answerer(loadPyodide, "/runtime/", archive, self.name);
  self.onmessage = ({ data }) => self.postMessage(answer(data));
  self.postMessage("ready");
} catch (error) {
  self.postMessage(JSON.stringify({ problem: String(error) }));
}
