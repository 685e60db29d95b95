// Questions and offers above the editor: another tab's version, a version put aside, "really reset?". One bar each, in
// one place; nothing is done to the learner's code without an answer.

import {h} from "./replay-dom.js";
import {timeWords} from "./code-words.js";

export class Questions {
  #bars = new Map();

  constructor() {
    this.node = h("div", {class: "questions", "aria-live": "polite"});
  }

  /** Show a bar. @param {{label: string, run: () => void, solid?: boolean}[]} answers */
  ask(name, words, answers) {
    this.drop(name);
    const bar = h("div", {class: "question-bar", role: "group", dataset: {question: name}}, h("p", {text: words}),
      h("span", {class: "acts"}, ...answers.map(({label, run, solid}) => h("button", {
        type: "button", class: solid ? "solid" : "ghost", text: label, on: {click: () => { this.drop(name); run(); }},
      }))));
    this.#bars.set(name, bar);
    this.node.append(bar);
    return bar;
  }

  drop(name) {
    this.#bars.get(name)?.remove();
    this.#bars.delete(name);
  }

  has(name) {
    return this.#bars.has(name);
  }
}

const WHY = {
  reset: "The code from before the reset",
  import: "The code from before the import",
  aside: "The code that stood here before",
  "other tab": "The version that was not chosen, from another tab,",
};

/** Another tab has saved something else under the name of this exercise. */
export function askConflict(questions, code) {
  const {conflict} = code;
  const at = conflict.at ? ` at ${timeWords(conflict.at)}` : "";
  questions.ask("conflict", `Another tab has changed this exercise${at}. What you see here is not saved over it. Which version shall stay? The other one is put aside, not deleted.`, [
    {label: "Keep this one", solid: true, run: () => code.keepMine()},
    {label: "Show the other tab's", run: () => code.takeTheirs()},
  ]);
}

/** A version is kept aside. */
export function offerAside(questions, code) {
  if (!code.aside) {
    questions.drop("aside");
    return;
  }
  const what = Object.hasOwn(WHY, code.aside.why) ? WHY[code.aside.why] : "Another version";
  questions.ask("aside", `${what} (${timeWords(code.aside.at)}) is kept.`, [
    {label: code.aside.why === "reset" ? "Undo the reset" : "Bring it back", run: () => code.bringBack()},
    {label: "Forget it", run: () => code.forgetAside()},
  ]);
}
