// The seat timeline of one policy: arrivals and waits above, one lane a seat below. Drawn once for each document.

import {fit, Pool, s, setAttr, setText} from "./replay-dom.js";
import {AXIS, lanesOf, LEFT, ticksOf, WAITS} from "./replay-geometry.js";

const LETTER = 7; // px that one letter of a bar takes, about

export class Timeline {
  /** @param {string} scope unique in the page, for the names of patterns */
  constructor(scope) {
    const layer = (name) => s("g", {class: name});
    const hatch = s("pattern", {id: `${scope}-hatch`, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
      s("rect", {width: 1.6, height: 5, class: "hatch-line"}));
    this.shown = s("rect", {x: 0, y: 0});
    const seen = s("clipPath", {id: `${scope}-seen`}, this.shown);
    this.layers = Object.fromEntries(["axis", "lanes", "waits", "bars", "marks", "notes"].map((name) => [name, layer(name)]));
    this.hint = s("text", {class: "hint"});
    this.node = s("svg", {class: "timeline", role: "img"}, s("defs", {}, hatch, seen), ...Object.values(this.layers), this.hint);
    for (const name of ["waits", "bars", "marks"]) setAttr(this.layers[name], "clip-path", `url(#${scope}-seen)`);
    this.hatch = `url(#${scope}-hatch)`;
    const pool = (name, tag, props) => new Pool(this.layers[name], () => s(tag, props));
    this.ticks = pool("axis", "text", {class: "tick", y: 14});
    this.rules = pool("axis", "line", {class: "rule"});
    this.lanes = pool("lanes", "rect", {class: "lane", rx: 4});
    this.names = pool("lanes", "text", {class: "gutter", x: 0});
    this.waits = new Pool(this.layers.waits, () => s("g", {class: "wait"}, s("rect", {class: "span"}), s("rect", {class: "tick-in"}), s("text")));
    this.bars = new Pool(this.layers.bars, () => s("g", {class: "stay"}));
    this.marks = pool("marks", "path", {class: "preempted"});
    this.notes = pool("notes", "text", {class: "note"});
    this.gutterWaits = s("text", {class: "gutter", x: 0, text: "waits"});
    this.layers.axis.append(this.gutterWaits);
    this.seen = Infinity;
  }

  /** @param {object} policy  @param {object} model  @param {object} scale of replay-geometry.js */
  draw(policy, model, scale) {
    const seats = model.limits.max_num_seqs;
    const {pitch, lane} = lanesOf(seats);
    const top = AXIS + WAITS + 8;
    this.height = top + seats * pitch + 4;
    setAttr(this.node, "width", scale.width);
    setAttr(this.node, "height", this.height);
    setAttr(this.node, "viewBox", `0 0 ${scale.width} ${this.height}`);
    this.policy = policy;
    this.scale = scale;
    this.middle = top + (seats * pitch) / 2;
    this.#axis(scale);
    this.#waits(policy, model, scale);
    this.#lanes(policy, scale, seats, pitch, lane, top);
    this.#bars(policy, model, scale, pitch, lane, top);
    this.#notes(policy, model, scale, pitch, lane, top, seats);
    this.words = describe(policy, model);
    this.reveal(this.seen);
  }

  /** Draw only what happened up to iteration `seen`; Infinity: all of it. */
  reveal(seen) {
    this.seen = seen;
    if (!this.scale) return;
    const {scale, policy} = this;
    const all = seen === Infinity;
    set(this.shown, {width: all ? scale.width : scale.x(seen + 1), height: this.height});
    for (const lane of this.lanes.used) set(lane, {width: (all ? policy.end : scale.last) * scale.step});
    setAttr(this.layers.notes, "visibility", all ? null : "hidden");
    setAttr(this.hint, "visibility", seen * scale.step < scale.plot * 0.2 ? null : "hidden");
    setText(this.hint, scale.plot > 420 ? "Play, or drag here: the run draws itself" : "Play, or drag here");
    set(this.hint, {x: LEFT + scale.plot * 0.6, y: this.middle + 2});
    setAttr(this.node, "aria-label", all ? this.words : `${policy.title}, seats over iterations: shown as far as you have played.`);
  }

  #axis(scale) {
    this.ticks.begin();
    this.rules.begin();
    for (const t of ticksOf(scale)) {
      const x = scale.x(t) + scale.step / 2;
      const text = this.ticks.next();
      setText(text, String(t));
      const edge = t === scale.last && scale.last > 1 && scale.step < 20;
      set(text, {x: edge ? scale.x(scale.last + 1) : t === 1 && scale.step < 12 ? scale.x(1) : x,
        "text-anchor": edge ? "end" : t === 1 && scale.step < 12 ? "start" : "middle"});
      const rule = this.rules.next();
      set(rule, {x1: x, x2: x, y1: AXIS, y2: this.height});
    }
    this.ticks.end();
    this.rules.end();
  }

