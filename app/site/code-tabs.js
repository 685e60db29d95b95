// Tabs, one for each exercise, as the ARIA pattern has them: arrows move, Home and End go to the ends.

import {h, setAttr, setText} from "./replay-dom.js";

export class Tabs {
  /** @param {{id: string, title: string}[]} items  @param {(id: string) => void} chosen */
  constructor(items, chosen) {
    this.items = items;
    this.chosen = chosen;
    this.tabs = items.map(({id, title}, index) => h("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, tabindex: -1, on: {click: () => this.choose(id)},
    }, h("span", {class: "number", text: index + 1}), h("span", {class: "tab-title", text: title}), h("span", {class: "tab-state"})));
    this.panels = items.map(({id}) => h("div", {role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, hidden: true}));
    this.list = h("div", {class: "tabs", role: "tablist", "aria-label": "Exercises", on: {keydown: (event) => this.#key(event)}}, ...this.tabs);
  }

  panel(id) {
    return this.panels[this.#index(id)];
  }

  choose(id) {
    const at = Math.max(0, this.#index(id));
    for (const [index, tab] of this.tabs.entries()) {
      setAttr(tab, "aria-selected", index === at);
      setAttr(tab, "tabindex", index === at ? 0 : -1);
      this.panels[index].hidden = index !== at;
    }
    this.current = this.items[at].id;
    this.chosen(this.current);
  }

  /** @param {"passed"|"outdated"|""} state */
  state(id, state) {
    const words = {passed: "✓ passed", outdated: "edited since it passed", "": ""}[state];
    const place = this.tabs[this.#index(id)].querySelector(".tab-state");
    setText(place, words);
    setAttr(place, "data-state", state || null);
  }

  #index(id) {
    return this.items.findIndex((item) => item.id === id);
  }

  #key(event) {
    const at = this.#index(this.current);
    const last = this.items.length - 1;
    const next = {ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last}[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.choose(this.items[next].id);
    this.tabs[next].focus();
  }
}
