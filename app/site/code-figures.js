// Figures of several runs side by side, as a small table.

import {h} from "./replay-dom.js";

const whole = (value) => String(Math.round(value * 10) / 10);
const percent = (value) => `${Math.round(value * 100)} %`;

const FIGURES = [
  ["iterations", "iterations", whole], ["utilization", "utilization", percent], ["wait_p95", "P95 wait", whole],
  ["latency_mean", "mean latency", whole], ["peak_pages", "peak pages", whole], ["occupancy", "occupancy", percent],
];

/**
 * @param {string} caption  @param {[string, object][]} runs each with its name and its metrics
 * @returns {HTMLElement|null} null where there is nothing to show; what is no number is left empty
 */
export function figuresTable(caption, runs) {
  if (!runs.length) return null;
  return h("div", {class: "figures", tabindex: 0, role: "group", "aria-label": caption}, h("table", {},
    h("caption", {text: caption}),
    h("thead", {}, h("tr", {}, h("td"), ...runs.map(([name]) => h("th", {scope: "col", text: name})))),
    h("tbody", {}, ...FIGURES.map(([figure, label, say]) => h("tr", {}, h("th", {scope: "row", text: label}),
      ...runs.map(([, metrics]) => h("td", {text: Number.isFinite(metrics[figure]) ? say(metrics[figure]) : ""})))))));
}
