// The editor proper: Ace, as it ships with Panel. Loaded when the code section is near, or never.

import {h} from "./replay-dom.js";
import {loadScripts} from "./panel-bridge.js";

const FILES = ["ace.js", "mode-python.js"];
/** Commands whose dialogs are in files that this site does not ship. */
const WITHOUT = ["showSettingsMenu", "openCommandPalette", "openCommandPallete", "gotoline", "goToNextError", "goToPreviousError"];

let loading = null;

/** @param {URL} folder where Ace's files lie  @returns {Promise<object>} Ace; a failure may be tried again */
export function loadAce(folder) {
  loading ??= loadScripts(FILES.map((name) => new URL(name, folder).href)).then(() => {
    const {ace} = window;
    ace.config.set("basePath", folder.href.replace(/\/$/, ""));
    ace.config.set("loadWorkerFromBlob", false);
    // Colours are those of code.css, which follows the page's theme by itself.
    ace.define("ace/theme/lab", ["require", "exports"], (_require, exports) => {
      Object.assign(exports, {isDark: false, cssClass: "ace-lab", cssText: ""});
    });
    return ace;
  }).catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

export class AceEditor {
  #quiet = false;
  #anchors = [];
  #lights = [];

  /** @param {object} ace  @param {{label: string, describedBy: string, input: (text: string) => void}} options */
  constructor(ace, {label, describedBy, input}) {
    this.ace = ace;
    this.place = h("div");
    this.node = h("div", {class: "ace-box"}, this.place);
    const editor = this.editor = ace.edit(this.place, {
      theme: "ace/theme/lab", mode: "ace/mode/python", useWorker: false, newLineMode: "unix",
      tabSize: 4, useSoftTabs: true, navigateWithinSoftTabs: false, showPrintMargin: false, minLines: 12, maxLines: 30,
      fontSize: 14, scrollPastEnd: 0, highlightGutterLine: true, showFoldWidgets: false, textInputAriaLabel: label,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono").trim(),
    });
    editor.renderer.setPadding(8);
    editor.renderer.setScrollMargin(8, 8);
    editor.container.style.lineHeight = "21px";
    editor.textInput.getElement().setAttribute("aria-describedby", describedBy);
    // Text of several lines that is no paste (dictation, a snippet tool) would be typed and indented line by line.
    editor.textInput.getElement().addEventListener("beforeinput", (event) => {
      if (!event.data?.includes("\n")) return;
      event.preventDefault();
      editor.onPaste(event.data);
    }, true);
    editor.commands.removeCommands(WITHOUT.filter((name) => editor.commands.commands[name]));
    editor.session.on("change", () => {
      if (!this.#quiet) input(this.text);
    });
  }

  get text() {
    return this.editor.getValue();
  }

  /** Put text in that begins a history of its own. */
  set text(value) {
    this.#quietly(() => {
      this.editor.session.setValue(value);
      this.editor.clearSelection();
    });
  }

  /** Put other text in, so that undo can take it back. */
  replace(value) {
    const {session} = this.editor;
    this.#quietly(() => {
      session.markUndoGroup();
      session.replace(new (this.ace.require("ace/range").Range)(0, 0, session.getLength(), 0), value);
      session.markUndoGroup();
      this.editor.gotoLine(1, 0, false);
    });
  }

  #quietly(action) {
    this.#quiet = true;
    try {
      action();
    } finally {
      this.#quiet = false;
    }
  }

  /** Marks stay with their lines while the text around them is edited. */
  mark(marks) {
    const {session} = this.editor;
    for (const {anchor} of this.#anchors) anchor.detach();
    this.#anchors = marks.map(({line, text, kind}) => {
      const anchor = session.doc.createAnchor(Math.min(line, session.getLength()) - 1, 0);
      anchor.on("change", () => this.#drawMarks());
      return {anchor, text, type: kind};
    });
    this.#drawMarks();
  }

  #drawMarks() {
    const {session} = this.editor;
    const {Range} = this.ace.require("ace/range");
    for (const id of this.#lights) session.removeMarker(id);
    this.#lights = this.#anchors.map(({anchor, type}) =>
      session.addMarker(new Range(anchor.row, 0, anchor.row, Infinity), `lab-mark ${type}`, "fullLine"));
    session.setAnnotations(this.#anchors.map(({anchor, text, type}) => ({row: anchor.row, column: 0, text, type})));
  }

  goTo(line) {
    this.editor.gotoLine(line, 0, false);
    this.editor.focus();
  }

  focus() {
    this.editor.focus();
  }

  get focused() {
    return this.editor.isFocused();
  }

  /** Ace measures itself when it is told to: it may have been made, or resized, while it was hidden. */
  resize() {
    this.editor.resize(true);
  }

  dispose() {
    this.editor.destroy();
    this.node.remove();
  }
}
