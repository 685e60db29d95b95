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

let opening = null; // the state of a link that waits until Python is ready
let wanted = null; // the iteration of a link whose replay Python is making
let moved = false; // the learner has gone somewhere since the link was opened
let damaged = false; // the address is a link that was refused; it stays until something changes, to be corrected
let written = location.hash;
let writeSoon = 0;

const ready = () => document.documentElement.dataset.python === "ready";

/** What a link to this moment says: also while the limits of an opened link still wait for Python. */
function hashNow() {
  return encode(opening ? {limits: {...defaults, ...opening.limits}, iteration: state.iteration} : state, defaults);
}

/** Keep the address in step with the screen, without adding to the history and not at every frame. */
function writeLink() {
  if (damaged || writeSoon) return;
  writeSoon = setTimeout(() => {
    writeSoon = 0;
    if (damaged) return;
    const hash = hashNow();
    if (`#${hash}` === location.hash || (!hash && !isState(location.hash))) return;
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    written = location.hash;
  }, 200);
}

function readLink() {
  if (!isState(location.hash)) return null;
  damaged = false;
  notice("link", "");
  try {
    return decode(location.hash);
  } catch (error) {
    damaged = true;
    notice("link", `${error.message} What was on the screen stays.`);
    return null;
  }
}

/** Go to the state of a link: at once, or as soon as Python is ready. */
function openState(next) {
  moved = false;
  if (ready()) {
    wanted = next.iteration ?? 1;
    link.send({type: "call", name: "open_state", data: {limits: next.limits}});
    return;
  }
  opening = next;
  view.seek(next.iteration ?? 1);
  const own = Object.keys(next.limits).length > 0;
  notice("opening", own ? "This link has limits of its own. They take effect as soon as Python is ready." : "");
}

window.addEventListener("hashchange", () => {
  if (location.hash === written) return;
  written = location.hash;
  // Going back to an address without a state goes back to the trace's own limits.
  const next = location.hash === "" ? {limits: {}, iteration: null} : readLink();
  if (next) openState(next);
});

// Links to a section go there and leave the state in the address.
document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.('a[href^="#"]');
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || isState(anchor.hash)) return;
  const section = $(anchor.hash.slice(1));
  if (!section) return;
  event.preventDefault();
  section.scrollIntoView();
  section.focus({preventScroll: true});
});

$("copy-link").addEventListener("click", async () => {
  const hash = hashNow();
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

/** The controls answer only while Python does. */
function controls(on) {
  const slot = $("slot-controls");
  slot.inert = !on;
  slot.classList.toggle("waiting", !on);
}

function failed(message) {
  link.stop(); // whatever it still had to say would hide what went wrong
  starts += 1;
  controls(false);
  $("status").classList.add("failed");
  $("status-text").textContent = message;
  $("status-bar").hidden = true;
  $("retry").hidden = false;
  document.documentElement.dataset.python = "failed";
}

// ---- the replay ----------------------------------------------------------------------------------------------

function show(payload) {
  state.limits = {...payload.replay.limits};
  // A link's limits are what its sender asks about; only who turns them here has stopped guessing.
  view.show(code.join(payload), {exploring: wanted === null && !takingOver});
  takingOver = false;
  if (wanted !== null) view.seek(wanted);
  wanted = null;
  writeLink();
}

$("experiment").addEventListener("lab-iteration", ({detail}) => {
  state.iteration = detail.iteration;
  if (detail.reason !== "seek" && detail.reason !== "show") {
    moved = true;
    damaged = false;
  }
  if (detail.last !== bridge.last) bridge.setLast(detail.last);
  bridge.setCursor(detail.iteration);
  writeLink();
});
$("experiment").addEventListener("lab-highlight", ({detail}) => bridge.highlight(detail.id));
bridge.onHover = (id) => view.highlight(id);

// ---- Python --------------------------------------------------------------------------------------------------

let starts = 0; // counts starts and failures: what belongs to an earlier one is dropped
let takingOver = false; // Python is making the replay of the state in which it found the page
let liveDrawn = false;

const link = new WorkerLink(new URL("worker.js", import.meta.url), {
  progress({label, loaded, total, share}) {
    const counted = bytesText(loaded, total);
    status(counted ? `${label}, ${counted}` : label, share ?? (total ? loaded / total : 0));
  },
  async render({docs_json, render_items, extra}) {
    const mine = starts;
    liveDrawn = true;
    try {
      await vendor();
      await bridge.draw(JSON.parse(docs_json), JSON.parse(render_items), extra.slots);
      if (mine !== starts) return;
      bridge.link((patch) => link.send({type: "patch", patch}));
      bridge.setCursor(view.iteration);
      link.send({type: "rendered"});
    } catch (error) {
      if (mine === starts) failed(`Python is ready, but its controls could not be drawn. ${error.message}`);
      return;
    }
    dropStandIns();
    controls(true);
    status("Python is ready");
    document.documentElement.dataset.python = "ready";
    takeOver();
    offline ??= setUpOffline((apply) => notice("update", "A new version of this lab is ready. Your work stays; the page reloads when you say so.",
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
      if (damaged && wanted === null && !takingOver) {
        damaged = false; // somebody has turned a limit: the refused link is history
        notice("link", "");
      }
      show(data);
      bridge.setCursor(view.iteration);
    } else if (name === "refused") {
      wanted = null;
      takingOver = false;
      damaged = true;
      notice("link", `This link asks for limits that cannot be replayed. ${data.why}`);
    }
  },
  error({stage, message}) {
    if (stage === "running") {
      notice("python", `${message} What is on the screen stays.`, {label: "Start Python again", run: startPython});
      return;
    }
    failed(`${message} (while: ${stage}) The page and the course replay stay readable.`);
  },
});

let offline = null;

/** Python starts from the trace's own limits. Bring it to what a link asked for, or to what the screen already shows. */
function takeOver() {
  notice("opening", "");
  const next = opening ?? {limits: state.limits, iteration: null};
  opening = null;
  const same = Object.entries(next.limits).every(([name, value]) => defaults[name] === value);
  if (same) return;
  takingOver = true;
  wanted = moved ? null : next.iteration;
  link.send({type: "call", name: "open_state", data: {limits: next.limits}});
}

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
  if (liveDrawn) return;
  await bridge.draw(made.docs_json, made.render_items, made.slots);
  bridge.setCursor(view.iteration);
}

function startPython() {
  starts += 1;
  controls(false);
  notice("python", "");
  document.documentElement.dataset.python = "starting";
  status("Starting Python", 0);
  link.start({config, base: document.baseURI});
}
$("retry").addEventListener("click", startPython);

const asked = readLink();
if (asked) opening = asked; // before anything is drawn, so that the address is not written over
show(first);
setUpTheme($("theme"), key("theme"), () => bridge.recolour());
if (asked) openState(asked);
startPython();
drawPrerendered().catch(() => { /* the live document is drawn when Python is ready, or says why not */ });
