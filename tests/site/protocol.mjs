// node protocol.mjs … MAIN: the trial app, driven as the page's worker drives it.
import { answer, args, config, file, python } from "./python.mjs";

/** The first object in `node`, however deep, that `wanted` says yes to. */
function find(node, wanted) {
  if (node === null || typeof node !== "object") return undefined;
  if (wanted(node)) return node;
  for (const child of Object.values(node)) {
    const found = find(child, wanted);
    if (found) return found;
  }
  return undefined;
}

await answer(async () => {
  const pyodide = await python(args[0]);
  const messages = [];
  const patches = [];
  const bootstrap = pyodide.pyimport("app.page.bootstrap");
  bootstrap.load(pyodide.toPy(config), (name) => file("python", name));
  const made = JSON.parse(bootstrap.start('{"seats": 5}', (name, text) => messages.push([name, JSON.parse(text)])));
  const docs = JSON.parse(made.docs_json);
  bootstrap.rendered((patch, buffers) => patches.push({ patch, buffers: buffers.size }));
  bootstrap.call("square", "7");
  bootstrap.call("set_seats", "8");
  const fromCall = patches.splice(0);
  // What BokehJS sends when somebody drags the slider.
  const { id } = find(docs, (node) => node.attributes?.title === "Seats");
  const change = { kind: "ModelChanged", model: { id }, attr: "value", new: 2 };
  bootstrap.apply_patch({ events: [change] });
  const fromPatch = patches.splice(0);
  let refused = "";
  try {
    bootstrap.call("nothing_of_this_name", "null");
  } catch (error) {
    refused = error.message.trim().split("\n").at(-1);
  }
  const count = (list) => ({ patches: list.length, buffers: list.reduce((sum, { buffers }) => sum + buffers, 0) });
  return { slots: made.extra.slots, roots: JSON.parse(made.root_ids), docs, messages, refused, fromCall: count(fromCall), fromPatch: count(fromPatch) };
});
