// What a whole run came to: six figures of a policy, the rule of each, and the difference to the first policy.

import {count, h, setAttr, setText} from "./replay-dom.js";
import {groupsOf} from "./replay-option-cards.js";

const whole = (value) => String(Math.round(value * 10) / 10);
const percent = (value) => Math.round(value * 100);

/** better: −1 less is better, 1 more is better, 0 neither. */
const METRICS = [
  {name: "iterations", label: "iterations", better: -1},
  {name: "utilization", label: "utilization", better: 1, share: true},
  {name: "wait_p95", label: "P95 wait", better: -1},
  {name: "latency_mean", label: "mean latency", better: -1},
  {name: "peak_pages", label: "peak pages", better: 0},
  {name: "occupancy", label: "occupancy", better: 0, share: true},
];

/** The rule of a figure, with the numbers of this run. */
function rule(name, policy) {
  const own = groupsOf(policy).flatMap(({metrics}) => metrics).find((metric) => metric.name === name);
  if (own) return own.rule(policy);
  if (!METRICS.some((metric) => metric.name === name)) return ""; // of an option that this policy does not know
  const m = policy.metrics;
  const {limits} = policy;
  const n = m.completed;
  const th = Math.floor(0.95 * (n - 1)) + 1;
  const busy = count(m.busy_iterations, "busy iteration");
  if (!n) return "No request was served.";
  switch (name) {
    case "iterations":
      return `Iterations: the last one in which a request finished. ${m.busy_iterations === m.iterations ? "All were busy." : `${m.busy_iterations} were busy, ${m.iterations - m.busy_iterations} idle.`}`;
    case "utilization": {
      const seats = count(limits.max_num_seqs, "seat");
      const over = m.iterations > m.busy_iterations ? `; over all ${m.iterations} it would be ${percent(m.decoded_tokens / (limits.max_num_seqs * m.iterations))} %` : "";
      return `Utilization: ${count(m.decoded_tokens, "token")} ÷ (${seats} × ${busy})${over}.`;
    }
    case "wait_p95":
      return `P95 wait: the ${ordinal(th)} of ${count(n, "wait")} in order; the largest is ${m.wait_max}.`;
    case "latency_mean":
      return `Mean latency: finish − arrival, over ${count(n, "request")}; P95 ${m.latency_p95}, by the same rule as P95 wait.`;
    case "peak_pages":
      return `Peak pages: the most held while one iteration runs, of ${limits.num_pages}. At most ${count(m.wasted_slots_peak, "slot")} of held pages were unused.`;
    default:
      return `Occupancy: pages held ÷ ${limits.num_pages}, on average over ${busy}.`;
  }
}

function ordinal(n) {
  const tail = n % 100 >= 11 && n % 100 <= 13 ? "th" : {1: "st", 2: "nd", 3: "rd"}[n % 10] ?? "th";
  return `${n}${tail}`;
}

const REASONS = ["utilization", "wait_p95"]; // told when nothing is asked for

export class Cards {
  /** @param {string} policy name  @param {(name: string|null) => void} ask called with the figure whose rule is wanted */
  constructor(policy, ask) {
    this.ask = ask;
    this.always = METRICS.map((metric) => this.#card(metric));
    this.cards = this.always;
    this.groups = [];
    this.rule = h("p", {class: "rule"});
    this.node = h("div", {class: "results", role: "group", "aria-label": `Results of ${policy}`},
      h("div", {class: "cards"}, ...this.cards.map(({node}) => node)), this.rule);
  }

  #card(metric) {
    const {ask} = this;
    const value = h("b", {class: "value"});
    const veil = h("span", {class: "sr veil-words"});
    const delta = h("span", {class: "delta"});
    const node = h("button", {class: "card", type: "button", dataset: {metric: metric.name},
      on: {
        pointerenter: () => ask(metric.name), pointerleave: () => ask(null),
        focus: () => ask(metric.name), blur: () => ask(null), click: () => ask(metric.name),
      }}, h("span", {class: "label", text: metric.label}), value, veil, delta);
    return {metric, node, value, veil, delta};
  }

  /** Cards for the groups of figures that options bring; those that stay are not touched. */
  #extend(policy) {
    const wanted = groupsOf(policy);
    if (wanted.length === this.groups.length && wanted.every((group, index) => group === this.groups[index].group)) return;
    for (const {node} of this.groups) node.remove();
    this.groups = wanted.map((group) => {
      const cards = group.metrics.map((metric) => this.#card(metric));
      const node = h("div", {class: "cards more", role: "group", "aria-label": group.name, dataset: {group: group.part}}, ...cards.map((card) => card.node));
      return {group, cards, node};
    });
    this.rule.before(...this.groups.map(({node}) => node));
    this.cards = [...this.always, ...this.groups.flatMap(({cards}) => cards)];
  }

  /** @param {object} policy  @param {object|null} base the first policy, null for itself  @param {boolean} veiled  @param {boolean} compare */
  update(policy, base, veiled, compare) {
    this.policy = policy;
    this.veiled = veiled;
    this.node.classList.toggle("veiled", veiled);
    this.#extend(policy);
    for (const {metric, node, value, veil, delta} of this.cards) {
      const figure = figureOf(metric, policy.metrics);
      setAttr(node, "data-value", figure);
      setText(value, metric.text ? metric.text(figure) : metric.share ? `${percent(figure)} %` : whole(figure));
      setAttr(node, "aria-description", veiled ? null : rule(metric.name, policy));
      setAttr(value, "aria-hidden", veiled ? "true" : null);
      setText(veil, veiled ? "hidden until you have seen the run to its end" : "");
      const difference = base && compare && !policy.stopped ? differ(metric, figure, figureOf(metric, base.metrics)) : {text: "", kind: ""};
      setText(delta, difference.text);
      setAttr(delta, "class", `delta ${difference.kind}`);
      setAttr(delta, "title", difference.text && base ? `against ${base.title.toLowerCase()}` : null);
    }
    this.tell(null);
  }

  /** Tell the rule of one figure, or the reasons that stand there by default. */
  tell(name) {
    if (!this.policy) return;
    const names = name ? [name] : REASONS;
    setText(this.rule, this.veiled
      ? "The results appear when you have seen this run to its end, or skip the guess."
      : [this.policy.stopped ? "Only up to where it stopped. " : "", ...new Set(names.map((one) => rule(one, this.policy)))].join(" "));
    for (const {metric, node} of this.cards) node.classList.toggle("asked", metric.name === name);
  }
}

function figureOf(metric, metrics) {
  return (metric.of ? metric.of(metrics) : metrics[metric.name]) ?? 0;
}

function differ(metric, figure, base) {
  if (metric.text && metric.text !== String) {
    const text = metric.text(figure);
    if (text === metric.text(base)) return {text: "same", kind: ""};
    const kind = metric.better ? ((figure - base) * metric.better > 0 ? "good" : "bad") : "";
    return {text: kind ? (kind === "good" ? "better" : "worse") : figure > base ? "more" : "less", kind};
  }
  const by = metric.share ? percent(figure) - percent(base) : Math.round((figure - base) * 10) / 10;
  if (!by) return {text: "same", kind: ""};
  const text = `${by > 0 ? "+" : "−"}${Math.abs(by)}${metric.share ? " pts" : ""}`;
  if (!metric.better) return {text, kind: ""};
  const good = by * metric.better > 0;
  return {text: `${text} ${good ? "better" : "worse"}`, kind: good ? "good" : "bad"};
}
