// The button that opens the trace editor. The editor itself is fetched when it is first asked for.

import {notice} from "./notices.js";

/** @param {object} lab see editor.js  @returns {{show: (payload: object) => void, veil: () => void}} */
export function setUpEditor(lab) {
  const button = document.getElementById("edit-trace");
  const place = document.getElementById("editor");
  let editor = null;
  let last = null;
  let waiting = false; // for the trace of a link, which Python has not read yet

  const turn = (on) => {
    place.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    button.textContent = on ? "Close the editor" : "Edit this trace";
  };
  const close = () => {
    turn(false);
    button.focus();
  };

  async function open() {
    notice("editor", "");
    try {
      const {Editor} = await import("./editor.js");
      editor ??= new Editor(place, {...lab, close});
    } catch (error) {
      notice("editor", `The editor could not be loaded. ${error.message}`);
      return;
    }
    turn(true);
    editor.open(last);
  }

  button.addEventListener("click", () => {
    if (!place.hidden) close();
    else if (lab.pending()) {
      waiting = true;
      notice("editor", "The editor opens with what this link brings, as soon as Python is ready.");
    } else open();
  });

  return {
    show(payload) {
      last = payload;
      if (!place.hidden) editor?.show(payload);
      else if (waiting && !lab.pending()) {
        waiting = false;
        open();
      }
    },
    /** Results are hidden, or no longer. */
    veil() {
      if (!place.hidden) editor?.veil();
    },
  };
}
