// The questions of the knowledge check, in the order in which they are asked.
//
// A question: {id, text, explain, answer} and, of kind "number", {unit?}: the answer is a whole number; of kind "choice",
// {options}: the answer is one of these texts. The same seed and course give the same questions.

import {courseQuestions} from "./quiz-course.js";
import {freshQuestions} from "./quiz-fresh.js";
import {Dice} from "./quiz-random.js";

export function questionsFor(replay, seed) {
  const fresh = freshQuestions(new Dice(seed));
  const course = courseQuestions(replay, new Dice(seed ^ 0x9e3779b9));
  // Pages first, then one of each in turn, and at last what it all proves.
  const out = fresh.splice(0, 2);
  while (fresh.length || course.length) out.push(...course.splice(0, 1), ...fresh.splice(0, 1));
  return out;
}

/** @param {string} given as typed  @returns {number|null} the whole number in it; null where there is none */
export function numberIn(given) {
  const text = given.trim().replace(/[\s']/g, "").replace(/%$/, "");
  return /^[+-]?\d{1,12}([.,]0*)?$/.test(text) ? Number.parseInt(text, 10) : null;
}
