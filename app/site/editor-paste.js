// Rows from a spreadsheet: text with tabs as spreadsheets copy it, or CSV, with or without a line of headings.

import {COLUMNS} from "./editor-sheet.js";

/** Other names for the columns, as people write them. */
const ALIASES = {
  request: "id", request_id: "id", name: "id", arrival_time: "arrival", arrival_iteration: "arrival", arrived_at: "arrival", timestamp: "arrival", time: "arrival",
  prompt: "prompt_tokens", input: "prompt_tokens", input_tokens: "prompt_tokens", prompt_length: "prompt_tokens", context_tokens: "prompt_tokens", contexttokens: "prompt_tokens",
  output: "output_tokens", output_length: "output_tokens", generated_tokens: "output_tokens", generatedtokens: "output_tokens", completion_tokens: "output_tokens",
  cancel_after: "cancel_after_tokens", prefix_pages: "prefix", n: "samples",
};
const FIELDS = new Set(COLUMNS.map(({field}) => field));

/** True when pasted text is a piece of a table, and not something to put into one cell. */
export function isTable(text) {
  const lines = text.replace(/[\r\n]+$/, "").split(/\r\n|\r|\n/);
  return lines.length > 1 || lines[0].includes("\t") || (lines[0].match(/[,;]/g) ?? []).length >= 2;
}

/**
 * @param {string} text
 * @returns {{fields: (string|null)[]|null, rows: string[][], unknown: string[]}} fields: by column, when the first line
 *   names them (null: not a column of the lab); unknown: headings that are not taken
 */
export function readTable(text) {
  const table = split(text.replace(/^\uFEFF/, "")).filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const named = (table[0] ?? []).map(fieldOf);
  if (named.filter(Boolean).length < Math.min(2, named.length) || !named.some(Boolean)) return {fields: null, rows: table, unknown: []};
  const unknown = table[0].filter((name, index) => !named[index] && name.trim() !== "");
  return {fields: named, rows: table.slice(1), unknown};
}

function fieldOf(heading) {
  const name = heading.trim().toLowerCase().replace(/[\s-]+/g, "_");
  if (FIELDS.has(name)) return name;
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : null;
}

function split(text) {
  const first = text.split(/\r\n|\r|\n/, 1)[0];
  const by = first.includes("\t") ? "\t" : (first.match(/;/g) ?? []).length > (first.match(/,/g) ?? []).length ? ";" : ",";
  const table = [];
  let cells = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (letter === '"' && cell === "" && text.includes('"', at + 1)) quoted = true; // one that is never closed is a letter
    else if (letter === by) {
      cells.push(cell);
      cell = "";
    } else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[at + 1] === "\n") at++;
      table.push([...cells, cell]);
      cells = [];
      cell = "";
    } else cell += letter;
  }
  if (cell !== "" || cells.length) table.push([...cells, cell]);
  return table;
}

/** A sheet's rows as a spreadsheet takes them. */
export function tableText(columns, rows) {
  const quote = (cell) => (/[\t\n\r"]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
  const lines = [columns.map(({field}) => field), ...rows.map(({cells}) => columns.map(({field}) => quote(cells[field] ?? "")))];
  return `${lines.map((line) => line.join("\t")).join("\n")}\n`;
}
