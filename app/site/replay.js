// The replay: one trace under every policy side by side, moved by one cursor. Draws what Python has computed, once for
// each document; moving about in it never waits for Python.

import {Clock} from "./replay-clock.js";
import {h} from "./replay-dom.js";
import {Guess} from "./replay-guess.js";
import {Highlight} from "./replay-highlight.js";
import {Legend} from "./replay-legend.js";
import {readPayload} from "./replay-model.js";
import {Side} from "./replay-side.js";
import {Tables} from "./replay-table.js";
import {Transport} from "./replay-transport.js";

/**
 * Events on the root: "lab-iteration" {iteration, last, reason}, "lab-highlight" {id}, "lab-veil" when `veiled` has changed.
 * Options: storageKey (where the guess is kept; none: it is not kept), guess (false: no guess, no veil).
 */
export class ReplayView {
  veiled = null; // results are hidden, until a guess was made and seen through, or skipped
  #sides = new Map();
  #seen = 1;
  #lit = {request: null, pinned: false};
  #lastLit = null;
  #pointed = null;

  constructor(root, options = {}) {
    this.root = root;
    root.classList.add("replay");
    this.clock = new Clock({
      moved: (position) => this.#moved(position),
      turned: (iteration, reason) => this.#turned(iteration, reason),
      state: () => this.#played(),
    });
    this.transport = new Transport({
      step: (by) => this.#step(by, "step"),
      event: (by) => this.#event(by),
      toggle: () => this.toggle(),
      scrub: (t) => this.#scrub(t),
      speed: (n) => { this.clock.speed = n; },
    });
    this.guess = new Guess(options.storageKey, {
      settled: () => this.#veil(),
      decided: () => this.transport.play.focus({preventScroll: true}),
      again: () => { this.clock.pause(); this.#seen = 1; this.clock.seek(1, "guess", false); this.#veil(); },
    });
    this.guessing = options.guess !== false;
    this.legend = new Legend();
    this.sides = h("div", {class: "sides"});
    this.tables = new Tables((t) => this.#jump(t, "table"));
    root.replaceChildren(this.transport.node, ...(this.guessing ? [this.guess.node] : []), this.legend.node, this.sides, this.tables.node, this.transport.help);
    this.highlighter = new Highlight(root, (request, pinned) => this.#highlighted(request, pinned));
    root.addEventListener("keydown", (event) => this.#key(event));
    root.addEventListener("pointerdown", (event) => { this.#pointed = event.target.closest("button, summary"); });
    root.addEventListener("focusin", () => this.#live());
    root.addEventListener("focusout", (event) => { this.#pointed = null; this.#live(event.relatedTarget); });
    new ResizeObserver(() => this.#resize()).observe(this.sides);
  }

  /** Draw a payload. May be called many times a second: elements are reused, iteration and pin stay. */
  show(payload, {exploring = true} = {}) {
    const before = this.model;
    const model = this.model = readPayload(payload);
    const {policies, last} = model;
    this.root.classList.toggle("optioned", Object.keys(model.options).length > 0);
    this.guess.show(model);
    for (const [name, side] of this.#sides) {
      if (policies.some((policy) => policy.name === name)) continue;
      side.node.remove();
      this.#sides.delete(name);
    }
    policies.forEach((policy, index) => {
      let side = this.#sides.get(policy.name);
      if (!side) {
        side = new Side(policy.name, `${this.highlighter.scope}-${index}-${this.#sides.size}`, {
          jump: (t) => this.#jump(t, "milestone"),
          scrub: (t, phase) => this.#drag(t, phase),
          pin: (r) => this.highlighter.keep(r),
          ask: (name) => { for (const one of this.#sides.values()) one.cards.tell(name); },
        });
        this.#sides.set(policy.name, side);
      }
      if (this.sides.children[index] !== side.node) this.sides.insertBefore(side.node, this.sides.children[index] ?? null);
    });
    this.highlighter.show(model.requests, model.byId);
    for (const policy of policies) this.#sides.get(policy.name).show(policy, model);
    // A side that is new has to be laid out before anything is drawn in it.
    if (this.sides.firstChild !== this.measured || policies.some(({name}) => !this.#sides.get(name).width)) this.#resize();
    this.measured = this.sides.firstChild;
    this.transport.show(model);
    this.legend.show(model);
    this.tables.show(model);
    const shown = this.clock.iteration;
    this.clock.setLast(last);
    // Who turns the limits is exploring, and no longer guessing about the run that was asked about.
    if (exploring && before && before.question !== model.question && !this.guess.settled) this.guess.settle();
    if (shown === this.clock.iteration) this.#draw();
    this.transport.state(this.playing, this.iteration >= last && last > 1);
    this.#live();
    if (shown === this.clock.iteration && before?.last !== last) this.#tell("show");
  }

  /** Go to an iteration; it is rounded and clamped to 1 … last. */
  seek(iteration) {
    this.clock.seek(iteration, "seek", false);
  }

  get iteration() {
    return this.clock.iteration;
  }

  get last() {
    return this.clock.last;
  }

  get playing() {
    return this.clock.playing;
  }

  /** Light a request by id, as a pointer does; null: what is pinned, if anything, is lit again. */
  highlight(id) {
    this.highlighter.set(id === null ? null : this.model?.byId.get(id) ?? null);
  }

  play() {
    this.clock.play();
  }

  pause() {
    this.clock.pause();
  }

  toggle() {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play();
  }

  // ---- moving ------------------------------------------------------------------------------------------------

  #step(by, reason) {
    this.clock.pause();
    this.clock.seek(this.iteration + by, reason);
  }

  #jump(t, reason) {
    this.clock.pause();
    this.clock.seek(t, reason);
  }

  #scrub(t) {
    this.clock.pause();
    this.clock.seek(t, "scrub", false);
  }

  #drag(t, phase) {
    this.root.classList.toggle("dragging", phase === "drag");
    if (t === null) return;
    this.clock.pause();
    this.clock.seek(t, "scrub", phase === "start");
  }

  #event(by) {
    const {events} = this.model;
    const t = this.iteration;
    const next = by > 0 ? events.find((one) => one > t) : events.findLast((one) => one < t);
    this.#jump(next ?? (by > 0 ? this.last : 1), "event");
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !this.model) return;
    const {target, key} = event;
    const field = target.closest("input:not([type=range]), select, textarea, [contenteditable], .chart-slot");
    if (key === "Escape") {
      this.highlighter.pin(null);
      return;
    }
    if (field) return;
    const act = {
      ArrowLeft: () => (event.shiftKey ? this.#event(-1) : this.#step(-1, "key")),
      ArrowRight: () => (event.shiftKey ? this.#event(1) : this.#step(1, "key")),
      Home: () => this.#jump(1, "key"),
      End: () => this.#jump(this.last, "key"),
      " ": () => this.toggle(),
    }[key];
    if (!act) return;
    // A button reached by keyboard keeps its Space; one that was only clicked does not steal it from Play.
    if (key === " " && target.closest("button, summary") && target.closest("button, summary") !== this.#pointed) return;
    if (key !== " " && target.closest(".scroll") && !event.shiftKey && /Home|End/.test(key)) return;
    event.preventDefault();
    act();
  }

  // ---- drawing -----------------------------------------------------------------------------------------------

  #moved(position) {
    this.transport.move(position);
    for (const side of this.#sides.values()) side.move(position, this.last);
  }

  #turned(t, reason) {
    if (!this.model) return;
    if (t > this.#seen) {
      this.#seen = t;
      if (!this.guess.settled) this.#veil();
    }
    this.#draw();
    this.transport.state(this.playing, t >= this.last);
    this.#tell(reason);
  }

  #draw() {
    const t = this.iteration;
    const lit = {...this.#lit, seen: this.#open ? Infinity : this.#seen};
    const said = [];
    for (const side of this.#sides.values()) said.push(`${side.policy.title}: ${side.update(t, lit)}`);
    const short = `iteration ${t} of ${this.last}`;
    this.transport.update(t, this.playing ? short : `${short}: ${said.join(" ")}`);
    this.tables.update(t);
    this.#veil();
  }

  #tell(reason) {
    this.root.dispatchEvent(new CustomEvent("lab-iteration", {bubbles: true, detail: {iteration: this.iteration, last: this.last, reason}}));
  }

  #played() {
    this.transport.state(this.playing, this.iteration >= this.last);
    this.root.classList.toggle("playing", this.playing);
    this.#live();
    if (!this.playing && this.model) this.#draw();
  }

  /** Sentences are read aloud when they change at rest; the scrubber says them itself while it has the focus. */
  #live(focused = document.activeElement) {
    const on = !this.playing && focused !== this.transport.input;
    for (const side of this.#sides.values()) side.live(on);
  }

  // ---- results -----------------------------------------------------------------------------------------------

  get #open() {
    return !this.guessing || !this.guess.comparable || this.guess.settled;
  }

  #veil() {
    if (!this.model) return;
    const {policies, last} = this.model;
    const hidden = (policy) => !this.#open && this.#seen < policy.end;
    const guessed = policies.filter((policy) => !policy.learner);
    const compare = guessed.every((policy) => !hidden(policy));
    if (!this.#open) this.guess.watch(guessed.filter((policy) => !hidden(policy)), guessed.filter(hidden));
    if (compare && !this.#open) {
      this.guess.settle(); // comes back here with the guess settled
      return;
    }
    const key = `${this.#open}|${this.#open ? "" : this.#seen}`;
    if (key === this.veilKey && this.veilModel === this.model) return;
    this.veilKey = key;
    this.veilModel = this.model;
    policies.forEach((policy, index) => {
      const side = this.#sides.get(policy.name);
      side.veil(this.#seen, last, {veiled: hidden(policy), compare, base: index ? policies[0] : null});
      side.move(this.clock.position, last);
    });
    if (this.veiled === !compare) return;
    this.veiled = !compare;
    this.root.classList.toggle("veiled", this.veiled);
    this.root.dispatchEvent(new CustomEvent("lab-veil", {bubbles: true}));
  }

  #highlighted(request, pinned) {
    this.#lit = {request, pinned};
    if (!this.model) return;
    const lit = {...this.#lit, seen: this.#open ? Infinity : this.#seen};
    for (const side of this.#sides.values()) if (side.policy) side.lit(lit, this.iteration);
    const id = request?.id ?? null;
    if (id === this.#lastLit) return;
    this.#lastLit = id;
    this.root.dispatchEvent(new CustomEvent("lab-highlight", {bubbles: true, detail: {id}}));
  }

  #resize() {
    for (const side of this.#sides.values()) {
      const width = Math.floor(side.time.clientWidth);
      if (side.policy && width && width !== side.width) {
        side.layout(width);
        side.update(this.iteration, {...this.#lit, seen: this.#open ? Infinity : this.#seen});
        side.move(this.clock.position, this.last);
      }
    }
  }
}
