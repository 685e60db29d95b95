// Takes all work to a file and back. What is imported never takes the place of the learner's code without an answer.

import {h, setText} from "./replay-dom.js";
import {fileOf, readFile} from "./work-file.js";
import {timeWords} from "./code-words.js";

export class Transfer {
  /** @param {Map<string, import("./work-code.js").Code>} codes by exercise  @param {object[]} exercises */
  constructor(codes, exercises) {
    this.codes = codes;
    this.titles = new Map(exercises.map(({id, title}) => [id, title]));
    this.file = h("input", {type: "file", accept: ".json,application/json", "aria-label": "File of saved work", hidden: true,
      on: {change: () => this.#read()}});
    this.says = h("p", {role: "status"});
    this.questions = h("div", {class: "questions"});
    this.node = h("div", {class: "transfer"},
      h("div", {class: "tools"},
        h("button", {type: "button", class: "ghost", text: "Export all work", on: {click: () => this.#export()}}),
        h("button", {type: "button", class: "ghost", text: "Import work", on: {click: () => this.file.click()}}), this.file,
        h("span", {class: "quiet", text: "One file with the code of all exercises, to keep or to take to another browser."})),
      this.says, this.questions);
  }

  #export() {
    const solutions = [...this.codes.values()].map((code) => {
      code.flush();
      return code.solution();
    });
    const url = URL.createObjectURL(new Blob([fileOf(solutions)], {type: "application/json"}));
    const link = h("a", {href: url, download: `serving-lab-work-${new Date().toISOString().slice(0, 10)}.json`, hidden: true});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    setText(this.says, "Exported.");
  }

  async #read() {
    const [file] = this.file.files;
    this.file.value = ""; // so that the same file can be chosen again
    if (!file) return;
    this.questions.replaceChildren();
    let solutions;
    try {
      solutions = await readFile(file);
    } catch (error) {
      setText(this.says, `Nothing was imported. ${error.message}`);
      return;
    }
    this.take(solutions);
  }

  /** @param {object[]} solutions known to be saved solutions */
  take(solutions) {
    const unknown = solutions.filter(({exercise}) => !this.codes.has(exercise));
    const told = [];
    const asked = [];
    for (const solution of solutions) {
      const code = this.codes.get(solution.exercise);
      if (!code) continue;
      code.flush();
      const title = this.titles.get(solution.exercise);
      if (code.text === solution.code) told.push(`${title}: the same as here.`);
      else if (!code.touched && !code.conflict) {
        code.replace(solution.code, "import");
        told.push(`${title}: imported.`);
      } else asked.push([solution, code, title]);
    }
    for (const {exercise} of unknown) told.push(`${exercise}: left out, this lab has no such exercise.`);
    if (!solutions.length) told.push("The file holds no work.");
    setText(this.says, told.join(" "));
    this.questions.replaceChildren(...asked.map(([solution, code, title]) => this.#ask(solution, code, title)));
    this.questions.querySelector("button")?.focus();
  }

  #ask(solution, code, title) {
    const settle = (words) => {
      bar.remove();
      setText(this.says, `${this.says.textContent} ${title}: ${words}`.trim());
    };
    const bar = h("div", {class: "question-bar", role: "group", dataset: {question: "import", exercise: solution.exercise}},
      h("p", {text: `${title}: the file has another version, saved ${timeWords(new Date(solution.saved_at))}. Yours is kept aside if you take it.`}),
      h("span", {class: "acts"},
        h("button", {type: "button", class: "solid", text: "Take the file's", on: {click: () => { code.replace(solution.code, "import"); settle("imported."); }}}),
        h("button", {type: "button", class: "ghost", text: "Keep mine", on: {click: () => settle("kept as it is here.")}})));
    return bar;
  }
}

