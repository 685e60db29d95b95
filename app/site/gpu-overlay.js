// Measured ms under the seats of each policy, on the same axis: iteration t of the GPU stands below iteration t of the
// simulator. It is put between the timeline and the chart of pages, so the cursor and the veil lie over it as well.

import {h, s, setText} from "./replay-dom.js";
import {LEFT, scaleOf} from "./replay-geometry.js";
import {ms} from "./gpu-words.js";

const HEIGHT = 92;
const ROOM = 1.1; // above the longest

export class Overlay {
  #lanes = new Map();

  /** @param {object} view the ReplayView */
  constructor(view) {
    this.view = view;
    this.resized = new ResizeObserver(() => this.refresh());
    view.root.addEventListener("lab-iteration", () => this.#turned());
  }

  /** Another iteration: only words change, and nothing is laid out for them, unless the axis has become longer. */
  #turned() {
    for (const lane of this.#lanes.values()) {
      if (lane.last !== this.view.last) {
        this.refresh();
        return;
      }
      lane.update(this.view.iteration);
    }
  }

  /** @param {object|null} measurement to be shown; it is of the replay on the screen  @param {object|null} second to compare with */
  set(measurement, second = null) {
    this.measurement = measurement;
    this.second = second;
    this.refresh(true);
  }

  /** Bring the lanes to the sides, width, length and iteration of now. */
  refresh(anew = false) {
    const {measurement, view} = this;
    for (const [policy, lane] of this.#lanes) {
      if (measurement && Object.hasOwn(measurement.policies, policy)) continue;
      lane.node.remove();
      this.#lanes.delete(policy);
    }
    if (!measurement) {
      this.resized.disconnect();
      return;
    }
    const most = mostOf(measurement, this.second);
    for (const policy of Object.keys(measurement.policies)) {
      const time = [...view.root.querySelectorAll(".side")].find((side) => side.dataset.policy === policy)?.querySelector(".time");
      if (!time) continue;
      const lane = this.#lanes.get(policy) ?? new Lane(policy, view);
      this.#lanes.set(policy, lane);
      const chart = time.querySelector(".chart-slot");
      if (chart.previousSibling !== lane.node) time.insertBefore(lane.node, chart);
      this.resized.observe(time);
      const width = Math.floor(time.clientWidth);
      if (anew || lane.width !== width || lane.last !== view.last) lane.draw(measurement, this.second, scaleOf(width, view.last), most);
      lane.update(view.iteration);
    }
  }
}

function mostOf(...measurements) {
  let most = 0;
  for (const measurement of measurements) {
    for (const {iterations} of Object.values(measurement?.policies ?? {})) {
      for (const row of iterations) most = Math.max(most, row.ms.p90, row.ms.median, row.floor_ms);
    }
  }
  return (most || 1) * ROOM;
}

class Lane {
  constructor(policy, view) {
    this.policy = policy;
    this.says = h("p", {class: "gpu-now"});
    this.name = h("p", {class: "gpu-name"});
    this.node = h("div", {class: "gpu-lane", dataset: {policy}}, this.name, this.says);
    const at = (event) => {
      view.pause();
      view.seek(this.scale.at(event.clientX - this.svg.getBoundingClientRect().left));
    };
    this.node.addEventListener("pointerdown", (event) => {
      if (event.button || !this.svg?.contains(event.target)) return;
      this.node.setPointerCapture(event.pointerId);
      at(event);
    });
    this.node.addEventListener("pointermove", (event) => { if (this.node.hasPointerCapture(event.pointerId)) at(event); });
  }

