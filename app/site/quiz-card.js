// One question as a form; once answered, right or wrong in words, and the explanation.

import {h, setAttr, setText} from "./replay-dom.js";
import {numberIn} from "./quiz-questions.js";

export class Card {
  /** @param {object} question  @param {number} number from 1  @param {string|null} given the answer given before  @param {(given: string) => void} answered */
  constructor(question, number, given, answered) {
    this.question = question;
    this.answered = answered;
    this.said = h("div", {class: "quiz-said", role: "status"});
    this.button = h("button", {type: "submit", class: "ghost", text: "Answer"});
    this.fields = question.kind === "number" ? this.#number() : this.#choices();
    this.node = h("li", {class: "card quiz-card", dataset: {question: question.id}}, h("form", {on: {submit: (event) => this.#submit(event)}},
      h("fieldset", {}, h("legend", {}, h("span", {class: "number", text: number}), h("span", {text: question.text})), ...this.fields,
        question.kind === "number" ? null : h("div", {class: "quiz-row"}, this.button)), this.said));
    if (given !== null) this.#show(given);
  }

  #number() {
    const {unit} = this.question;
    this.input = h("input", {type: "text", inputmode: "numeric", autocomplete: "off", "aria-label": unit ? `Answer in ${unit}` : "Answer", size: 8});
    return [h("div", {class: "quiz-row"}, this.input, unit ? h("span", {text: unit}) : null, this.button)];
  }

  #choices() {
    const group = `quiz-${this.question.id}`;
    return this.question.options.map((option) => h("label", {class: "quiz-choice"},
      h("input", {type: "radio", name: group, value: option}), h("span", {text: option})));
  }

  get #given() {
    return this.question.kind === "number" ? this.input.value : this.node.querySelector("input:checked")?.value ?? "";
  }

  #submit(event) {
    event.preventDefault();
    const given = this.#given;
    if (this.question.kind === "number" && numberIn(given) === null) {
      setText(this.said, "A whole number is asked for.");
      this.input.focus();
      return;
    }
    if (given === "") {
      setText(this.said, "Choose one of them first.");
      return;
    }
    this.#show(given);
    this.answered(given);
    this.said.tabIndex = -1;
    this.said.focus({preventScroll: true}); // the button that had the focus is gone
  }

  #show(given) {
    const {kind, answer, unit, explain} = this.question;
    const right = kind === "number" ? numberIn(given) === answer : given === answer;
    setAttr(this.node, "data-answered", right ? "right" : "wrong");
    if (kind === "number") {
      this.input.value = given;
      this.input.readOnly = true;
    } else {
      for (const input of this.node.querySelectorAll("input")) {
        input.checked = input.value === given;
        input.disabled = !input.checked;
        setAttr(input.parentNode, "data-right", input.value === answer ? "" : null);
      }
    }
    this.button.hidden = true;
    const told = kind === "number" ? `Not quite: it is ${answer}${unit ? ` ${unit}` : ""}.` : "Not quite.";
    this.said.replaceChildren(h("b", {text: right ? "Right." : told}), ` ${kind === "choice" && !right ? `${answer} ` : ""}${explain}`);
  }
}
