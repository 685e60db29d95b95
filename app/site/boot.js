// The page: draws the replay at once from what was built in, then starts Python and hands the controls over.

import {setUpCode} from "./code.js";
import {setUpOffline} from "./offline.js";
import {loadScripts, PanelBridge} from "./panel-bridge.js";
import {ReplayView} from "./replay.js";
import {LearnerRunner} from "./runner.js";
import {decode, encode, isState} from "./state.js";
import {setUpTheme} from "./theme.js";
import {bytesText, WorkerLink} from "./worker-link.js";

const $ = (id) => document.getElementById(id);
const json = (id) => JSON.parse($(id).textContent);
const config = json("site-config");
const first = json("first-replay");
// The site's path is part of every key, so that two labs on one origin keep apart.
const key = (name) => `serving-lab:${new URL("./", location.href).pathname}:${name}`;

const view = new ReplayView($("experiment"), {storageKey: key("guess")});
const bridge = new PanelBridge((name) => name === "controls" ? $("slot-controls") : chartSlot(name.replace(/^chart-/, "")));
const defaults = first.replay.limits;
const state = {limits: {...defaults}, iteration: 1};
const runner = new LearnerRunner({config, base: document.baseURI});
const code = setUpCode({config, base: document.baseURI, view, runner, key, replay: first.replay});

function chartSlot(policy) {
  return document.querySelector(`.chart-slot[data-policy="${CSS.escape(policy)}"]`);
}

// ---- the link ------------------------------------------------------------------------------------------------

let written = location.hash;
let wanted = null; // the iteration of a link whose replay Python is still making
let writeSoon = 0;
/** Keep the address in step with the screen, without adding to the history and not at every frame. */
function writeLink() {
  clearTimeout(writeSoon);
  writeSoon = setTimeout(() => {
    const hash = encode(state, defaults);
    if (`#${hash}` === location.hash || (!hash && !isState(location.hash))) return;
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    written = location.hash;
  }, 200);
}

function readLink() {
  if (!isState(location.hash)) return null;
  try {
    return decode(location.hash);
  } catch (error) {
    notice("link", `${error.message} What was on the screen stays.`);
    return null;
  }
}

function takeState(next) {
  if (!next) return;
  wanted = next.iteration ?? 1;
  link.send({type: "call", name: "open_state", data: {limits: next.limits}});
}

window.addEventListener("hashchange", () => {
  if (location.hash === written || !isState(location.hash)) return;
  written = location.hash;
  takeState(readLink());
});

$("copy-link").addEventListener("click", async () => {
  const hash = encode(state, defaults);
  const url = location.href.split("#")[0] + (hash ? `#${hash}` : "");
  const button = $("copy-link");
  try {
    await navigator.clipboard.writeText(url);
    button.textContent = "Link copied";
    setTimeout(() => { button.textContent = "Copy link"; }, 1600);
  } catch {
    notice("link", `The browser did not allow copying. The link is in the address bar: ${url}`);
  }
});

// ---- notices and status --------------------------------------------------------------------------------------

function notice(name, text, action) {
  $(`notice-${name}`)?.remove();
  if (!text) return;
  const box = document.createElement("div");
  box.className = "notice";
  box.id = `notice-${name}`;
  const words = document.createElement("span");
  words.textContent = text;
  box.append(words);
  for (const {label, run} of [...(action ? [action] : []), {label: "Dismiss", run: () => box.remove()}]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "ghost";
    button.textContent = label;
    button.addEventListener("click", run);
    box.append(button);
  }
  $("notices").append(box);
}

function status(text, share = null) {
  $("status").classList.remove("failed");
  $("status-text").textContent = text;
  $("status-bar").hidden = share === null;
  if (share !== null) $("status-bar").value = share;
  $("retry").hidden = true;
}

function failed(message) {
  link.stop(); // whatever it still had to say would hide what went wrong
  $("status").classList.add("failed");
  $("status-text").textContent = message;
  $("status-bar").hidden = true;
  $("retry").hidden = false;
  document.documentElement.dataset.python = "failed";
}

