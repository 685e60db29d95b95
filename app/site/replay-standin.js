// Pages in use over time, drawn simply until the chart proper is there; the same geometry, so nothing moves then.

import {h, own, Pool, s, setAttr, setText} from "./replay-dom.js";
import {CHART, LEFT, RIGHT, tidyStep} from "./replay-geometry.js";
import {rowAt} from "./replay-model.js";
import {sequencesOf} from "./replay-options.js";

export class StandIn {
  constructor() {
    this.areas = s("g");
    this.pool = s("line", {class: "pool"});
    this.label = s("text", {class: "tick"});
    this.grid = s("g");
    this.svg = s("svg", {class: "standin", "aria-hidden": "true", height: CHART.height}, this.grid, this.areas, this.pool, this.label);
    this.node = h("div", {class: "chart-standin"}, this.svg);
    this.paths = new Pool(this.areas, () => s("path"));
    this.rules = new Pool(this.grid, () => s("line", {class: "rule"}));
    this.ticks = new Pool(this.grid, () => s("text", {class: "tick", "text-anchor": "end"}));
  }

  draw(policy, model, scale) {
    if (!this.node.parentNode) return; // the chart proper has taken its place
    const pages = model.limits.num_pages;
    const low = CHART.height - CHART.bottom;
    const y = (n) => low - (n / (pages * CHART.room)) * (low - CHART.top);
    setAttr(this.svg, "width", scale.width);
    setAttr(this.svg, "viewBox", `0 0 ${scale.width} ${CHART.height}`);
    const right = scale.width - RIGHT;
    this.rules.begin();
    this.ticks.begin();
    for (let n = 0, step = tidyStep(pages, 5); n <= pages; n += step) {
      put(this.rules.next(), {x1: LEFT, x2: right, y1: y(n), y2: y(n)});
      const text = this.ticks.next();
      setText(text, String(n));
      put(text, {x: LEFT - 7, y: y(n) + 4});
    }
    this.rules.end();
    this.ticks.end();
    put(this.pool, {x1: LEFT, x2: right, y1: y(pages), y2: y(pages)});
    setText(this.label, `pool: ${pages}`);
    put(this.label, {x: LEFT + 2, y: y(pages) + 13});
    this.#stack(policy, model, scale, y);
  }

  #stack(policy, model, scale, y) {
    const floor = new Array(policy.end + 2).fill(0);
    const counted = []; // pages by iteration, where some are shared
    this.paths.begin();
    for (const request of model.requests) {
      const outlines = [];
      let upper = [];
      let lower = [];
      // One outline for each unbroken stay: a preempted request holds nothing in between.
      const close = () => {
        if (upper.length) outlines.push(`M${upper.join("L")}L${lower.reverse().join("L")}Z`);
        upper = [];
        lower = [];
      };
      for (let t = 1; t <= policy.end; t++) {
        const held = pagesHeld(policy, rowAt(policy, t), request, () => (counted[t] ??= new Set()));
        if (!held) {
          close();
          continue;
        }
        const [x0, x1] = [scale.x(t).toFixed(1), scale.x(t + 1).toFixed(1)];
        lower.push(`${x0} ${y(floor[t]).toFixed(1)}`, `${x1} ${y(floor[t]).toFixed(1)}`);
        floor[t] += held;
        upper.push(`${x0} ${y(floor[t]).toFixed(1)}`, `${x1} ${y(floor[t]).toFixed(1)}`);
      }
      close();
      if (outlines.length) put(this.paths.next(), {d: outlines.join(""), "data-r": request.index});
    }
    this.paths.end();
  }
}

/** Pages of a request and its samples; one that several hold counts for the first of them. */
function pagesHeld(policy, row, request, pagesSeen) {
  if (!row?.shared_pages) return sequencesOf(policy, request.id).reduce((sum, id) => sum + (own(row?.pages, id)?.length ?? 0), 0);
  const counted = pagesSeen();
  const before = counted.size;
  for (const id of sequencesOf(policy, request.id)) for (const page of own(row.pages, id) ?? []) counted.add(page);
  return counted.size - before;
}

function put(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) setAttr(node, name, value);
}
