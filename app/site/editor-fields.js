// Small forms: labelled fields whose values go to Python as typed, and a place for what Python says about one of them.

import {h, setAttr, setText} from "./replay-dom.js";
import {NUMBER} from "./editor-json.js";

export class Fields {
  /** Field by the name that Python calls it. */
  all = new Map();

  /** @param {string} prefix for ids, unique on the page */
  constructor(prefix) {
    this.prefix = prefix;
    this.trouble = h("p", {class: "ed-trouble", role: "status", id: `${prefix}-trouble`});
  }

  number(name, label, value, width = 5) {
    return this.#add(name, label, h("input", {type: "text", inputmode: "decimal", autocomplete: "off", value, size: width}));
  }

  /** @param {[string, string][]} options value and words */
  choice(name, label, options, on) {
    return this.#add(name, label, h("select", {on: on ? {change: on} : {}}, ...options.map(([value, text]) => h("option", {value, text}))));
  }

  #add(name, label, input) {
    input.id = `${this.prefix}-${name.replace(/\W/g, "-")}`;
    this.all.set(name, input);
    // Beside the field, not round it: the words of a choice are no part of what it is called.
    return h("span", {class: "pair"}, ...(label ? [h("label", {for: input.id, text: label})] : []), input);
  }

  /** What a field says: a number where it is one, else the text, for Python to refuse; undefined where nothing is typed. */
  value(name) {
    const input = this.all.get(name);
    const text = input.value.trim();
    if (input.matches("select")) return text;
    return text === "" ? undefined : NUMBER.test(text) ? Number(text) : text;
  }

  /** Mark the field that Python refused; without `why` everything is in order. */
  say(field = null, why = "") {
    const input = field && (this.all.get(field) ?? this.all.get(`${field}.kind`));
    for (const one of this.all.values()) {
      setAttr(one, "aria-invalid", one === input ? "true" : null);
      setAttr(one, "aria-describedby", one === input ? this.trouble.id : null);
    }
    const label = input?.labels[0]?.textContent ?? input?.getAttribute("aria-label");
    setText(this.trouble, why && `${label ? `${label}: ` : field ? `${field}: ` : ""}${why}${why.endsWith(".") ? "" : "."}`);
    input?.focus();
  }
}
