// The button that opens the trace editor. The editor itself is fetched when it is first asked for.

import {notice} from "./notices.js";

/** @param {object} lab see editor.js  @returns {{show: (payload: object) => void}} */
export function setUpEditor(lab) {
  const button = document.getElementById("edit-trace");
  const place = document.getElementById("editor");
  let editor = null;
  let last = null;

  const turn = (on) => {
    place.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    button.textContent = on ? "Close the editor" : "Edit this trace";
  };
  const close = () => {
    turn(false);
    button.focus();
  };

  button.addEventListener("click", async () => {
    if (!place.hidden) {
      close();
      return;
    }
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
  });

  return {
    show(payload) {
      last = payload;
      if (!place.hidden) editor?.show(payload);
    },
  };
}
