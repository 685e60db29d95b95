// The trace editor: a table, a picture and what the trace teaches. Every change is a step that can be undone, and goes to
// Python at once; Python says what is wrong with it, or sends both replays.

import {h, setAttr, setText} from "./replay-dom.js";
import {byCell, Errors, placed} from "./editor-errors.js";
import {Generate} from "./editor-generate.js";
import {Draft} from "./editor-draft.js";
import {History} from "./editor-history.js";
import {isTable, tableText} from "./editor-paste.js";
import {Picture} from "./editor-picture.js";
import {added, duplicated, moved, pasted, removed} from "./editor-rows.js";
import {Search} from "./editor-search.js";
import {columnsOf, emptySheet, sheetOf, textOf} from "./editor-sheet.js";
import {Table} from "./editor-table.js";
import {Teaches} from "./editor-teaches.js";
import {Tools} from "./editor-tools.js";
import {fileName, save} from "./share-file.js";

const UNITS = [["iteration", "iterations"], ["ms", "milliseconds"], ["s", "seconds"]];
const SOON = "Both replays follow as soon as Python is ready.";

export class Editor {
  #errors = [];
  #cells = new Map(); // errors by cell
  #asked = new Set(); // columns that are shown though nothing is in them
  #colors = [];
  #limits = ""; // those of the last replay, as JSON
  #shownText = null; // the trace that the sheet was read from, or last became

