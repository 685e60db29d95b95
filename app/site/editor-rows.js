// What is done to rows: each function gives the new rows, and the key of the row that is then the current one.

import {readTable} from "./editor-paste.js";
import {freshId, nextRow, row} from "./editor-sheet.js";

/** Rows that are pasted at once. Some more than can be replayed, to be cut down here; not a log of a million. */
const MOST_PASTED = 400;

/** A row after the one at `at` (−1: at the end), as that one is, under an id of its own. */
export function added(rows, at) {
  const before = at < 0 ? rows : [...rows.slice(0, at), ...rows.slice(at + 1), rows[at]]; // named after the current one
  const made = nextRow(before);
  return {rows: rows.toSpliced(at < 0 ? rows.length : at + 1, 0, made), key: made.key};
}

export function duplicated(rows, at) {
  const made = row({...rows[at].cells, id: freshId([...rows, rows[at]])}, rows[at].extra);
  return {rows: rows.toSpliced(at + 1, 0, made), key: made.key};
}

export function removed(rows, at) {
  return {rows: rows.toSpliced(at, 1), key: (rows[at + 1] ?? rows[at - 1])?.key ?? null};
}

/** The row at `at`, `by` places further down (or up, below 0). */
export function moved(rows, at, by) {
  return {rows: rows.toSpliced(at, 1).toSpliced(at + by, 0, rows[at]), key: rows[at].key};
}

/**
 * Rows from a spreadsheet, over those from `at` on and beyond the last.
 * @param {string} text  @param {string[]} fields of the columns from the one that it is pasted into on; headings overrule them
 * @returns {{rows: object[], key: number|null, words: string}} words: what became of it
 */
export function pasted(rows, at, text, fields) {
  const table = readTable(text);
  if (table.rows.length > MOST_PASTED) {
    return {rows, key: null, words: `${table.rows.length.toLocaleString("en")} rows are far more than the page draws; nothing was pasted. Paste fewer, or replay them as a file on the command line.`};
  }
  const named = table.fields ?? fields;
  const next = [...rows];
  let wide = false;
  table.rows.forEach((line, index) => {
    const old = next[at + index];
    const cells = {...(old?.cells ?? (named.includes("id") ? {} : {id: freshId(next)}))};
    line.forEach((value, column) => {
      if (named[column]) cells[named[column]] = value.trim();
      else wide ||= !table.fields && value.trim() !== "";
    });
    next[at + index] = old ? {...old, cells} : row(cells);
  });
  const count = table.rows.length;
  if (!count) return {rows, key: null, words: "Nothing to paste: there are headings, but no rows."};
  const left = table.unknown.length ? ` Left out: ${table.unknown.join(", ")}.` : wide ? " Cells to the right of the table were left out." : "";
  return {rows: next, key: next[at].key, words: `${count} ${count === 1 ? "row" : "rows"} pasted.${left}`};
}
