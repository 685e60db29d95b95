// Two measurements side by side, as lab.measurement compares them.

import {h} from "./replay-dom.js";
import {ms} from "./gpu-words.js";
import {table} from "./gpu-shown.js";

/** @param {{differences: string[], figures: object[]}} answer  @param {string[]} names of the two */
export function compared({differences, figures}, names) {
  const cell = (value) => (value === null ? "–" : ms(value));
  return [
    h("h3", {text: "Side by side"}),
    h("ol", {class: "gpu-names"}, ...names.map((text) => h("li", {text}))),
    ...(differences.length ? [h("ul", {class: "gpu-differences"}, ...differences.map((text) => h("li", {text})))] : []),
    table("Two measurements", ["Figure", "First", "Second", "Second ÷ first"], figures.map((row) => [row.figure, cell(row.first), cell(row.second),
      row.second_over_first === null ? "–" : row.second_over_first.toFixed(2)])),
  ];
}