// ---- the replay ----------------------------------------------------------------------------------------------

function show(payload) {
  state.limits = {...payload.replay.limits};
  view.show(code.join(payload));
  if (wanted !== null) view.seek(wanted);
  wanted = null;
  writeLink();
}

$("experiment").addEventListener("lab-iteration", ({detail}) => {
  state.iteration = detail.iteration;
  if (detail.last !== bridge.last) bridge.setLast(detail.last);
  bridge.setCursor(detail.iteration);
  writeLink();
});
$("experiment").addEventListener("lab-highlight", ({detail}) => bridge.highlight(detail.id));
bridge.onHover = (id) => view.highlight(id);

// ---- Python --------------------------------------------------------------------------------------------------

const link = new WorkerLink(new URL("worker.js", import.meta.url), {
  progress({label, loaded, total, share}) {
    const counted = bytesText(loaded, total);
    status(counted ? `${label}, ${counted}` : label, share ?? (total ? loaded / total : 0));
  },
  async render({docs_json, render_items, extra}) {
    try {
      await vendor();
      await bridge.draw(JSON.parse(docs_json), JSON.parse(render_items), extra.slots);
      bridge.link((patch) => link.send({type: "patch", patch}));
      bridge.setCursor(view.iteration);
      link.send({type: "rendered"});
    } catch (error) {
      failed(`Python is ready, but its controls could not be drawn. ${error.message}`);
      return;
    }
    dropStandIns();
    const slot = $("slot-controls");
    slot.inert = false;
    slot.classList.remove("waiting");
    status("Python is ready");
    document.documentElement.dataset.python = "ready";
    notice("opening", "");
    if (opening) takeState(opening);
    opening = null;
    setUpOffline((apply) => notice("update", "A new version of this lab is ready. Your work stays; the page reloads when you say so.",
      {label: "Use the new version", run: apply}));
  },
  patch({patch, buffers}) {
    bridge.apply(patch, buffers);
  },
  idle() {
    bridge.idle();
  },
  message({name, data}) {
    if (name === "replay") {
      show(data);
      bridge.setCursor(view.iteration);
    } else if (name === "refused") {
      wanted = null;
      notice("link", `This link asks for limits that cannot be replayed. ${data.why}`);
    }
  },
  error({stage, message}) {
    failed(`${message} (while: ${stage}) The page and the course replay stay readable.`);
  },
});

let vendorLoaded = null;
/** BokehJS and Panel's own scripts, once; a failure may be tried again. */
function vendor() {
  vendorLoaded ??= loadScripts(config.scripts.map((path) => new URL(path, document.baseURI).href)).catch((error) => {
    vendorLoaded = null;
    throw error;
  });
  return vendorLoaded;
}

function dropStandIns() {
  // A learner's own policy has no chart of Bokeh's; its simple drawing stays.
  for (const slot of document.querySelectorAll(".chart-slot:has(.live)")) slot.querySelector(".chart-standin")?.remove();
}

/** Draw the controls and charts as they were at build time, to be exchanged when Python is ready. */
async function drawPrerendered() {
  const [made] = await Promise.all([
    fetch(new URL("prerender.json", import.meta.url)).then((answer) => answer.json()),
    vendor(),
  ]);
  if (document.documentElement.dataset.python === "ready") return;
  await bridge.draw(made.docs_json, made.render_items, made.slots);
  bridge.setCursor(view.iteration);
}

function startPython() {
  document.documentElement.dataset.python = "starting";
  status("Starting Python", 0);
  link.start({config, base: document.baseURI});
}
$("retry").addEventListener("click", startPython);

show(first);
setUpTheme($("theme"), key("theme"), () => bridge.recolour());
let opening = readLink();
if (opening?.iteration) view.seek(opening.iteration);
if (opening && Object.keys(opening.limits).length) {
  notice("opening", "This link has limits of its own. They take effect as soon as Python is ready.");
}
startPython();
drawPrerendered().catch(() => { /* the live document is drawn when Python is ready, or says why not */ });
