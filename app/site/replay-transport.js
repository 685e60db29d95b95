// The one control that moves every side: buttons, speed, the scrubber with its marks, and which iteration it is.

import {h, s, setAttr, setText} from "./replay-dom.js";
import {SPEEDS} from "./replay-clock.js";

const ICONS = {
  play: "M7 4.5v15l12.5-7.5z",
  pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
  back: "M15.5 5.5v13L6.5 12z",
  forward: "M8.5 5.5v13l9-6.5z",
  event: "M5 5.5v13l8.5-6.5zM16 5.5h2.6v13H16z",
};
const HELP = [["Space", "play"], ["← →", "step"], ["Shift + ← →", "event"], ["Home End", "first, last"], ["Esc", "unpin"]];

function icon(name) {
  return s("svg", {viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true"}, s("path", {d: ICONS[name]}));
}

export class Transport {
  /** @param {{step: (by: number) => void, event: (by: number) => void, toggle: () => void, scrub: (t: number) => void, speed: (n: number) => void}} on */
  constructor(on) {
    const button = (name, label, listener) => h("button", {type: "button", class: `key ${name}`, "aria-label": label, title: label, on: {click: listener}}, icon(name));
    this.playIcon = icon("play");
    this.playWord = h("span", {text: "Play"});
    this.play = h("button", {type: "button", class: "key main", on: {click: on.toggle}}, this.playIcon, this.playWord);
    const speed = h("select", {"aria-label": "Speed", class: "speed", on: {change: () => on.speed(Number(speed.value))}},
      ...SPEEDS.map((n) => h("option", {value: n, text: `${n}×`})));
    this.input = h("input", {type: "range", min: 1, max: 1, step: 1, value: 1, "aria-label": "Iteration",
      on: {input: () => on.scrub(Number(this.input.value))}});
    this.done = h("span", {class: "done"});
    this.knob = h("span", {class: "knob"});
    this.events = s("path", {class: "event"});
    this.stones = s("path", {class: "stone"});
    this.marks = s("svg", {class: "events", "aria-hidden": "true", preserveAspectRatio: "none"}, this.events, this.stones);
    this.track = h("div", {class: "scrub"}, h("span", {class: "track"}, this.done), h("span", {class: "rail"}, this.marks, this.knob), this.input);
    this.now = h("b");
    this.of = h("span");
    this.node = h("div", {class: "transport", role: "group", "aria-label": "Replay controls"},
      h("div", {class: "keys"},
        button("back", "Back one iteration", () => on.step(-1)), this.play,
        button("forward", "Forward one iteration", () => on.step(1)),
        button("event", "Next event", () => on.event(1)), speed),
      this.track,
      h("div", {class: "count"}, h("span", {class: "word", text: "iteration "}), this.now, this.of));
    this.help = h("p", {class: "help"}, "Keyboard: ", ...HELP.map(([key, what]) => h("span", {}, h("kbd", {text: key}), ` ${what}`)));
  }

  show(model) {
    this.last = model.last;
    setAttr(this.input, "max", model.last);
    setText(this.of, ` / ${model.last}`);
    const stones = new Set(model.policies.flatMap((policy) => policy.milestones.map(({iteration}) => iteration)));
    setAttr(this.marks, "viewBox", `1 0 ${Math.max(1, model.last - 1)} 8`);
    setAttr(this.events, "d", model.events.map((t) => `M${t} 0V5`).join(""));
    setAttr(this.stones, "d", [...stones].map((t) => `M${t} 0V8`).join(""));
  }

  /** Move the knob to a position between iterations. */
  move(position) {
    const share = this.last > 1 ? (position - 1) / (this.last - 1) : 0;
    this.knob.style.transform = `translateX(${share * 100}%)`;
    this.done.style.transform = `scaleX(${share})`;
  }

  update(t, valueText) {
    if (Number(this.input.value) !== t) this.input.value = t;
    setText(this.now, String(t));
    setAttr(this.input, "aria-valuetext", valueText);
  }

  state(playing, atEnd) {
    const label = playing ? "Pause" : atEnd ? "Play again from the start" : "Play";
    setText(this.playWord, playing ? "Pause" : atEnd ? "Replay" : "Play");
    setAttr(this.play, "aria-label", label);
    setAttr(this.playIcon.firstChild, "d", playing ? ICONS.pause : ICONS.play);
  }
}