  /**
   * @param {HTMLElement} place
   * @param {object} lab calls, share, state, builtIn, openState, ready(), guess, veiled(), highlight(id), close(), key(name)
   */
  constructor(place, lab) {
    this.place = place;
    this.lab = lab;
    this.history = new History(sheetOf(lab.builtIn.text));
    this.plain = textOf(this.history.now); // the lab's own trace, as this editor writes it
    this.#shownText = lab.builtIn.text;
    this.tools = new Tools((name) => this.command(name), (field, on) => this.#column(field, on));
    this.table = new Table({
      edit: (key, field, text) => this.#edit(key, field, text, `type ${key} ${field}`),
      enter: (field) => this.#add(field), command: (name) => this.command(name), row: (key) => this.#current(key),
    });
    this.picture = new Picture({
      change: (key, field, text, gesture) => this.#edit(key, field, text, gesture),
      done: () => this.history.pause(), row: (key) => this.#current(key),
    });
    this.draft = new Draft(lab.key("trace-draft"));
    this.errors = new Errors((key, field) => this.table.focus(key, field));
    this.teaches = new Teaches(() => lab.guess.settle());
    this.#build();
  }

  get sheet() {
    return this.history.now;
  }

  #build() {
    this.name = h("input", {type: "text", id: "editor-name", class: "cell", spellcheck: "false", autocomplete: "off", on: {input: () => this.#head("name", this.name.value)}});
    this.unit = h("select", {id: "editor-unit", on: {change: () => this.#head("time_unit", this.unit.value)}}, ...UNITS.map(([value, text]) => h("option", {value, text})));
    this.counted = h("span", {class: "quiet"});
    this.limits = h("p", {class: "ed-limits quiet"});
    this.says = h("p", {class: "ed-says quiet", role: "status"});
    this.empty = h("p", {class: "ed-empty", tabindex: 0, text: "No rows yet. Add a row, or paste rows from a spreadsheet here."});
    this.sheetBox = h("div", {class: "ed-sheet"}, this.picture.node, h("div", {class: "ed-scroll"}, this.table.node, this.empty));
    this.generate = new Generate(this.lab.calls, (trace) => {
      this.#found(trace);
      this.#say(`${trace.requests.length} requests generated, under the limits that are set.`);
    }, () => this.sheet);
    this.search = new Search(this.lab.calls, () => ({trace: textOf(this.sheet), limits: this.sheet.limits}), (trace) => this.#found(trace));
    this.more = h("div", {class: "ed-more"}, this.generate.node, this.search.node);
    this.place.replaceChildren(
      h("header", {}, h("h2", {id: "editor-title", text: "Edit the trace"}),
        h("span", {class: "pair"}, h("label", {for: "editor-name", text: "Name"}), this.name),
        h("span", {class: "pair"}, h("label", {for: "editor-unit", text: "Arrivals in"}), this.unit), this.counted, this.tools.files),
      this.tools.node,
      h("div", {class: "ed-main"}, h("div", {class: "ed-left"}, this.sheetBox, this.errors.node, this.says, this.limits, this.more), this.teaches.node),
      h("p", {class: "sr-only", id: "editor-keys", text: "Arrows go from cell to cell, Enter goes down and adds a row at the end. Control D duplicates, Control Delete deletes, Alt with an arrow moves the row. Control Z undoes, Control Y redoes. Rows can be pasted from a spreadsheet."}),
      h("p", {class: "sr-only", id: "editor-picture-keys", text: "Left and right change a value, with Shift by ten; up and down go to another request."}));
    this.place.addEventListener("keydown", (event) => this.#key(event));
    this.place.addEventListener("paste", (event) => this.#paste(event));
    this.place.addEventListener("focusout", () => { this.history.pause(); this.lab.highlight(null); });
  }

  // ---- what the page says ------------------------------------------------------------------------------------

  /** The editor was opened. @param {object} payload the last replay */
  open(payload) {
    this.show(payload);
    if (!this.table.focus(this.sheet.rows[0]?.key, "id")) this.empty.focus();
    this.#offer();
  }

  /** What was edited here last, if it is not what is here now. */
  #offer() {
    const kept = this.draft.read();
    let sheet;
    try {
      sheet = sheetOf(kept);
    } catch {
      return; // nothing is kept, or nothing that can be read
    }
    if (this.history.canUndo || kept === textOf(this.sheet, this.sheet.limits)) return;
    const back = h("button", {type: "button", class: "as-link", text: "Bring it back", on: {click: () => {
      this.#change(sheet);
      this.#say("This is the trace that you edited last.");
      this.table.focus(sheet.rows[0]?.key, "id");
    }}});
    this.says.replaceChildren(`You edited another trace here last: ${sheet.head.name}, ${sheet.rows.length} requests. `, back);
  }

  /** A replay has come: of this editor's trace, of other limits, or of a trace that somebody opened. */
  show(payload) {
    const {trace, from} = this.lab.state;
    const text = (trace ?? this.lab.builtIn).text;
    const set = {limits: payload.replay.limits, options: payload.replay.options ?? {}};
    const limits = JSON.stringify(set);
    if (!this.#limits) this.history.now = {...sheetOf(text), ...set}; // what is there when the editor is first opened
    else if (text !== this.#shownText && from !== "editor") {
      this.#take({...sheetOf(text), ...set});
    } else if (limits !== this.#limits && payload.serial === undefined) {
      // Turned in the fields above: limits and options are the trace's, and a step like any other.
      this.history.push({...this.sheet, ...set}, "limits");
    }
    this.#shownText = text;
    this.#limits = limits;
    this.#colors = Object.values(payload.colors);
    this.notes = payload.notes ?? [];
    this.taught = payload.teaches;
    this.veil();
    this.#draw();
  }

  /** What the trace teaches would answer the guess, as long as there is one to make. */
  veil() {
    this.teaches.show(this.taught, this.lab.veiled());
  }

  /** Another trace takes the place of this one; the step can be undone. */
  #take(sheet) {
    this.#setErrors([]);
    this.history.push(sheet);
  }

  /** Python has made a trace. */
  #found(trace) {
    const made = sheetOf(JSON.stringify(trace));
    const {base, limits, options} = this.sheet;
    this.#change({...made, base, limits, options});
  }

  // ---- changes -----------------------------------------------------------------------------------------------

  /** @param {object} sheet  @param {string|null} gesture as for History */
  #change(sheet, gesture = null) {
    this.history.push(sheet, gesture);
    this.#changed();
  }

  #changed() {
    this.#draw();
    this.#ask();
    this.draft.keep(textOf(this.sheet, this.sheet.limits));
  }

  #edit(key, field, text, gesture) {
    const rows = this.sheet.rows.map((one) => (one.key === key ? {...one, cells: {...one.cells, [field]: text}} : one));
    this.#change({...this.sheet, rows}, gesture);
  }

  #head(field, value) {
    this.#change({...this.sheet, head: {...this.sheet.head, [field]: value}}, `head ${field}`);
  }

  #column(field, on) {
    if (on) this.#asked.add(field);
    else this.#asked.delete(field);
    this.#draw();
  }

  /** Where the current row is; −1 where there is none. */
  get #here() {
    return this.sheet.rows.findIndex(({key}) => key === this.table.at.key);
  }

  /** A row after the current one, and the keyboard in it. */
  #add(field = "id") {
    const {rows, key} = added(this.sheet.rows, this.#here);
    this.#change({...this.sheet, rows});
    this.table.focus(key, field);
  }

  /** Take rows; the keyboard goes along with the current one, if it is in the table. */
  #rows({rows, key}) {
    const inside = this.table.node.contains(document.activeElement);
    this.#change({...this.sheet, rows});
    if (key === null) this.empty.focus();
    else if (inside) this.table.focus(key, this.table.at.field);
    else this.#current(key);
    this.#draw();
  }

  command(name) {
    if (!this.tools.can(name)) return;
    const {rows} = this.sheet;
    const at = this.#here;
    const act = {
      add: () => this.#add(),
      duplicate: () => this.#rows(duplicated(rows, at)),
      remove: () => this.#rows(removed(rows, at)),
      up: () => this.#rows(moved(rows, at, -1)),
      down: () => this.#rows(moved(rows, at, 1)),
      undo: () => this.#step(() => this.history.undo(), "Undone."),
      redo: () => this.#step(() => this.history.redo(), "Redone."),
      empty: () => {
        this.#change(emptySheet(this.sheet));
        this.#say("An empty trace, under the same limits.");
      },
      lab: () => this.#change(sheetOf(this.lab.builtIn.text)),
      copy: () => this.#copy(),
      open: () => this.lab.share.open(),
      trace: () => this.#saveTrace(),
      share: () => this.lab.share.saveLab(),
      close: () => this.lab.close(),
    }[name];
    act();
  }

