// The same data as text: a table of all iterations and one of all requests. Built when first opened.

import {chip} from "./replay-chip.js";
import {h, own} from "./replay-dom.js";
import {rowAt} from "./replay-model.js";
import {ms, short} from "./replay-option-words.js";
import {reasonWords} from "./replay-words.js";

const COLUMNS = ["running", "waiting", "gate", "pages used", "events"];
const LIFE = ["start", "finish", "wait", "latency", "preemptions"];
/** What a model of time adds, by the names in the rows and in the figures of a request. */
const STEP = ["start_ns", "duration_ns"];
const TIMES = ["ttft_ms", "tpot_ms", "e2e_ms", "itl_max_ms", "stalls"];
const timed = (policy) => policy.options.step_time !== undefined;
const columnsOf = (policy) => [...COLUMNS, ...(timed(policy) ? ["start", "lasts"] : [])];
const lifeOf = (policy) => [...LIFE, ...(timed(policy) ? TIMES.map((name) => name.replace("_ms", " ms").replace("_", " ")) : [])];
const PAUSE = 200; // ms of quiet before an open table is made again

export class Tables {
  #timer = 0;
  #model = null;
  #t = 1;

  /** @param {(t: number) => void} jump */
  constructor(jump) {
    this.jump = jump;
    const part = (text, make) => {
      const box = h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": text});
      const node = h("details", {class: "data"}, h("summary", {text}), box);
      node.addEventListener("toggle", () => this.#fill());
      return {node, box, make, made: null};
    };
    this.parts = [
      part("This iteration and all others as a table", () => this.#iterations()),
      part("All requests as a table", () => this.#requests()),
    ];
    this.node = h("div", {class: "tables"}, ...this.parts.map(({node}) => node));
  }

  show(model) {
    this.#model = model;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fill(), PAUSE);
  }

  update(t) {
    this.#t = t;
    if (!this.rows) return;
    this.current?.removeAttribute("aria-current");
    this.current = this.rows[t - 1];
    this.current?.setAttribute("aria-current", "true");
  }

  #fill() {
    for (const part of this.parts) {
      if (!part.node.open || part.made === this.#model) continue;
      const {scrollTop, scrollLeft} = part.box;
      part.box.replaceChildren(part.make());
      part.made = this.#model;
      part.box.scrollTop = scrollTop;
      part.box.scrollLeft = scrollLeft;
    }
    this.update(this.#t);
  }

  #iterations() {
    const {policies, last} = this.#model;
    const head = (text, props) => h("th", {scope: "col", text, ...props});
    this.rows = Array.from({length: last}, (_, index) => this.#iteration(index + 1));
    this.rows[this.#t - 1]?.scrollIntoView?.({block: "nearest"});
    return h("table", {},
      h("caption", {text: "Every iteration under each policy. An iteration's number takes the replay there."}),
      h("thead", {},
        h("tr", {}, head("iteration", {rowspan: 2}), ...policies.map((policy) => h("th", {scope: "colgroup", colspan: columnsOf(policy).length, text: policy.title}))),
        h("tr", {}, ...policies.flatMap((policy) => columnsOf(policy).map((text, index) => head(text, {class: ["first", "", "", "number", "", "number", "number"][index]}))))),
      h("tbody", {}, ...this.rows));
  }

  #iteration(t) {
    const cells = this.#model.policies.flatMap((policy) => {
      const row = rowAt(policy, t);
      if (!row) return [h("td", {class: "first none", colspan: columnsOf(policy).length, text: t > policy.end ? "done" : "idle"})];
      const events = [["arrived", row.arrived], ["refused", row.refused], ["admitted", row.admitted], ["swapped in", row.swapped_in && Object.keys(row.swapped_in)],
        ["preempted", row.preempted], ["swapped out", row.swapped_out && Object.keys(row.swapped_out)], ["left", row.left], ["cancelled", row.cancelled],
        ["finished", row.completed], ["released", row.released]]
        .filter(([, ids]) => ids?.length).map(([what, ids]) => `${ids.join(", ")} ${what}`);
      return [row.running.join(" "), row.waiting.join(" "), row.gate ?? "", String(row.pages_used), events.join("; "), ...(timed(policy) ? STEP.map((name) => ms(row[name])) : [])]
        .map((text, index) => h("td", {text, class: ["first", "", "", "number", "happened", "number", "number"][index]}));
    });
    return h("tr", {}, h("th", {scope: "row"}, h("button", {type: "button", class: "jump", text: String(t), "aria-label": `Go to iteration ${t}`, on: {click: () => this.jump(t)}})), ...cells);
  }

  #requests() {
    const {policies, requests} = this.#model;
    const head = (text, props) => h("th", {scope: "col", text, ...props});
    return h("table", {},
      h("caption", {text: "Every request under each policy, in iterations."}),
      h("thead", {},
        h("tr", {}, ...["request", ["arrival", this.#model.timeUnit].filter(Boolean).join(", "), "prompt tokens", "output tokens"].map((text, index) => head(text, {rowspan: 2, class: index ? "number" : ""})),
          ...policies.map((policy) => h("th", {scope: "colgroup", colspan: lifeOf(policy).length, text: policy.title}))),
        h("tr", {}, ...policies.flatMap((policy) => lifeOf(policy).map((text, index) => head(text, {class: index ? "number" : "number first"}))))),
      h("tbody", {}, ...requests.map((request) => h("tr", {"data-r": request.index, "data-pin": ""},
        h("th", {scope: "row"}, chip(request, "button")),
        ...[request.arrival, request.prompt_tokens, request.output_tokens].map((n) => h("td", {class: "number", text: String(n)})),
        ...policies.flatMap((policy) => life(policy, request))))));
  }
}

function life(policy, request) {
  const reason = policy.rejected.get(request.id);
  if (reason !== undefined) return [h("td", {class: "first none", colspan: lifeOf(policy).length, text: `rejected: ${reasonWords(policy, request, reason)}`})];
  const figures = own(policy.figures, request.id) ?? {};
  const cells = LIFE.map((name, index) => h("td", {class: index ? "number" : "number first", text: String(figures[name] ?? "")}));
  if (timed(policy)) cells.push(...TIMES.map((name) => h("td", {class: "number", text: figures.start === undefined ? "" : short(figures[name])})));
  return cells;
}
