// A trace as the editor holds it: the rows as typed, and what stands round them. Nothing is judged here; Python does that.
//
// Sheet: {head: {name, title, …}, base: the limits that the trace was opened with, limits and options: those that are set
// now, rows: [{key, cells: {field: text}, extra: {field: value}}]}. Sheets and rows are never changed, only replaced.

import {NUMBER, read, write, Written} from "./editor-json.js";

/** kind: text, number, list. The first four are always shown. */
export const COLUMNS = [
  {field: "id", label: "id", kind: "text", required: true},
  {field: "arrival", label: "arrival", kind: "number", required: true},
  {field: "prompt_tokens", label: "prompt", words: "prompt tokens", kind: "number", required: true},
  {field: "output_tokens", label: "output", words: "output tokens", kind: "number", required: true},
  {field: "client", label: "client", kind: "text", help: "who sent it"},
  {field: "cancel_after_tokens", label: "cancel after", words: "cancel after tokens", kind: "number", help: "the client leaves after so many tokens"},
  {field: "cancel_at", label: "cancel at", kind: "number", help: "the client leaves in this iteration"},
  {field: "samples", label: "samples", kind: "number", help: "completions of the same prompt"},
  {field: "prefix", label: "prefix pages", kind: "list", help: "hash ids of the prompt's leading pages"},
];
const BY_FIELD = new Map(COLUMNS.map((column) => [column.field, column]));
const HEAD = ["schema_version", "name", "title", "source", "license", "time_unit"];

let keys = 0;
/** @returns a row of its own, with a key that no other row has */
export const row = (cells, extra = {}) => ({key: ++keys, cells, extra});

export const columnOf = (field) => BY_FIELD.get(field);

/** @param {string} text a trace file that Python has read without complaint */
export function sheetOf(text) {
  const {limits, requests, options = {}, ...head} = read(text);
  const rows = requests.map((request) => {
    const cells = {};
    const extra = {};
    for (const [field, value] of Object.entries(request)) {
      if (BY_FIELD.has(field)) cells[field] = cellOf(value);
      else extra[field] = value;
    }
    return row(cells, extra);
  });
  return {head, base: plain(limits), limits: plain(limits), options, rows};
}

export const emptySheet = ({limits, options}) => ({
  head: {schema_version: 1, name: "my-trace", time_unit: "iteration"}, base: limits, limits, options, rows: [],
});

const plain = (limits) => JSON.parse(write(limits));

function cellOf(value) {
  if (value instanceof Written) return value.text;
  return typeof value === "string" ? value : write(value);
}

/** The trace file that the sheet says, with `limits`; bad cells go in as they are, for Python to judge. */
export function textOf(sheet, limits = sheet.base) {
  const head = Object.fromEntries([...HEAD, ...Object.keys(sheet.head)].map((name) => [name, sheet.head[name]]));
  const requests = sheet.rows.map(({cells, extra}) => `{${[
    ...COLUMNS.map((column) => pair(column, cells[column.field] ?? "")),
    ...Object.entries(extra).map(([field, value]) => `${JSON.stringify(field)}: ${write(value)}`),
  ].filter(Boolean).join(", ")}}`);
  const options = Object.keys(sheet.options).length ? sheet.options : undefined;
  const before = write({...head, limits, options}).slice(0, -1);
  return `${before}, "requests": [${requests.join(",\n")}]}`;
}

function pair({field, kind, required}, cell) {
  const text = kind === "text" ? cell : cell.trim();
  if (text === "" && !(required && kind === "text")) return null;
  return `${JSON.stringify(field)}: ${{text: JSON.stringify, number: numberText, list: listText}[kind](text)}`;
}

/** A number as typed, if it is one: "007" is 7, "1e3" is for Python to say; anything else goes as text. */
function numberText(text) {
  const bare = text.replace(/^(-?)0+(?=\d)/, "$1");
  return NUMBER.test(bare) ? bare : JSON.stringify(text);
}

/** [17, 18] as JSON, or 17 18 as somebody types it. */
function listText(text) {
  if (text.startsWith("[")) {
    try {
      return write(read(text));
    } catch { /* then it is a list of words that begins with a bracket */ }
  }
  return `[${text.split(/[\s,;]+/).filter(Boolean).map((word) => (NUMBER.test(word) ? word : JSON.stringify(word))).join(", ")}]`;
}

/** The whole number in a cell; null where there is none, so that it cannot be drawn. */
export function numberOf(cell) {
  const text = (cell ?? "").trim();
  if (!/^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return null;
  const value = Number(text);
  return value <= Number.MAX_SAFE_INTEGER ? value : null; // no trace holds more
}

/** An id that no row has: after c comes d, after req-9 comes req-10, after req-07 comes req-08. */
export function freshId(rows) {
  const taken = new Set(rows.map(({cells}) => cells.id));
  const last = rows.at(-1)?.cells.id ?? "";
  const digits = /\d{1,15}$/.exec(last)?.[0]; // of more, adding 1 would change nothing
  for (let n = Number(digits) + 1; digits; n++) {
    const id = last.slice(0, -digits.length) + String(n).padStart(digits.length, "0");
    if (!taken.has(id)) return id;
  }
  if (rows.length && !/^[a-z]$/.test(last)) for (let n = 2; ; n++) if (!taken.has(`${last}${n}`)) return `${last}${n}`;
  for (let code = last ? last.charCodeAt(0) + 1 : 97; code <= 122; code++) {
    const letter = String.fromCharCode(code);
    if (!taken.has(letter)) return letter;
  }
  for (let n = 1; ; n++) if (!taken.has(`r${n}`)) return `r${n}`;
}

/** A row to begin with: as the one before it, under an id of its own. */
export function nextRow(rows) {
  const before = rows.at(-1)?.cells ?? {};
  return row({
    id: freshId(rows), arrival: before.arrival ?? "0", prompt_tokens: before.prompt_tokens ?? "32", output_tokens: before.output_tokens ?? "16",
  });
}

/** The columns that a sheet needs: the four, those that are used, and those that were asked for. */
export function columnsOf(sheet, asked) {
  return COLUMNS.filter(({field, required}) => required || asked.has(field) || sheet.rows.some(({cells}) => (cells[field] ?? "") !== ""));
}
