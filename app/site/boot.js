// The page: draws the replay at once from what was built in, then starts Python and hands the controls over.

import {setUpCode} from "./code.js";
import {setUpEditor} from "./editor-button.js";
import {setUpGpu, takeOffer} from "./gpu-offer.js";
import {notice} from "./notices.js";
import {healCopies, setUpOffline} from "./offline.js";
import {setUpOptions} from "./options.js";
import {loadScripts, PanelBridge} from "./panel-bridge.js";
import {ReplayView} from "./replay.js";
import {LearnerRunner} from "./runner.js";
import {setUpPreview} from "./preview.js";
import {setUpSectionLinks} from "./section-links.js";
import {setUpSharing} from "./share.js";
import {decode, encode, isState, knowOptions, LONGEST, pack, unpack} from "./state.js";
import {showFailed, showProgress, showStatus} from "./start-status.js";
import {setUpTheme} from "./theme.js";
import {setUpTraces} from "./traces.js";
import {Calls, Newest} from "./worker-calls.js";
import {WorkerLink} from "./worker-link.js";

const $ = (id) => document.getElementById(id);
const json = (id) => JSON.parse($(id).textContent);
const config = json("site-config");
const first = json("first-replay");
// The site's path is part of every key, so that two labs on one origin keep apart.
const key = (name) => `serving-lab:${new URL("./", location.href).pathname}:${name}`;
const offer = takeOffer(key); // before the address is read: it may have a token in it

const view = new ReplayView($("experiment"), {storageKey: key("guess")});
const bridge = new PanelBridge((name) => $(`slot-${name}`) ?? policySlot(name));
const builtIn = {text: json("built-in-trace"), limits: first.replay.limits, options: first.replay.options ?? {}};
// trace: the one that was opened or edited, {text, packed, limits and options: its own}; null: the lab's. from: "editor" or null.
const state = {limits: {...builtIn.limits}, options: {...builtIn.options}, iteration: 1, trace: null};
const defaults = () => state.trace ?? builtIn;
knowOptions(config.options);
const runner = new LearnerRunner({config, base: document.baseURI});
const code = setUpCode({config, base: document.baseURI, view, runner, key, replay: first.replay});

/** The slot of "chart-static", or of "more-static". */
function policySlot(name) {
  const [kind, policy] = name.split("-");
  return document.querySelector(`.${kind}-slot[data-policy="${CSS.escape(policy)}"]`);
}

// ---- the link ------------------------------------------------------------------------------------------------

let opening = null; // the state of a link that waits until Python is ready
let wanted = null; // the iteration of a link whose replay Python is making
let moved = false; // the learner has gone somewhere since the link was opened
let damaged = false; // the address is a link that was refused; it stays until something changes, to be corrected
let written = location.hash;
let writeSoon = 0;
let asked = 0; // counts what was opened: only the last of it counts

const ready = () => document.documentElement.dataset.python === "ready";

/** What a link to this moment says: also while the limits of an opened link still wait for Python. */
async function hashNow() {
  const now = opening ?? state.trace;
  if (now?.text !== undefined) now.packed ??= await pack(now.text);
  if (!opening) return encode({...state, packed: state.trace?.packed ?? null}, defaults().limits, defaults().options);
  const {limits, options = {}, packed = null} = opening;
  return encode({limits: packed ? limits : {...builtIn.limits, ...limits}, options, iteration: state.iteration, packed}, packed ? {} : builtIn.limits);
}

