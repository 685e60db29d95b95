// The editor of one exercise: plain text at once, Ace in its place when it has loaded, with the same text and marks.

import {h, setText} from "./replay-dom.js";
import {AceEditor, loadAce} from "./code-ace.js";
import {PlainEditor} from "./code-plain.js";

const SHOWN_MARKS = 4;
let made = 0;

export class Editor {
  #free = false;

  /**
   * @param {object} options
   *   label: what a screen reader calls it;  text: what it holds at first;  ace: URL of Ace's folder
   *   plain: true where the learner wants no more than a text field
   *   input(text): the learner has typed;  check(): Ctrl or Cmd and Enter;  chosen(plain): the learner switched
   */
  constructor({label, text, ace, plain, input, check, chosen}) {
    this.folder = ace;
    const id = `editor-help-${++made}`;
    this.options = {label, describedBy: id, input: (value) => input(value)};
    this.fallback = new PlainEditor(this.options);
    this.fallback.text = text;
    this.now = this.fallback;
    this.plain = plain;
    this.marks = [];
    this.place = h("div", {class: "editor-place", dataset: {editor: "plain"}}, this.fallback.node);
    this.switch = h("input", {type: "checkbox", checked: plain, on: {change: () => {
      this.prefer(this.switch.checked);
      chosen(this.switch.checked);
    }}});
    this.trouble = h("span", {class: "trouble"});
    this.list = h("ul", {class: "marks", "aria-label": "Marked lines"});
    this.help = h("p", {class: "editor-help"},
      h("span", {id}, h("kbd", {text: "Tab"}), " indents. ", h("kbd", {text: "Esc"}), ", then ", h("kbd", {text: "Tab"}), " leaves the editor. ",
        h("kbd", {text: /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ Enter" : "Ctrl Enter"}), " checks."),
      h("label", {}, this.switch, "Plain text field"), this.trouble);
    this.node = h("div", {class: "editor"}, this.place, this.help, this.list);
    // Before Ace or the text field see the key.
    this.place.addEventListener("keydown", (event) => this.#key(event, check), true);
    this.place.addEventListener("focusout", () => { this.#free = false; });
    this.mark([]);
  }

  get text() {
    return this.now.text;
  }

  /** Put other text in; undo can take it back. */
  replace(text) {
    if (this.now.text === text) return;
    this.now.replace(text);
  }

  /** Bring Ace, unless the learner wants a plain field. Safe to call again. */
  async bring() {
    if (this.plain || this.now !== this.fallback) return;
    let ace;
    try {
      ace = await loadAce(this.folder);
    } catch {
      setText(this.trouble, "The editor with colours did not load; this field does the same work.");
      return;
    }
    setText(this.trouble, "");
    if (this.plain || this.now !== this.fallback) return;
    this.#exchange(new AceEditor(ace, this.options), "ace");
  }

  prefer(plain) {
    this.plain = plain;
    this.switch.checked = plain;
    if (!plain) this.bring();
    else if (this.now !== this.fallback) this.#exchange(this.fallback, "plain");
  }

  #exchange(next, name) {
    const before = this.now;
    const {focused} = before;
    next.text = before.text;
    this.place.replaceChildren(next.node);
    this.place.dataset.editor = name;
    this.now = next;
    before.dispose?.();
    next.resize?.();
    next.mark(this.marks);
    if (focused) next.focus();
  }

  /** @param {{line: number, text: string, kind: "error"|"warning"}[]} marks on the learner's own lines */
  mark(marks) {
    this.marks = marks;
    this.now.mark(marks);
    this.list.hidden = !marks.length;
    const rest = marks.length - SHOWN_MARKS;
    this.list.replaceChildren(...marks.slice(0, SHOWN_MARKS).map(({line, text, kind}) => h("li", {class: kind},
      h("button", {type: "button", class: "line-link", text: `line ${line}`, on: {click: () => this.goTo(line)}}), h("span", {text}))),
    ...(rest > 0 ? [h("li", {class: "quiet", text: `and ${rest} more, marked in the margin`})] : []));
  }

  goTo(line) {
    this.now.goTo(line);
    this.place.scrollIntoView({block: "nearest"});
  }

  shown() {
    this.now.resize?.();
  }

  #key(event, check) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      event.stopPropagation();
      check();
    } else if (event.key === "Tab" && this.#free) {
      event.stopPropagation(); // and no preventDefault: the browser moves the focus on
    }
    if (event.key !== "Shift") this.#free = event.key === "Escape";
  }
}
