// The engine's options on the page: the button that asks for their fields, and in one line which are on.

import {h, setAttr, setText} from "./replay-dom.js";

const NONE = "No option is on: this is the engine of the lesson.";
const $ = (id) => document.getElementById(id);

/**
 * @param {object} lab send(name, data): calls Python; ready(): whether it answers
 * @returns {{show: (payload: object) => void, opened: () => void, started: () => void}} started: Python is ready, for the first time or again
 */
export function setUpOptions({send, ready}) {
  const button = $("more-options");
  const panel = $("options");
  const line = $("options-on");
  let place = 0; // of the one that was turned off last
  let asked = false; // Python has been asked for the fields
  let on = [];

  const ask = () => {
    if (asked || panel.hidden || !ready()) return;
    asked = true;
    send("open_options", {});
  };
  setText(line, NONE);
  button.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    setAttr(button, "aria-expanded", String(!panel.hidden));
    setText(button, panel.hidden ? "More options" : "Fewer options");
    line.hidden = !on.length && panel.hidden; // has its place before the first one is on, so that no field moves then
    ask();
  });

  /** Turn one off, or (null) all; the focus stays near. */
  const off = (name, at) => {
    if (!ready()) return;
    place = at;
    send("options_off", {name});
  };

  return {
    show({options_on: next = []}) {
      if (JSON.stringify(next) === JSON.stringify(on)) return;
      on = next;
      const focused = line.contains(document.activeElement);
      const turn = ({name, text}, at) => h("button", {type: "button", class: "on", "aria-label": `Turn off ${text}`, on: {click: () => off(name, at)}},
        text, h("span", {"aria-hidden": "true", text: " ×"}));
      line.hidden = !on.length && panel.hidden;
      line.replaceChildren(h("span", {text: on.length ? "On" : NONE}), ...on.map(turn),
        ...(on.length > 1 ? [h("button", {type: "button", class: "as-link", text: "Turn all off", on: {click: () => off(null, 0)}})] : []));
      if (focused) (line.querySelectorAll("button.on")[Math.min(place, on.length - 1)] ?? button).focus();
    },
    /** Python has made the fields. */
    opened() {
      $("options-wait").hidden = true;
    },
    started() {
      asked = false;
      $("options-wait").hidden = false;
      ask();
    },
  };
}
