// One policy: its results, what happens now, its seats over time, its pages. The same place for the same thing on each side.

import {Cards} from "./replay-cards.js";
import {chip, fillWords, plain} from "./replay-chip.js";
import {ClientsTable} from "./replay-clients.js";
import {h, setAttr, setText} from "./replay-dom.js";
import {AXIS, CHART, scaleOf} from "./replay-geometry.js";
import {rowAt} from "./replay-model.js";
import {optionStrip} from "./replay-option-words.js";
import {PageGrid} from "./replay-pages.js";
import {Queue} from "./replay-queue.js";
import {RequestPanel} from "./replay-request.js";
import {StandIn} from "./replay-standin.js";
import {Timeline} from "./replay-timeline.js";
import {iterationWords, reasonWords, stripWords, waitWords} from "./replay-words.js";

export class Side {
  /** @param {string} name of the policy  @param {string} scope unique in the page  @param {object} on jump, scrub, pin, ask */
  constructor(name, scope, on) {
    this.name = name;
    this.on = on;
    this.title = h("h3");
    this.subtitle = h("small");
    this.stones = h("div", {class: "milestones", role: "group"});
    this.cards = new Cards(name, on.ask);
    this.strip = h("dl", {class: "strip"});
    this.words = h("div", {class: "words"});
    this.queue = new Queue();
    this.timeline = new Timeline(scope);
    this.standin = new StandIn();
    this.chart = h("div", {class: "chart-slot", dataset: {policy: name}}, this.standin.node);
    this.ahead = h("div", {class: "ahead"});
    this.unseen = h("div", {class: "unseen"});
    this.now = h("div", {class: "now"}, h("span", {class: "hair"}));
    this.flag = h("span", {class: "flag"});
    this.head = h("div", {class: "now playhead"}, this.flag);
    this.past = h("div", {class: "run"}, this.ahead);
    this.over = h("div", {class: "over"}, this.past, this.unseen, this.now);
    this.time = h("div", {class: "time"}, this.timeline.node, this.chart, this.over, h("div", {class: "over top"}, this.head));
    this.pool = new PageGrid();
    this.panel = new RequestPanel();
    this.rejected = h("ul", {class: "rejected", "aria-label": "Rejected requests"});
    this.more = h("dl", {class: "option-strip", hidden: true});
    this.clients = new ClientsTable();
    this.charts = h("div", {class: "slot more-slot", dataset: {policy: name}});
    this.extra = h("div", {class: "extra"}, this.clients.node, this.charts);
    this.node = h("section", {class: "side", dataset: {policy: name}},
      h("header", {}, h("div", {class: "name"}, this.title, this.subtitle), this.stones),
      this.cards.node, this.strip, this.more, this.time, this.words, this.queue.node, this.pool.node, this.panel.node, this.rejected, this.extra);
    this.span = 1;
    this.chart.style.height = `${CHART.height}px`;
    this.#scrubbing();
  }

  show(policy, model) {
    this.policy = policy;
    this.model = {...model, limits: policy.limits}; // a policy may still stand under other limits
    setText(this.title, policy.title);
    setText(this.subtitle, policy.subtitle);
    setAttr(this.node, "aria-label", `${policy.title}${policy.subtitle ? `, ${policy.subtitle}` : ""}`);
    setAttr(this.stones, "aria-label", `Milestones of ${policy.title}`);
    this.#milestones();
    this.#rejections();
    this.clients.show(policy, model.clientColors);
    if (this.width) this.layout(this.width);
  }

  /** Draw all that depends on the width, which is that of the side's content in px. */
  layout(width) {
    this.width = width;
    this.scale = scaleOf(width, this.model.last);
    this.timeline.draw(this.policy, this.model, this.scale);
    this.standin.draw(this.policy, this.model, this.scale);
    this.pool.draw(this.policy, this.model, width);
    this.time.style.setProperty("--cell", `${Math.max(3, Math.min(26, this.scale.step))}px`);
    this.unseen.style.top = `${this.timeline.height - AXIS}px`;
  }