  #step(step, words) {
    if (!step()) return;
    this.#setErrors([]);
    this.#changed();
    this.#say(words);
  }

  #key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const name = {z: event.shiftKey ? "redo" : "undo", y: "redo"}[event.key.toLowerCase()];
    if (!name || event.target.closest("textarea")) return;
    event.preventDefault(); // the browser's own undo knows one field only
    this.command(name);
  }

  // ---- to and from elsewhere ---------------------------------------------------------------------------------

  #paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const cell = event.target.closest?.(".ed-table .cell");
    if (!text || (event.target.closest?.("input, textarea, select") && !(cell && isTable(text)))) return;
    event.preventDefault();
    const fields = columnsOf(this.sheet, this.#asked).map(({field}) => field);
    const from = cell ? fields.indexOf(cell.dataset.field) : 0;
    const {rows, key, words} = pasted(this.sheet.rows, cell ? this.#here : this.sheet.rows.length, text, fields.slice(from));
    if (key !== null) this.#change({...this.sheet, rows});
    this.#say(words);
    if (key !== null) this.table.focus(key, cell?.dataset.field ?? "id");
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(tableText(columnsOf(this.sheet, this.#asked), this.sheet.rows));
      this.#say(`${this.sheet.rows.length} rows copied, for a spreadsheet.`);
    } catch {
      this.#say("The browser did not allow copying.");
    }
  }

  /** The trace as `lab` writes it, under the limits that are set now. */
  async #saveTrace() {
    let answer;
    try {
      answer = await this.lab.calls.call("write_trace", {trace: textOf(this.sheet, this.sheet.limits)});
    } catch (error) {
      this.#say(`The trace was not saved. ${error.message}`);
      return;
    }
    if (answer.data.text === undefined) this.#say("The trace was not saved: mend the cells that cannot be used first.");
    else save(fileName(this.sheet.head.name, ".json"), answer.data.text);
  }

  // ---- Python ------------------------------------------------------------------------------------------------

  #ask() {
    const sheet = this.sheet;
    const text = textOf(sheet);
    if (!this.lab.ready()) this.#say(SOON);
    this.lab.openState({limits: sheet.limits, iteration: null, packed: null, text: text === this.plain ? undefined : text}, {
      exploring: true,
      opened: () => {
        if (this.says.textContent === SOON) this.#say("");
        if (sheet === this.sheet) this.#wrong([], sheet);
      },
      refuse: (why, answer) => this.#judge(sheet, text, answer ?? {row: null, field: null, why}),
    });
  }

  /** Python has said one thing that is wrong; ask for all of them. */
  async #judge(sheet, text, first) {
    if (sheet !== this.sheet) return;
    let errors = [];
    try {
      errors = (await this.lab.calls.call("judge_trace", {trace: text})).data.errors;
    } catch { /* then the first stands alone */ }
    if (sheet === this.sheet) this.#wrong(errors.length ? errors : [first], sheet);
  }

  #wrong(errors, sheet) {
    this.#setErrors(placed(errors, sheet));
    this.#draw();
  }

  #setErrors(errors) {
    if (!errors.length && !this.#errors.length) return;
    this.#errors = errors;
    this.#cells = byCell(errors);
  }

  // ---- drawing -----------------------------------------------------------------------------------------------

  #say(text) {
    setText(this.says, text);
  }

  #current(key) {
    if (this.table.at.key !== key) this.table.at.key = key;
    this.picture.current(key);
    this.#drawTools();
    this.lab.highlight(this.sheet.rows.find((one) => one.key === key)?.cells.id ?? null);
  }

  #drawTools() {
    const {rows} = this.sheet;
    const columns = columnsOf(this.sheet, this.#asked);
    const used = new Set(columnsOf(this.sheet, new Set()).map(({field}) => field));
    const key = this.table.at.key ?? rows.at(-1)?.key;
    this.tools.show({
      undo: this.history.canUndo, redo: this.history.canRedo, rows: rows.length, first: rows[0]?.key === key, last: rows.at(-1)?.key === key,
      fields: new Set(columns.map(({field}) => field)), used,
    });
    return columns;
  }

  #draw() {
    const {sheet} = this;
    const {rows, head} = sheet;
    this.table.show(sheet, columnsOf(sheet, this.#asked), this.#cells, this.#colors);
    this.picture.show(sheet, this.#colors);
    this.#drawTools();
    this.errors.show(this.#errors);
    setAttr(this.name, "aria-invalid", this.#errors.some(({key, field}) => key === null && field === "name") ? "true" : null);
    if (this.name.value !== (head.name ?? "")) this.name.value = head.name ?? "";
    this.unit.value = head.time_unit ?? "iteration";
    setText(this.counted, rows.length === 1 ? "1 request" : `${rows.length} requests`);
    this.empty.hidden = rows.length > 0;
    this.sheetBox.classList.toggle("none", rows.length === 0);
    setText(this.limits, ["The limits above, and the options that are on, are saved with the trace.", ...(this.notes ?? [])].join(" "));
  }
}
