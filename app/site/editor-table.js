// The trace as a table of fields, moved about in as in a spreadsheet: arrows, Enter, Tab, paste.

import {h, setAttr, setText} from "./replay-dom.js";
import {columnOf} from "./editor-sheet.js";

const PAGE = 10; // rows that Page up and Page down go

export class Table {
  #rows = new Map(); // key → {node, number, cells: Map(field → input)}
  #order = [];
  #columns = [];
  #before = null; // text of the current cell as it was found, for Escape
  #home = null; // column in which this row's typing began: Enter goes back to it

  /** @param {object} on edit(key, field, text), enter() at the last row, command(name), paste(text, key, field), row(key|null) */
  constructor(on) {
    this.on = on;
    this.at = {key: null, field: "id"};
    this.head = h("tr");
    this.body = h("tbody");
    this.node = h("table", {class: "ed-table", "aria-label": "Requests", "aria-describedby": "editor-keys", on: {
      input: (event) => this.#typed(event.target),
      focusin: (event) => this.#entered(event),
      keydown: (event) => this.#key(event),
      pointerdown: () => { this.#home = null; },
    }}, h("thead", {}, this.head), this.body);
  }

  /** @param {object} sheet  @param {object[]} columns  @param {Map<string, object>} errors by "key field"  @param {string[]} colors by row */
  show(sheet, columns, errors, colors) {
    const inside = this.node.contains(document.activeElement);
    const stood = this.#order.indexOf(this.at.key);
    this.#setColumns(columns);
    const keys = new Set(sheet.rows.map(({key}) => key));
    for (const [key, made] of this.#rows) {
      if (keys.has(key)) continue;
      made.node.remove();
      this.#rows.delete(key);
    }
    this.#order = sheet.rows.map(({key}) => key);
    sheet.rows.forEach((row, index) => {
      const made = this.#rows.get(row.key) ?? this.#make(row.key);
      const before = this.body.children[index];
      if (before !== made.node) this.#place(made.node, before ?? null);
      // Rows are replaced, never changed: of a hundred rows one drag has one to draw.
      const drawn = [row, index, colors[index], errors, columns.length];
      if (made.drawn?.every((part, at) => part === drawn[at])) return;
      made.drawn = drawn;
      setText(made.number, String(index + 1));
      made.node.style.setProperty("--c", colors[index] ?? "var(--soft)");
      for (const [field, input] of made.cells) {
        const text = row.cells[field] ?? "";
        if (input.value !== text) input.value = text;
        const error = errors.get(`${row.key} ${field}`);
        setAttr(input, "aria-label", `${columnOf(field).words ?? columnOf(field).label}, row ${index + 1}`);
        setAttr(input, "aria-invalid", error ? "true" : null);
        setAttr(input, "aria-describedby", error ? error.id : null);
        setAttr(input, "title", error ? error.why : null);
      }
    });
    // Where the current row is gone, the one in its place is the current one, and has the keyboard if that one had it.
    if (!keys.has(this.at.key)) this.at.key = (sheet.rows[stood] ?? sheet.rows.at(-1))?.key ?? null;
    if (!columns.some(({field}) => field === this.at.field)) this.at.field = columns[0].field;
    this.#rove();
    if (inside && !this.node.contains(document.activeElement)) this.focus();
  }

  /** Moving a node takes the focus from it; it is given back. */
  #place(node, before) {
    const focused = node.contains(document.activeElement) ? document.activeElement : null;
    this.body.insertBefore(node, before);
    focused?.focus({preventScroll: true});
  }

  #setColumns(columns) {
    if (columns.length === this.#columns.length && columns.every((column, index) => column === this.#columns[index])) return;
    this.#columns = columns;
    this.head.replaceChildren(h("th", {scope: "col", class: "number"}, h("span", {class: "sr-only", text: "Row"})),
      ...columns.map(({label, words, help}) => h("th", {scope: "col", title: help ?? words ?? null, text: label})));
    for (const made of this.#rows.values()) this.#fill(made);
  }

  #make(key) {
    const number = h("th", {scope: "row"});
    const made = {node: h("tr", {dataset: {key}}, number), number, cells: new Map()};
    this.#rows.set(key, made);
    this.#fill(made);
    return made;
  }