  /** Everything but the words of the iteration. `scale` as of the timeline; `most`: ms at the upper edge, on all sides. */
  draw(measurement, second, scale, most) {
    this.scale = scale;
    this.width = scale.width;
    this.last = scale.last;
    const part = measurement.policies[this.policy];
    this.rows = new Map(part.iterations.map((row) => [row.iteration, row]));
    const y = (value) => round(HEIGHT - 6 - (value / most) * (HEIGHT - 12));
    const line = (rows, value) => steps(rows, scale, (row) => y(value(row)));
    const rows = part.iterations;
    const other = second?.policies[this.policy]?.iterations ?? [];
    const svg = s("svg", {width: scale.width, height: HEIGHT, viewBox: `0 0 ${scale.width} ${HEIGHT}`, role: "img", "aria-label": describe(this.policy, measurement, part)},
      s("line", {class: "base", x1: LEFT, x2: scale.x(scale.last + 1), y1: y(0), y2: y(0)}),
      s("text", {x: LEFT - 6, y: y(0), "text-anchor": "end", text: "0"}),
      s("text", {x: LEFT - 6, y: y(most / ROOM) + 7, "text-anchor": "end", text: ms(most / ROOM)}),
      s("path", {class: "band", d: band(rows, scale, y)}),
      s("path", {class: "floor", d: line(rows, (row) => row.floor_ms)}),
      s("path", {class: "eager", d: rows.filter((row) => row.mode === "eager").map((row) => `M${round(scale.x(row.iteration))} ${HEIGHT - 2.5}h${round(Math.max(1, scale.step))}`).join("")}),
      s("path", {class: "other", d: line(other, (row) => row.ms.median)}),
      s("path", {class: "median", d: line(rows, (row) => row.ms.median)}));
    this.svg?.remove();
    this.svg = svg;
    this.node.append(svg);
    this.node.classList.toggle("invalid", !measurement.valid);
    this.name.replaceChildren(
      ...(measurement.valid ? [] : [h("b", {class: "gpu-bad", text: "NOT VALID "})]),
      h("b", {text: "Measured ms"}), ` ${measurement.device.name} `,
      ...keys([["median", "median"], ["band", "p10–p90"], ["floor", "floor"], ["eager", "eager"], ...(other.length ? [["other", "the other median"]] : [])]));
    this.told = null;
  }

  /** What was measured in iteration t. */
  update(t) {
    if (t === this.told) return;
    this.told = t;
    const row = this.rows.get(t);
    setText(this.says, row ? `iteration ${t}: ${ms(row.ms.median)} ms (${ms(row.ms.p10)}–${ms(row.ms.p90)}), floor ${ms(row.floor_ms)}, ratio ${row.ratio.toFixed(2)}, ${row.mode}`
      : `iteration ${t}: nothing ran, nothing was measured`);
  }
}

const keys = (pairs) => pairs.map(([kind, text]) => h("span", {class: "gpu-key"}, h("i", {class: kind, "aria-hidden": "true"}), text));
const round = (value) => Math.round(value * 100) / 100;

/** Rows without a gap between their iterations. */
function runs(rows) {
  const found = [];
  for (const row of rows) {
    const run = found.at(-1);
    if (run && run.at(-1).iteration === row.iteration - 1) run.push(row);
    else found.push([row]);
  }
  return found;
}

function steps(rows, scale, y) {
  return runs(rows).map((run) => `M${round(scale.x(run[0].iteration))} ${y(run[0])}${run.map((row) => `V${y(row)}H${round(scale.x(row.iteration + 1))}`).join("")}`).join("");
}

function band(rows, scale, y) {
  return runs(rows).map((run) => {
    const above = run.map((row) => `V${y(row.ms.p90)}H${round(scale.x(row.iteration + 1))}`).join("");
    const below = [...run].reverse().map((row) => `V${y(row.ms.p10)}H${round(scale.x(row.iteration))}`).join("");
    return `M${round(scale.x(run[0].iteration))} ${y(run[0].ms.p90)}${above}${below}Z`;
  }).join("");
}

/** The lane in words, for those who do not see it. */
function describe(policy, measurement, part) {
  const medians = part.iterations.map((row) => row.ms.median);
  const range = medians.length ? ` from ${ms(Math.min(...medians))} to ${ms(Math.max(...medians))} ms` : "";
  return `${measurement.valid ? "" : "Not valid: "}${policy} on ${measurement.device.name}: ${medians.length} iterations${range}, in all ${ms(part.total_ms.median)} ms, ${part.ratio.toFixed(2)} times the floor.`;
}