  #waits(policy, model, scale) {
    const rows = packed(policy.waits, scale);
    // Every policy gets the rows of the fullest one, so that a row is as thick on each side.
    const most = Math.max(1, ...model.policies.map((one) => packed(one.waits, scale).rows));
    const height = Math.min(10, WAITS / most);
    const letters = height >= 9;
    set(this.gutterWaits, {y: AXIS + WAITS / 2 + 8});
    this.waits.begin();
    rows.placed.forEach(({wait, row}) => {
      const node = this.waits.next();
      const [span, tick, text] = node.children;
      const x = scale.x(wait.from);
      const width = Math.max(0, (wait.to - wait.from + 1) * scale.step);
      const y = AXIS + 4 + row * height;
      const thick = Math.max(1, height - 1.5);
      setAttr(node, "data-r", wait.r);
      setAttr(node, "class", wait.host ? "wait again host" : wait.again ? "wait again" : "wait");
      set(span, {x, y, width, height: thick});
      set(tick, {x: x - 0.5, y, width: wait.again ? 0 : 2, height: thick});
      setText(text, letters ? fit(policy.byId.get(wait.id), Math.max(1, Math.floor((width - 4) / 6))) : "");
      set(text, {x: x + 4, y: y + thick - 1});
    });
    this.waits.end();
  }

  #lanes(policy, scale, seats, pitch, lane, top) {
    this.lanes.begin();
    this.names.begin();
    for (let seat = 0; seat < seats; seat++) {
      const y = top + seat * pitch;
      set(this.lanes.next(), {x: LEFT, y, height: lane});
      if (pitch < 12 && seat % 4) continue;
      const name = this.names.next();
      setText(name, `seat ${seat + 1}`);
      set(name, {y: y + lane / 2 + 4});
    }
    this.lanes.end();
    this.names.end();
  }

  #bars(policy, model, scale, pitch, lane, top) {
    this.bars.begin();
    for (const parts of stays(policy.bars)) {
      const group = this.bars.next();
      const {r, seat} = parts[0];
      const y = top + seat * pitch;
      setAttr(group, "data-r", r);
      const nodes = parts.flatMap((bar) => (bar.state === "held" ? [{bar, kind: "held"}, {bar, kind: "hatched"}]
        : bar.gone ? [{bar, kind: `${bar.state} gone`}, {bar, kind: "hatched"}] : [{bar, kind: bar.state}]));
      const final = parts.at(-1).to;
      reuse(group, nodes.length, "path");
      nodes.forEach(({bar, kind}, index) => {
        const x = scale.x(bar.from);
        const gap = bar.to === final && scale.step > 1.6 ? 1 : 0;
        const width = Math.max(0.6, (bar.to - bar.from + 1) * scale.step - gap);
        const thin = bar.state === "stalled" ? Math.max(2, lane * 0.28) : lane;
        const inset = bar.state === "held" ? 0.5 : 0;
        const round = Math.min(3, lane / 3);
        set(group.children[index], {class: kind, fill: kind === "hatched" ? this.hatch : null,
          d: tile(x + inset, y + (lane - thin) / 2 + inset, Math.max(0.6, width - 2 * inset), thin - 2 * inset,
            bar === parts[0] ? round : 0, bar === parts.at(-1) ? round : 0)});
      });
      this.#letters(group, parts, policy, scale, y, lane);
    }
    this.bars.end();
  }

  /** The request's letter in what it ran, and faintly in what it holds on to. */
  #letters(group, parts, policy, scale, y, lane) {
    const runs = [];
    for (const bar of parts) {
      const held = bar.state === "held";
      const run = runs.at(-1);
      if (run && run.held === held) run.to = bar.to;
      else runs.push({held, from: bar.from, to: bar.to, stalled: bar.state === "stalled"});
    }
    for (const run of runs) {
      const width = (run.to - run.from + 1) * scale.step;
      const text = lane < 9 ? "" : fit(policy.byId.get(parts[0].id), Math.floor((width - 4) / LETTER));
      const node = group.querySelector(run.held ? "text.kept" : "text:not(.kept)") ?? group.appendChild(s("text", {class: run.held ? "kept" : ""}));
      setText(node, text);
      set(node, {x: scale.x(run.from) + width / 2, y: y + lane / 2 + (lane < 14 ? 3 : 4), "font-size": lane < 14 ? 9 : 11});
    }
    for (const node of [...group.querySelectorAll("text")]) {
      if (!runs.some((run) => run.held === node.classList.contains("kept"))) node.remove();
    }
  }

  #notes(policy, model, scale, pitch, lane, top, seats) {
    this.marks.begin();
    for (const {at, seat, r} of policy.preemptions) {
      const x = scale.x(at);
      const y = top + seat * pitch - 2;
      const mark = this.marks.next();
      set(mark, {d: `M${x - 5} ${y - 1}h10l-4 6v${lane - 2}h-2v${2 - lane}z`, "data-r": r, class: "preempted"});
    }
    for (const {id, at, seat} of policy.history.ends) {
      const x = scale.x(at);
      const y = top + seat * pitch + lane / 2;
      const arm = Math.min(5, lane / 3);
      set(this.marks.next(), {d: `M${x - arm} ${y - arm}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`, "data-r": policy.byId.get(id).index, class: "cancelled"});
    }
    this.marks.end();
    this.notes.begin();
    const middle = top + (seats * pitch) / 2 + 2;
    for (const idle of policy.idles) {
      if ((idle.to - idle.from + 1) * scale.step < 24) continue;
      this.#note("idle", (scale.x(idle.from) + scale.x(idle.to + 1)) / 2, middle);
    }
    const left = (scale.last - policy.end) * scale.step;
    if (policy.end && left > 24) {
      const spared = scale.last - policy.end;
      const centre = (scale.x(policy.end + 1) + scale.x(scale.last + 1)) / 2;
      if (policy.stopped) this.#note(left > 84 ? `stopped in ${policy.stopped.iteration}` : "stopped", centre, middle);
      else this.#note(left > 60 ? `${spared} fewer` : `−${spared}`, centre, left > 84 ? middle - 6 : middle, "note gain");
      if (left > 84 && !policy.stopped) this.#note(`ends in ${policy.end}`, centre, middle + 9);
    }
    this.notes.end();
  }

  #note(text, x, y, kind = "note") {
    const node = this.notes.next();
    setText(node, text);
    set(node, {x, y, class: kind});
  }
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    setAttr(node, name, typeof value === "number" ? Math.round(value * 100) / 100 : value);
  }
}

