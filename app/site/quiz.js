// The knowledge check: questions that explain their answers. What was answered is kept, with the seed of its numbers.

import {h, setText} from "./replay-dom.js";
import {Card} from "./quiz-card.js";
import {freshSeed} from "./quiz-random.js";
import {questionsFor} from "./quiz-questions.js";

const NAME = "quiz";

/** @param {object} context place, replay (the course document), store, progress */
export function setUpQuiz({place, replay, store, progress}) {
  const kept = read(store);
  let {seed, answers} = kept;
  const done = new Set(kept.done); // ids that were answered once; fresh numbers take nothing away
  const score = h("p", {class: "quiz-score", role: "status"});
  const list = h("ol", {class: "quiz-list"});
  const again = h("button", {type: "button", class: "ghost", text: "New numbers", on: {click: () => {
    seed = freshSeed();
    answers = {};
    keep();
    draw();
  }}});
  place.replaceChildren(list, h("div", {class: "quiz-foot"}, score, again));
  let questions = [];

  function keep() {
    for (const id of read(store).done) done.add(id); // another tab may have answered others
    store.write(NAME, JSON.stringify({schema_version: 1, seed, answers, done: [...done]}));
  }

  function draw() {
    questions = questionsFor(replay, seed);
    list.replaceChildren(...questions.map((question, index) => new Card(question, index + 1, given(question), (text) => {
      answers[question.id] = text;
      done.add(question.id);
      keep();
      tell();
    }).node));
    tell();
  }

  function given({id, kind, options}) {
    const text = Object.hasOwn(answers, id) ? answers[id] : null;
    return kind === "choice" && !options.includes(text) ? null : text; // the question has changed since
  }

  function tell() {
    const cards = [...list.children];
    const right = cards.filter((card) => card.dataset.answered === "right").length;
    const answered = cards.filter((card) => card.dataset.answered).length;
    setText(score, answered ? `${answered} of ${questions.length} answered, ${right} right.` : `${questions.length} questions. Each answer is explained.`);
    progress.set("check", questions.filter(({id}) => done.has(id)).length, questions.length, "questions answered");
  }

  draw();
}

function read(store) {
  const value = store.json(NAME);
  const fine = typeof value === "object" && value !== null;
  const answers = {};
  if (fine && typeof value.answers === "object" && value.answers !== null) {
    for (const [id, text] of Object.entries(value.answers)) if (typeof text === "string" && text.length < 500) answers[id] = text;
  }
  return {
    seed: fine && Number.isInteger(value.seed) ? value.seed : freshSeed(),
    answers,
    done: fine && Array.isArray(value.done) ? value.done.filter((id) => typeof id === "string") : [],
  };
}