  /** Fields for the columns, those that are there kept: the focus may be in one. */
  #fill(made) {
    const old = made.cells;
    made.cells = new Map(this.#columns.map(({field, kind}) => [field, old.get(field) ?? h("input", {
      type: "text", class: `cell ${kind}`, dataset: {field}, inputmode: kind === "number" ? "decimal" : null,
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", tabindex: -1, size: 1,
    })]));
    for (const [field, input] of old) if (!made.cells.has(field)) input.parentNode.remove();
    let after = made.number;
    for (const input of made.cells.values()) {
      const cell = input.parentNode ?? h("td", {}, input);
      if (after.nextSibling !== cell) after.after(cell);
      after = cell;
    }
  }

  // ---- moving about ------------------------------------------------------------------------------------------

  /** The cell that the keyboard is in, or would be. */
  focus(key = this.at.key, field = this.at.field) {
    const input = this.#rows.get(key)?.cells.get(field);
    if (!input) return false;
    input.focus({preventScroll: true});
    input.select();
    input.closest("tr").scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
    return true;
  }

  /** One row can be reached by Tab; the arrows go on from there. */
  #rove() {
    for (const [key, made] of this.#rows) {
      const here = key === this.at.key;
      made.node.classList.toggle("current", here);
      for (const input of made.cells.values()) input.tabIndex = here ? 0 : -1;
    }
  }

  #entered({target}) {
    if (!target.matches(".cell")) return;
    const key = Number(target.closest("tr").dataset.key);
    const {field} = target.dataset;
    if (key !== this.at.key || this.#home === null) this.#home = field;
    this.at = {key, field};
    this.#before = target.value;
    this.#rove();
    this.on.row(key);
  }

  #typed(input) {
    if (!input.matches(".cell")) return;
    this.on.edit(this.at.key, input.dataset.field, input.value);
  }

  #move(rows, columns = 0) {
    const at = Math.min(Math.max(this.#order.indexOf(this.at.key) + rows, 0), this.#order.length - 1);
    const fields = this.#columns.map(({field}) => field);
    const column = Math.min(Math.max(fields.indexOf(this.at.field) + columns, 0), fields.length - 1);
    const home = this.#home;
    this.focus(this.#order[at], fields[column]);
    if (!columns) this.#home = home;
  }

  #enter(back) {
    const last = this.at.key === this.#order.at(-1);
    const home = this.#home ?? this.at.field;
    if (!back && last) this.on.enter(home);
    else {
      this.at.field = home;
      this.#move(back ? -1 : 1);
    }
    this.#home = home;
  }

  #key(event) {
    const {target: input, key} = event;
    if (!input.matches(".cell")) return;
    const command = event.ctrlKey || event.metaKey;
    const act = event.altKey ? this.#rowKeys(key) : command ? this.#commandKeys(key) : this.#plainKeys(key, event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #rowKeys(key) {
    return {ArrowUp: () => this.on.command("up"), ArrowDown: () => this.on.command("down")}[key];
  }

  #commandKeys(key) {
    return {
      Home: () => this.focus(this.#order[0]), End: () => this.focus(this.#order.at(-1)),
      d: () => this.on.command("duplicate"), Enter: () => this.on.command("add"),
      Delete: () => this.on.command("remove"), Backspace: () => this.on.command("remove"),
    }[key];
  }

  #plainKeys(key, {target: input, shiftKey}) {
    const all = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    const start = all || (input.selectionStart === 0 && input.selectionEnd === 0);
    const end = all || (input.selectionStart === input.value.length);
    if (shiftKey && key !== "Enter") return null;
    return {
      ArrowUp: () => this.#move(-1), ArrowDown: () => this.#move(1),
      ArrowLeft: start && (() => this.#move(0, -1)), ArrowRight: end && (() => this.#move(0, 1)),
      PageUp: () => this.#move(-PAGE), PageDown: () => this.#move(PAGE),
      Enter: () => this.#enter(shiftKey),
      F2: () => input.setSelectionRange(input.value.length, input.value.length),
      Escape: input.value !== this.#before && (() => {
        input.value = this.#before;
        this.#typed(input);
        input.select();
      }),
    }[key] || null;
  }
}