/** Keep the address in step with the screen, without adding to the history and not at every frame. */
function writeLink() {
  if (damaged || writeSoon) return;
  writeSoon = setTimeout(async () => {
    writeSoon = 0;
    const now = await hashNow();
    if (damaged || wanted !== null || location.hash !== written) return; // where somebody has just gone is not written over
    const hash = now.length > LONGEST ? "" : now; // a trace too long for a link is for a file
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
    refuseLink(error.message);
    return null;
  }
}

function refuseLink(why) {
  damaged = true;
  notice("link", `${why} What was on the screen stays.`);
}

/**
 * Go to a state: at once, or as soon as Python is ready.
 * @param {object} next as decode() gives it, or with `text`, a trace file
 * @param {{refuse: (why: string) => void, opened: (payload: object) => void, exploring: boolean}} told
 */
async function openState(next, {refuse = refuseLink, opened, exploring = false} = {}) {
  moved = false;
  const mine = ++asked;
  const goal = {...next, refuse, opened, exploring};
  if (!ready()) opening = goal; // before anything is drawn, so that the address is not written over
  if (goal.packed && goal.text === undefined) {
    try {
      goal.text = await unpack(goal.packed);
    } catch (error) {
      if (mine !== asked) return;
      opening = null;
      refuse(error.message);
      return;
    }
    if (mine !== asked) return;
  }
  if (ready()) {
    take(goal, goal.iteration ?? (exploring ? null : 1));
    return;
  }
  opening = goal;
  if (exploring) { // the editor says itself when its replays come
    notice("opening", "");
    return;
  }
  view.seek(goal.iteration ?? 1);
  const own = Object.keys(goal.limits).length + Object.keys(goal.options ?? {}).length > 0;
  notice("opening", goal.text !== undefined ? "A trace of its own comes with this. It is shown as soon as Python is ready."
    : own ? "This link has limits of its own. They take effect as soon as Python is ready." : "");
}

/** Have Python take a state. */
function take(goal, iteration) {
  opening = null;
  if (goal.text === undefined && !goal.exploring && !state.trace && !traces.busy) {
    wanted = iteration;
    link.send({type: "call", name: "open_state", data: {limits: goal.limits, options: goal.options ?? {}}});
    return;
  }
  const trace = goal.text === undefined ? null : {text: goal.text, packed: goal.packed ?? null};
  traces.ask({trace, iteration, goal});
}

// A question that came before Python would be an error in its start, and to a Python that has failed it would stay open.
const calls = new Calls((name, data) => link.send({type: "call", name, data}), () => (ready() ? ""
  : document.documentElement.dataset.python === "failed" ? "Python is not running." : "Python is still starting; try again when it is ready."));
const traces = new Newest(async ({trace, iteration, goal}) => {
  let answer;
  try {
    answer = await calls.call("open_trace", {trace: (trace ?? builtIn).text, limits: goal.limits, options: goal.options ?? {}});
  } catch {
    return; // Python has stopped, and is told what the page shows when it starts again
  }
  if (answer.name !== "replay") {
    takingOver = false;
    goal.refuse(`The trace cannot be replayed. ${whereWords(answer.data)}`, answer.data);
    return;
  }
  state.from = goal.exploring ? "editor" : null;
  state.trace = trace && {...trace, limits: answer.data.defaults, options: answer.data.default_options ?? {}};
  wanted = iteration;
  takingOver ||= !goal.exploring;
  replayed(answer.data);
  tellTrace(answer.data, goal.exploring);
  goal.opened?.(answer.data);
});

function whereWords({row, field, why}) {
  const where = [row === null ? "" : `Row ${row + 1}`, field ?? ""].filter(Boolean).join(", ");
  return where ? `${where}: ${why}.` : `It ${why}.`; // what is wrong with the file as a whole
}

const inShort = (text) => (text.length > 120 ? `${text.slice(0, 120)}…` : text);

/** Say whose trace this is, and how to go back. */
function tellTrace({replay, notes = []}, exploring) {
  if (exploring) return;
  const {name, title, requests} = replay.trace;
  notice("trace", state.trace && !picker.has(replay.trace.sha256) ? [`This is a trace of its own: ${inShort(title ?? name)}, ${requests.length} requests.`, ...notes].join(" ") : "",
    {label: "Back to the lab's trace", run: () => openState({limits: {}, iteration: null})});
}

window.addEventListener("hashchange", () => {
  if (location.hash === written) return;
  written = location.hash;
  // Going back to an address without a state goes back to the trace's own limits; a refused link is history then.
  if (location.hash === "") {
    damaged = false;
    notice("link", "");
  }
  const next = location.hash === "" ? {limits: {}, iteration: null} : readLink();
  if (next) openState(next);
});

setUpSectionLinks();
const picker = setUpTraces(openState);
const share = setUpSharing({hashNow, openState, name: () => view.model.trace.name, measurement: (file) => gpu.open(file)});
const editor = setUpEditor({
  calls, share, state, builtIn, openState, key,
  ready, pending: () => opening !== null && !opening.exploring, guess: view.guess, veiled: () => view.veiled,
  highlight: (id) => view.highlight(id),
});
const gpu = setUpGpu({calls, view, state, openState, config, key, offer, sha256: first.replay.trace.sha256});

const options = setUpOptions({ready, send: (name, data) => link.send({type: "call", name, data})});

// ---- status -------------------------------------------------------------------------------------------------

/** The controls answer only while Python does. */
function controls(on) {
  const slot = $("slot-controls");
  slot.inert = !on;
  slot.classList.toggle("waiting", !on);
  picker.ready(on);
}

let healed = false; // damaged copies have been looked for

function failed(message) {
  link.stop(); // whatever it still had to say would hide what went wrong
  calls.drop("Python has stopped.");
  starts += 1;
  controls(false);
  showFailed(message);
  document.documentElement.dataset.python = "failed";
  if (healed) return;
  healed = true;
  const mine = starts;
  healCopies().then((replaced) => {
    if (replaced && mine === starts) startPython();
  });
}

// ---- the replay ----------------------------------------------------------------------------------------------

function show(payload) {
  picker.show(payload);
  state.limits = {...payload.replay.limits};
  state.options = {...payload.replay.options};
  options.show(payload);
  // A link's limits are what its sender asks about; only who turns them here has stopped guessing.
  view.show(code.join(payload), {exploring: wanted === null && !takingOver});
  takingOver = false;
  if (wanted !== null) view.seek(wanted);
  wanted = null;
  editor.show(payload);
  gpu.show(payload);
  writeLink();
}

/** A replay has come from Python. */
function replayed(payload) {
  if (damaged && wanted === null && !takingOver) {
    damaged = false; // somebody has turned a limit: the refused link is history
    notice("link", "");
  }
  show(payload);
  bridge.setCursor(view.iteration);
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
$("experiment").addEventListener("lab-veil", () => editor.veil());
$("experiment").addEventListener("lab-highlight", ({detail}) => bridge.highlight(detail.id));
bridge.onHover = (id) => view.highlight(id);

// ---- Python --------------------------------------------------------------------------------------------------

let starts = 0; // counts starts and failures: what belongs to an earlier one is dropped
let takingOver = false; // Python is making the replay of the state in which it found the page
let liveDrawn = false;

const link = new WorkerLink({
  progress: showProgress,
  async render({docs_json, render_items, extra, start}) {
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
    controls(true);
    showStatus("Python is ready");
    document.documentElement.dataset.start = start; // which way it was, for whoever wonders why it was slow
    document.documentElement.dataset.python = "ready";
    takeOver();
    options.started();
    gpu.started();
    if (!config.preview) offline ??= setUpOffline((apply) => notice("update", "A new version of this lab is ready. Your work stays; the page reloads when you say so.",
      {label: "Use the new version", run: apply}));
  },
  patch({patch, buffers}) {
    bridge.apply(patch, buffers);
  },
  idle() {
    bridge.idle();
  },
  async damaged({urls}) {
    if (!(await healCopies())) for (const url of urls) fetch(url, {cache: "reload"}).catch(() => {}); // the browser's own copies
  },
  message({name, data}) {
    if (calls.take(name, data)) return;
    if (name === "replay") replayed(data);
    else if (name === "core") $("core").textContent = data.core === "compiled" ? "Core: compiled to WebAssembly." : "Core: pure Python.";
    else if (name === "open_options") options.opened();
    else if (name === "refused") {
      wanted = null;
      takingOver = false;
      damaged = true;
      notice("link", `This link asks for limits that cannot be replayed. ${data.why}`);
    }
  },
  error({stage, message}) {
    if (stage === "running") {
      calls.drop(message);
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
  if (opening?.packed && opening.text === undefined) return; // still being unpacked, and taken after that
  const next = opening ?? {limits: state.limits, options: state.options, iteration: null, text: state.trace?.text, packed: state.trace?.packed, refuse: refuseLink};
  opening = null;
  const same = Object.entries(next.limits).every(([name, value]) => builtIn.limits[name] === value)
    && JSON.stringify({...builtIn.options, ...next.options}) === JSON.stringify(builtIn.options);
  if (same && next.text === undefined && !state.trace) return;
  takingOver = true;
  take(next, moved ? null : next.iteration);
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
  calls.drop("Python has been started again.");
  notice("python", "");
  document.documentElement.dataset.python = "starting";
  showStatus("Starting Python", 0);
  link.start({config, base: document.baseURI});
}
$("retry").addEventListener("click", startPython);

const linked = readLink();
show(first);
setUpTheme($("theme"), key("theme"), () => bridge.recolour());
if (linked) openState(linked);
startPython();
if (config.preview) setUpPreview(config.preview, code);
drawPrerendered().catch(() => { /* the live document is drawn when Python is ready, or says why not */ });
