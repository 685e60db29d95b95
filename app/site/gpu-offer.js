// Whether the server that this page comes from replays on a GPU, and the way to the panel, which is fetched when it is
// first wanted. A server that does says so in a header of the page; from any other host nothing is ever asked.

import {notice} from "./notices.js";

const NAME = "serving-lab-cuda"; // of the Server-Timing header: app/serve/headers.py
const BUT = "Everything runs in this browser, but for what you have the GPU measure.";
const LINK = /^#cuda-token=([^&]+)$/; // what the server prints at its start

/** Values in one of the browser's storages; where that is blocked, as long as the page. */
function storage(which, name) {
  let memory = null;
  return {
    get() {
      try {
        return window[which].getItem(name);
      } catch {
        return memory;
      }
    },
    set(value) {
      memory = value;
      try {
        if (value === null) window[which].removeItem(name);
        else window[which].setItem(name, value);
      } catch { /* as above */ }
    },
  };
}

/** The address as the browser shows it may have %-signs for what was typed. */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Has to come before the address is read: a token in it is no state of the lab, and is taken out.
 * @param {(name: string) => string} key
 * @returns {{api: "open"|"token"|null, token: object, job: object, kept: object, came: () => void}} api: whether there is
 *   one, and whether it wants a token; token: for this tab only; job: the replay under way; kept: whether measurements are
 *   kept in this browser; came() is called when a token has come
 */
export function takeOffer(key) {
  const token = storage("sessionStorage", key("cuda-token"));
  const remembered = storage("localStorage", key("cuda"));
  const offer = {api: null, token, job: storage("localStorage", key("cuda-job")), kept: storage("localStorage", key("measured")), came() {}};
  const take = (before) => {
    const found = LINK.exec(location.hash);
    if (!found) return false;
    token.set(plain(found[1]));
    offer.api = "token";
    history.replaceState(null, "", before || location.pathname + location.search);
    return true;
  };
  window.addEventListener("hashchange", ({oldURL}) => {
    if (take(new URL(oldURL).hash)) offer.came();
  });
  const [visit] = performance.getEntriesByType("navigation");
  const told = visit?.serverTiming?.find(({name}) => name === NAME);
  if (told) remembered.set(told.description === "token" ? "token" : "open");
  else if (!visit?.workerStart) remembered.set(null); // a page that the service worker had says nothing new
  offer.api = remembered.get() ?? (token.get() ? "token" : null);
  take("");
  return offer;
}

/**
 * @param {object} lab calls, view, state, openState, config, key, offer, sha256 (of the built-in trace)
 * @returns {{show: (payload: object) => void, started: () => void, open: (file: File) => void}}
 */
export function setUpGpu(lab) {
  const {offer} = lab;
  const place = document.getElementById("gpu");
  const button = document.getElementById("measure-gpu");
  const choose = document.getElementById("open-measurement");
  const promise = document.querySelector(".private");
  const usual = promise.textContent;
  const own = {...lab, api: null, status: null, close: () => turn(false), name: () => name(), kept: (some) => { offer.kept.set(some ? "1" : null); name(); }};
  let panel = null;
  let last = null;
  let started = false;

  function turn(on) {
    place.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    if (!on) (button.hidden ? choose : button).focus();
  }

  /** The button is there for who can use it. Whoever has no driver has no GPU, and is not told so unasked. */
  function name() {
    const {status} = own;
    const offered = status && status.missing !== "driver" && status.error === undefined;
    button.textContent = offered ? "Measure on the GPU" : "Measured times";
    promise.textContent = offered ? BUT : usual;
    button.hidden = !offered && !lab.config.sample && !offer.kept.get() && (place.hidden || panel === null);
  }

  async function ready() {
    if (panel) return panel;
    const {GpuPanel, styled} = await import("./gpu.js");
    await styled(); // where that fails, there is no panel yet
    panel ??= new GpuPanel(place, own);
    panel.show(last);
    return panel;
  }

  /** Open the panel and do something in it. */
  async function within(act = () => {}) {
    notice("gpu", "");
    try {
      const opened = await ready();
      turn(true);
      await act(opened);
    } catch (error) {
      notice("gpu", `The panel could not be loaded. ${error.message}`);
    }
  }

  async function ask() {
    const {Api} = await import("./gpu-api.js");
    own.api = new Api(offer);
    own.status = offer.api === "token" && !offer.token.get() ? {token: true} : await own.api.status();
    name();
    panel?.told();
    if (offer.job.get() && !own.status.token) await within((opened) => opened.resume());
  }

  name();
  offer.came = () => { if (started) ask().catch(() => {}); };
  button.addEventListener("click", () => (place.hidden ? within() : turn(false)));
  choose.addEventListener("click", () => within((opened) => opened.choose()));

  return {
    show(payload) {
      last = payload;
      panel?.show(payload);
    },
    /** Python is ready. The server is asked once. */
    started() {
      if (started || !offer.api) return;
      started = true;
      ask().catch(() => { /* no connection: the panel is not offered */ });
    },
    open: (file) => within((opened) => opened.open(file)),
  };
}
