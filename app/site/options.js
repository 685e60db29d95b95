// The engine's options on the page: the button that asks for their fields, and in one line which are on.

import {h, setAttr, setText} from "./replay-dom.js";

const $ = (id) => document.getElementById(id);

/**
 * @param {object} lab send(name, data): calls Python; ready(): whether it answers
 * @returns {{show: (payload: object) => void, opened: () => void, started: () => void}} started: Python is ready, for the first time or again
 */
export function setUpOptions({send, ready}) {
  const button = $("more-options");
  const panel = $("options");
  const line = $("options-on");
  let asked = false; // Python has been asked for the fields
  let key = "[]";

  const ask = () => {
    if (asked || panel.hidden || !ready()) return;
    asked = true;
    send("open_options", {});
  };
  button.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    setAttr(button, "aria-expanded", String(!panel.hidden));
    setText(button, panel.hidden ? "More options" : "Fewer options");
    ask();
  });

  /** Turn one off, or (null) all; the focus stays near. */
  const off = (name, place) => {
    if (!ready()) return;
    line.place = place;
    send("options_off", {name});
  };

  return {
    show({options_on: on = []}) {
      const next = JSON.stringify(on);
      if (next === key) return;
      key = next;
      const focused = line.contains(document.activeElement);
      const turn = (text, name, label, place) => h("button", {type: "button", class: "on", "aria-label": label, on: {click: () => off(name, place)}}, text, h("span", {"aria-hidden": "true", text: " ×"}));
      line.hidden = !on.length;
      line.replaceChildren(h("span", {text: "On"}), ...on.map(({name, text}, place) => turn(text, name, `Turn off ${text}`, place)),
        ...(on.length > 1 ? [h("button", {type: "button", class: "as-link", text: "Turn all off", on: {click: () => off(null, 0)}})] : []));
      if (focused) (line.querySelectorAll("button.on")[Math.min(line.place ?? 0, on.length - 1)] ?? button).focus();
    },
    /** Python has made the fields. */
    opened() {
      $("options-wait").hidden = true;
    },
    started() {
      asked = false;
      ask();
    },
  };
}