  #milestones() {
    const key = JSON.stringify(this.policy.milestones);
    if (key === this.stoneKey) return;
    this.stoneKey = key;
    this.stones.replaceChildren(...this.policy.milestones.map(({iteration, label, note}) => h("button", {
      type: "button", class: "stone", title: note, dataset: {iteration}, "aria-label": `${iteration} ${label}. Go to this iteration: ${note}`,
      on: {click: () => this.on.jump(iteration)},
    }, h("b", {text: iteration}), " ", h("span", {text: label}))));
  }

  #rejections() {
    const {policy} = this;
    this.rejected.hidden = !policy.rejected.size;
    this.rejected.replaceChildren(...[...policy.rejected].map(([id, reason]) => {
      const request = policy.byId.get(id);
      return h("li", {}, request ? chip(request, "button") : id, ` rejected: ${request ? reasonWords(policy, request, reason) : reason}`);
    }));
  }

  /** Show iteration t. @returns {string} the sentences as plain text */
  update(t, lit) {
    const {policy} = this;
    const parts = iterationWords(policy, t);
    const stone = policy.milestones.find(({iteration}) => iteration === t);
    const text = plain([...parts, ...(stone ? [` ${stone.note}.`] : []), ...waitWords(policy, t)]);
    const key = text + parts.map((part) => part.index ?? "").join(); // the same letters may stand for another request
    if (key !== this.told) {
      this.told = key;
      fillWords(this.words, parts, stone?.note, waitWords(policy, t));
    }
    fillStrip(this.strip, stripWords(policy, t));
    const more = optionStrip(this.model.options, policy, rowAt(policy, t), t);
    this.more.hidden = !more.length;
    fillStrip(this.more, more);
    this.queue.update(policy, t);
    this.pool.update(t);
    this.lit(lit, t);
    setText(this.flag, String(t));
    for (const stone of this.stones.children) setAttr(stone, "aria-current", Number(stone.dataset.iteration) === t ? "step" : null);
    return text;
  }

  lit({request, pinned, seen}, t) {
    this.panel.update(this.policy, request, pinned, t, seen);
  }

  /** Place the cursor; only transforms change, so that this may happen at every frame. */
  move(position, last) {
    const middle = ((position - 0.5) / last) * 100;
    this.now.style.transform = this.head.style.transform = `translateX(${middle}%)`;
    this.ahead.style.transform = `translateX(${Math.min(1, position / this.span) * 100}%)`;
  }

  /** Hide what the learner has not seen yet (seen = Infinity: nothing is hidden). */
  veil(seen, last, {veiled, compare, base}) {
    // What is ahead is paler up to the end of this run, or to where the learner has got.
    this.span = Math.max(1, veiled ? Math.min(seen, this.policy.end) : this.policy.end);
    this.past.style.width = `${(this.span / last) * 100}%`;
    this.unseen.hidden = !veiled;
    if (veiled) this.unseen.style.transform = `translateX(${(seen / last) * 100}%)`;
    this.timeline.reveal(veiled ? seen : Infinity);
    this.node.classList.toggle("compared", compare);
    this.extra.hidden = veiled;
    this.cards.update(this.policy, base, veiled, compare);
  }

  live(on) {
    setAttr(this.words, "aria-live", on ? "polite" : "off");
    setAttr(this.words, "aria-atomic", "true");
  }

  /** A press or drag anywhere on the picture of time moves every side. */
  #scrubbing() {
    const at = (event) => this.scale.at(event.clientX - this.time.getBoundingClientRect().left);
    for (const target of [this.timeline.node, this.standin.node]) {
      let press = null;
      target.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        target.setPointerCapture(event.pointerId);
        press = {x: event.clientX, bar: event.target.closest("[data-r]"), moved: false};
        if (event.pointerType !== "touch") this.on.scrub(at(event), "start"); // a finger may be about to scroll the page
      });
      target.addEventListener("pointermove", (event) => {
        if (!press || (!press.moved && Math.abs(event.clientX - press.x) < 4)) return;
        press.moved = true;
        this.on.scrub(at(event), "drag");
      });
      target.addEventListener("pointerup", (event) => {
        if (!press) return;
        if (!press.moved) {
          if (event.pointerType === "touch") this.on.scrub(at(event), "start");
          this.on.pin(press.bar ? Number(press.bar.dataset.r) : null);
        }
        press = null;
        this.on.scrub(null, "end");
      });
      target.addEventListener("pointercancel", () => {
        press = null;
        this.on.scrub(null, "end");
      });
    }
  }
}

/** Bring a strip of terms to [label, text] pairs. */
function fillStrip(strip, pairs) {
  while (strip.children.length > pairs.length) strip.lastChild.remove();
  for (const [index, [term, words]] of pairs.entries()) {
    const row = strip.children[index] ?? strip.appendChild(h("div", {}, h("dt"), h("dd")));
    setText(row.firstChild, term);
    setText(row.lastChild, words);
    setAttr(row, "title", words.length > 24 ? words : null);
  }
}
