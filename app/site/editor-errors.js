// What is wrong with the rows: one line each, that leads to its cell. The cells point here.

import {h} from "./replay-dom.js";
import {columnOf} from "./editor-sheet.js";

const MOST = 6; // lines; the rest is counted

/**
 * @param {object[]} errors {row, field, why} as Python says it  @param {object} sheet that was judged
 * @returns {object[]} {id, key, field, row, why}: key null where it is no cell's
 */
export function placed(errors, sheet) {
  return errors.map(({row, field, why}, index) => ({
    id: `editor-error-${index}`, key: row === null ? null : sheet.rows[row]?.key ?? null,
    field: field?.replace(/\[.*/, "") ?? null, row, why: why.replace(/requests\[(\d+)\]/g, (_all, at) => `row ${Number(at) + 1}`),
  }));
}

/** By cell, for the table. */
export function byCell(errors) {
  return new Map(errors.filter(({key}) => key !== null).map((error) => [`${error.key} ${error.field}`, error]));
}

export class Errors {
  /** @param {(key: number, field: string) => void} go */
  constructor(go) {
    this.go = go;
    this.title = h("p", {class: "ed-wrong"});
    this.list = h("ul");
    this.node = h("div", {class: "ed-errors", role: "status", hidden: true}, this.title, this.list);
  }

  show(errors) {
    this.node.hidden = !errors.length;
    if (!errors.length) return;
    const cells = errors.filter(({key}) => key !== null).length;
    const what = cells ? `${cells} ${cells === 1 ? "cell" : "cells"} cannot be used` : "This cannot be replayed";
    this.title.textContent = `${what}. The replays are those of the last trace that could.`;
    // The cells beyond the lines that are shown are described too, for who cannot see their colour.
    this.list.replaceChildren(...errors.map((error, index) => h("li", {id: error.id, class: index < MOST ? null : "sr-only"}, ...this.#line(error))),
      ...(errors.length > MOST ? [h("li", {text: `and ${errors.length - MOST} more`})] : []));
  }

  #line({key, field, row, why}) {
    const name = columnOf(field)?.words ?? columnOf(field)?.label ?? field;
    if (key === null) return [name ? `${name}: ${why}` : why];
    const place = `Row ${row + 1}${name ? `, ${name}` : ""}`;
    return [columnOf(field) ? h("button", {type: "button", class: "as-link", text: place, on: {click: () => this.go(key, field)}}) : place, `: ${why}`];
  }
}
