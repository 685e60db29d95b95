// The panel of measured times: has a replay measured where the server can, opens measurements anywhere, lays them over the
// timelines, and compares two.

import {compared} from "./gpu-compare.js";
import {Overlay} from "./gpu-overlay.js";
import {Run} from "./gpu-run.js";
import {Shelf} from "./gpu-shelf.js";
import {limitsWords, measured} from "./gpu-shown.js";
import {labelOf} from "./gpu-words.js";
import {h, setText} from "./replay-dom.js";
import {choose, fileName, save} from "./share-file.js";

const BIGGEST = 8_000_000; // bytes; the longest replay that is measured has some three million

export class GpuPanel {
  /** @param {Element} place  @param {object} lab as setUpGpu has it, with api, status and close */
  constructor(place, lab) {
    const {sample} = lab.config; // a real measurement that comes with the site, if it has one
    this.lab = lab;
    this.shelf = new Shelf(lab.key("measurements"));
    this.run = new Run(lab, (answer) => this.#take(answer, "the server's answer"));
    this.overlay = new Overlay(lab.view);
    this.read = new Map(); // what Python said of an item of the shelf, by its id
    this.item = null;
    this.second = null;

    const button = (text, click, more = {}) => h("button", {type: "button", class: "ghost", text, on: {click}, ...more});
    this.says = h("p", {class: "gpu-says", role: "status"});
    this.list = h("select", {id: "gpu-list", on: {change: () => this.#select(this.#chosen(this.list))}});
    this.other = h("select", {id: "gpu-other", on: {change: () => this.#compare(this.#chosen(this.other))}});
    this.keep = button("Save as a file", () => save(fileName(this.item.measurement.trace.name, ".measurement.json"), this.item.text));
    this.drop = button("Remove", () => this.#remove());
    this.choice = h("div", {class: "gpu-line", hidden: true},
      h("label", {class: "pair"}, "Measurement", this.list), this.keep, this.drop, this.otherLabel = h("label", {class: "pair"}, "Compare with", this.other));
    this.place = h("p", {class: "gpu-place"});
    this.shown = h("div", {class: "gpu-shown"});
    this.compared = h("div", {class: "gpu-compared"});
    this.unconfirmed = h("p", {class: "quiet gpu-unconfirmed"});
    this.intro = h("p", {class: "quiet", text: "A measurement is what a replay took on a real GPU, iteration by iteration. One that was saved opens here without a GPU."});
    place.replaceChildren(
      h("header", {}, h("h2", {id: "gpu-title", text: "Measured on a GPU"}),
        h("span", {class: "files"}, sample ? button("Open the sample", () => this.#sample(sample)) : null, this.opener = button("Open a measurement", () => this.choose()), button("Close", () => lab.close()))),
      this.intro, this.run.node, this.choice, this.says, this.shown, this.unconfirmed, this.compared);
    this.shelf.loaded.then(() => this.#draw());
  }

  /** A replay has come to the screen. */
  show(payload) {
    this.payload = payload;
    if (this.item) this.#lay();
  }

  /** The server has said how it stands. */
  told() {
    this.run.told();
    this.#draw();
  }

  resume() {
    this.run.resume();
  }

  choose() {
    choose((file) => this.open(file));
  }

  async open(file) {
    try {
      if (file.size > BIGGEST) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB; a measurement has less than ${BIGGEST / 1e6} MB.`);
      await this.#take(await file.text(), file.name);
    } catch (error) {
      this.#refuse(error);
    }
  }

  async #sample(name) {
    try {
      const answer = await fetch(new URL(name, import.meta.url));
      if (!answer.ok) throw new Error(`The sample could not be had: the server answered ${answer.status}.`);
      await this.#take(await answer.text(), name);
    } catch (error) {
      this.#refuse(error instanceof TypeError ? new Error("The sample could not be had: there is no connection.") : error);
    }
  }

  #refuse(error) {
    setText(this.says, `${error.message} What was on the screen stays.`);
    this.says.classList.add("gpu-bad");
  }

  /** Have Python read a measurement, keep it and show it. @throws {Error} with one sentence */
  async #take(text, name) {
    const answer = await this.#ask(text, name);
    const item = await this.shelf.add(labelOf(answer.measurement), answer.text);
    this.read.set(item.id, {...answer, id: item.id});
    await this.#select(item);
  }

  async #ask(text, name) {
    setText(this.says, "");
    this.says.classList.remove("gpu-bad");
    if (document.documentElement.dataset.python !== "ready") throw new Error(`${name} can be read as soon as Python is ready.`);
    const {data} = await this.lab.calls.call("read_measurement", {text, name});
    if (data.why) throw new Error(`${data.why}.`);
    return data;
  }

  async #full(item) {
    if (!this.read.has(item.id)) this.read.set(item.id, {...await this.#ask(item.text, item.label), id: item.id});
    return this.read.get(item.id);
  }

  #chosen(list) {
    return this.shelf.items.find(({id}) => String(id) === list.value) ?? null;
  }

  async #select(item) {
    try {
      this.item = item && await this.#full(item);
      if (this.second?.id === this.item?.id) this.second = null;
    } catch (error) {
      this.#refuse(error);
    }
    this.#draw();
    this.shown.replaceChildren(...(this.item ? measured(this.item.measurement, this.place) : []));
    this.#lay();
    await this.#compare(this.second);
  }

  #remove() {
    const gone = this.item.id;
    this.shelf.remove(gone);
    this.read.delete(gone);
    this.#select(this.shelf.items[0] ?? null);
    (this.shelf.items.length ? this.list : this.opener).focus();
  }

  async #compare(item) {
    try {
      this.second = item && this.item ? await this.#full(item) : null;
      const answer = this.second && (await this.lab.calls.call("compare_measurements", {first: this.item.text, second: this.second.text})).data;
      this.compared.replaceChildren(...(answer ? compared(answer, [this.item, this.second].map(({measurement}) => labelOf(measurement))) : []));
    } catch (error) {
      this.#refuse(error);
    }
    this.#draw();
    this.#lay();
  }

  /** The lists, and what stands there without a measurement. */
  #draw() {
    const {items} = this.shelf;
    this.lab.kept(items.length > 0);
    this.choice.hidden = !items.length;
    this.intro.hidden = this.item !== null;
    this.keep.hidden = this.drop.hidden = !this.item;
    this.otherLabel.hidden = !this.item || items.length < 2;
    fill(this.list, items, this.item, "None");
    fill(this.other, items.filter(({id}) => id !== this.item?.id), this.second, "Nothing");
    const lines = this.item?.unconfirmed ?? this.lab.status?.unconfirmed ?? [];
    this.unconfirmed.hidden = !lines.length;
    setText(this.unconfirmed, lines.length ? `What no GPU had confirmed when this version of the lab was made: ${lines.join(" ")}` : "");
  }

  // ---- over the timelines -------------------------------------------------------------------------------------

  /** Lay it over the timelines if it is of the replay on the screen; else say of which it is, and offer that. */
  #lay() {
    const {item, second} = this;
    const same = item !== null && this.#isShown(item);
    this.overlay.set(same ? item.measurement : null, second && this.#isShown(second) ? second.measurement : null);
    if (!item) return;
    this.place.classList.toggle("gpu-elsewhere", !same);
    if (same) {
      setText(this.place, "It is of the replay below, and stands there under the seats of each policy, iteration by iteration.");
      return;
    }
    const {measurement} = item;
    const ofTrace = item.sha256s.includes(this.payload.replay.trace.sha256);
    const words = ofTrace ? `It is of the trace below, but under other limits or options: ${limitsWords(measurement)}. `
      : `It is of another trace than the one below: ${measurement.trace.name}. `;
    const way = ofTrace || item.trace !== null || measurement.trace.sha256 === this.lab.sha256;
    this.place.replaceChildren(words, way ? h("button", {type: "button", class: "as-link", text: ofTrace ? "Show the replay that was measured" : "Show its trace", on: {click: () => this.#go(ofTrace)}})
      : "The file has no trace in it; open that with “Open a file”, and this is laid over it.");
  }

  #isShown({measurement, sha256s}) {
    const {replay} = this.payload;
    return sha256s.includes(replay.trace.sha256) && alike(replay.limits, measurement.limits) && alike(replay.options ?? {}, measurement.options);
  }

  #go(ofTrace) {
    const {measurement, trace} = this.item;
    const {state, config, openState, sha256} = this.lab;
    // What a trace has on of its own is turned off where it was off: every option is named.
    const options = {...Object.fromEntries((config.options ?? []).map((field) => [field.name, field.default])), ...measurement.options};
    const goal = {limits: measurement.limits, options, iteration: 1};
    const told = {refuse: (why) => this.#refuse(new Error(why))};
    if (ofTrace) openState({...goal, iteration: state.iteration, text: state.trace?.text, packed: state.trace?.packed}, told);
    else if (measurement.trace.sha256 === sha256) openState(goal, told);
    else openState({limits: {}, options: {}, iteration: 1, text: trace}, told);
  }
}

function fill(list, items, chosen, none) {
  list.replaceChildren(new Option(none, ""), ...items.map(({id, label}) => new Option(label, String(id))));
  list.value = chosen ? String(chosen.id) : "";
}

function alike(one, two) {
  const names = new Set([...Object.keys(one), ...Object.keys(two)]);
  return [...names].every((name) => JSON.stringify(one[name]) === JSON.stringify(two[name]));
}

let sheet = null;

/** The panel's style sheet, which the page does without until then. One that did not load is asked for again. */
export function styled() {
  sheet ??= new Promise((resolve, reject) => {
    const link = h("link", {rel: "stylesheet", href: new URL("gpu.css", import.meta.url).href});
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => {
      link.remove();
      sheet = null;
      reject(new Error("The file gpu.css did not load."));
    });
    document.head.append(link);
  });
  return sheet;
}