/** A rectangle whose left and right corners are rounded by themselves, so that one stay reads as one bar. */
function tile(x, y, width, height, left, right) {
  const l = Math.min(left, width / 2, height / 2);
  const r = Math.min(right, width / 2, height / 2);
  const n = (value) => Math.round(value * 100) / 100;
  return `M${n(x + l)} ${n(y)}H${n(x + width - r)}q${n(r)} 0 ${n(r)} ${n(r)}V${n(y + height - r)}q0 ${n(r)} ${n(-r)} ${n(r)}`
    + `H${n(x + l)}q${n(-l)} 0 ${n(-l)} ${n(-l)}V${n(y + l)}q0 ${n(-l)} ${n(l)} ${n(-l)}z`;
}

function reuse(group, wanted, tag) {
  const have = [...group.children].filter((child) => child.tagName === tag);
  for (let index = have.length; index < wanted; index++) {
    const before = group.querySelector("text");
    group.insertBefore(s(tag), before);
  }
  for (const extra of have.slice(wanted)) extra.remove();
}

/** Bars of one request in one seat without a break, joined: prefill, decode, stalled, held. */
function stays(bars) {
  const open = new Map();
  const all = [];
  for (const bar of bars) {
    const stay = open.get(bar.seat);
    if (stay && stay.at(-1).id === bar.id && stay.at(-1).to === bar.from - 1) stay.push(bar);
    else {
      const made = [bar];
      open.set(bar.seat, made);
      all.push(made);
    }
  }
  return all;
}

/** Waits in as few rows as they need; each has room for its letter. */
function packed(waits, scale) {
  const ends = [];
  const placed = [...waits].sort((a, b) => a.from - b.from || a.r - b.r).map((wait) => {
    const from = scale.x(wait.from);
    const to = Math.max(scale.x(wait.to + 1), from + 13) + 2;
    let row = ends.findIndex((end) => end <= from);
    if (row < 0) row = ends.length;
    ends[row] = to;
    return {wait, row};
  });
  return {placed, rows: ends.length};
}

/** The timeline in words, for those who do not see it. */
function describe(policy, model) {
  const told = policy.bars.filter((bar) => bar.state !== "stalled").length;
  if (!told) return `${policy.title}: no request ever sits in a seat.`;
  if (model.requests.length > 16 || told > 60) {
    return `${policy.title}: ${model.requests.length} requests on ${model.limits.max_num_seqs} seats over ${policy.end} iterations. The table below has each iteration.`;
  }
  const parts = stays(policy.bars).map((parts) => {
    const run = parts.filter((bar) => bar.state !== "held");
    const held = parts.find((bar) => bar.state === "held");
    const {id} = parts[0];
    const to = run.at(-1)?.to;
    return `${id} ${run[0]?.from === to ? to : `${run[0]?.from} to ${to}`} in seat ${parts[0].seat + 1}${held ? `, held to ${held.to}` : ""}`;
  });
  return `${policy.title}, seats over iterations: ${parts.join("; ")}.`;
}
