// One row above the sides: every request as a chip, and what the marks of the timeline mean.

import {ChipRow} from "./replay-chip.js";
import {h} from "./replay-dom.js";

const MARKS = [
  ["prefill", "prefill"], ["decode", "decode"], ["stalled", "stalled"], ["held", "held after finishing"],
  ["empty", "empty seat"], ["wait", "waits"], ["host", "on the host"], ["gone", "runs for nobody"], ["preempted", "preempted"], ["cancelled", "cancelled"],
];

export class Legend {
  constructor() {
    const row = h("span", {class: "chips"});
    this.chips = new ChipRow(row);
    this.items = Object.fromEntries(MARKS.map(([name, text]) => [name, h("li", {}, h("i", {class: `swatch ${name}`}), text)]));
    this.node = h("div", {class: "legend"},
      h("div", {class: "all", role: "group", "aria-label": "Requests"}, h("span", {class: "name", text: "Requests"}), row),
      h("ul", {"aria-label": "Marks of the timeline"}, ...Object.values(this.items)));
  }

  show(model) {
    this.chips.update(model.requests);
    const has = (state) => model.policies.some((policy) => policy.bars.some((bar) => bar.state === state));
    this.items.stalled.hidden = !has("stalled");
    this.items.held.hidden = !has("held");
    this.items.host.hidden = !model.policies.some((policy) => policy.waits.some((wait) => wait.host));
    this.items.gone.hidden = !model.policies.some((policy) => policy.bars.some((bar) => bar.gone));
    this.items.cancelled.hidden = !model.policies.some((policy) => policy.history.ends.length);
    this.items.preempted.hidden = !model.policies.some((policy) => policy.preemptions.length);
  }
}
