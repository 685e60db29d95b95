// The editor's buttons: what is done to rows, and where a trace comes from and goes to.

import {h} from "./replay-dom.js";
import {COLUMNS} from "./editor-sheet.js";

const ROWS = [
  ["add", "Add row", "Ctrl+Enter"], ["duplicate", "Duplicate", "Ctrl+D"], ["remove", "Delete", "Ctrl+Delete"],
  ["up", "Move up", "Alt+↑"], ["down", "Move down", "Alt+↓"],
];
const STEPS = [["undo", "Undo", "Ctrl+Z"], ["redo", "Redo", "Ctrl+Y"]];

export class Tools {
  /** @param {(name: string) => void} command  @param {(field: string, on: boolean) => void} column */
  constructor(command, column) {
    this.buttons = new Map();
    const button = ([name, text, keys]) => {
      const made = h("button", {type: "button", class: "ghost", dataset: {command: name}, title: keys ?? null, text, on: {click: () => command(name)}});
      this.buttons.set(name, made);
      return made;
    };
    const group = (label, list) => h("span", {class: "group", role: "group", "aria-label": label}, ...list.map(button));
    this.boxes = new Map(COLUMNS.filter(({required}) => !required).map(({field, label, help}) => [field, {
      input: h("input", {type: "checkbox", on: {change: ({target}) => column(field, target.checked)}}), label, help,
    }]));
    this.menu = h("details", {class: "ed-menu"}, h("summary", {class: "ghost", text: "Columns"}), h("div", {class: "list"},
      ...[...this.boxes.values()].map(({input, label, help}) => h("label", {}, input, h("span", {text: label}), h("small", {text: help})))));
    this.menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.menu.open) return;
      this.menu.open = false;
      this.menu.querySelector("summary").focus();
      event.stopPropagation();
    });
    this.menu.addEventListener("focusout", ({relatedTarget}) => { if (relatedTarget && !this.menu.contains(relatedTarget)) this.menu.open = false; });
    this.node = h("div", {class: "ed-tools", role: "toolbar", "aria-label": "Rows and steps"},
      group("Rows", ROWS), this.menu, group("Steps", STEPS), group("Clipboard", [["copy", "Copy rows"]]),
      group("Begin with", [["empty", "Empty"], ["lab", "The lab's trace"]]));
    this.files = h("span", {class: "group files", role: "group", "aria-label": "Files"},
      ...[["open", "Open a file"], ["trace", "Save trace"], ["share", "Save lab"], ["close", "Close"]].map(button));
    this.buttons.get("share").title = "The whole state of the lab as a file: what a link says, of any length";
    this.buttons.get("trace").title = "A trace file, as serving-lab replay reads it, with the limits that are set now";
  }

  /** @param {object} state undo, redo, rows (count), first, last (whether the current row is), fields (columns shown), used (that cannot be hidden) */
  show({undo, redo, rows, first, last, fields, used}) {
    const off = {undo: !undo, redo: !redo, duplicate: !rows, remove: !rows, up: !rows || first, down: !rows || last, copy: !rows, empty: !rows};
    // aria-disabled, not disabled: a button that just did its last step keeps the focus.
    for (const [name, value] of Object.entries(off)) this.buttons.get(name).setAttribute("aria-disabled", String(value));
    for (const [field, {input}] of this.boxes) {
      input.checked = fields.has(field);
      input.disabled = used.has(field);
    }
  }

  /** Whether a command can be done now. */
  can(name) {
    return this.buttons.get(name)?.getAttribute("aria-disabled") !== "true";
  }

  /** Offer only the optional columns that this lab's traces have. */
  offer(fields) {
    for (const [field, {input}] of this.boxes) input.parentNode.hidden = !fields.has(field);
  }
}
