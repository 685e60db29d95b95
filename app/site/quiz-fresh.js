// Questions with fresh values, answered by the rules of the lesson.

import {count} from "./replay-dom.js";
import {pagesFor} from "./replay-model.js";

/**
 * @param {import("./quiz-random.js").Dice} dice
 * @returns {object[]} questions, as quiz-questions.js describes them
 */
export function freshQuestions(dice) {
  return [pages, waste, admission, growth, gate, advance].map((make) => make(dice));
}

function pages(dice) {
  const size = dice.pick([8, 16, 32, 64]);
  const full = dice.whole(2, 9);
  const rest = dice.whole(1, size - 1);
  const tokens = full * size + rest;
  return {
    id: "pages", kind: "number", text: `A request stores ${tokens} tokens on pages of ${size}. How many pages does it hold?`,
    answer: pagesFor(tokens, size),
    explain: `${full} full pages store ${full * size} tokens, and the other ${count(rest, "token")} begin one more: ceil(${tokens} ÷ ${size}) = ${pagesFor(tokens, size)}.`,
  };
}

function waste(dice) {
  const size = dice.pick([8, 16, 32]);
  const tokens = dice.whole(2, 6) * size + dice.whole(0, size - 1);
  const held = pagesFor(tokens, size);
  return {
    id: "waste", kind: "number", text: `${tokens} tokens are stored on as few pages of ${size} as will do. How many slots of these pages are unused?`,
    answer: held * size - tokens,
    explain: `${count(held, "page")} could store ${held * size} tokens, so ${held * size - tokens} slots are unused. It is always less than one page: only the last one can be partly empty.`,
  };
}

/** Pages at admission against one unbroken block for the longest that it may become. */
function admission(dice) {
  const size = 16;
  const prompt = dice.whole(20, 90);
  const most = dice.whole(8, 16) * 16;
  const taken = pagesFor(prompt + 1, size);
  const whole = pagesFor(prompt + most, size);
  return {
    id: "admission", kind: "number",
    text: `A prompt of ${prompt} tokens is admitted; its answer may become ${most} tokens long. Pages have ${size} tokens. How many pages does it take at admission?`,
    answer: taken,
    explain: `ceil((${prompt} + 1) ÷ ${size}) = ${taken}: the prompt and the first token. One unbroken block for everything that it may become would have taken ${whole} at once; pages are handed out as tokens come.`,
  };
}

/** Whether a decode begins a new page. */
function growth(dice) {
  const size = 16;
  const held = dice.whole(2, 6);
  const full = dice.next() < 0.5;
  const tokens = full ? held * size : held * size - dice.whole(1, size - 1);
  const after = pagesFor(tokens + 1, size);
  return {
    id: "growth", kind: "number", text: `A running request stores ${tokens} tokens on ${held} pages of ${size} and decodes one more. How many pages does it hold then?`,
    answer: after,
    explain: after > held ? `All ${held * size} slots were full, so token ${tokens + 1} begins page ${after}.`
      : `The last page still had ${count(held * size - tokens, "free slot")}: the token goes there, and it stays at ${held}.`,
  };
}

/** Which gate holds the head of the queue back. Gates are asked in the order seats, then pages. */
function gate(dice) {
  const seats = dice.whole(3, 6);
  const noSeat = dice.next() < 0.4;
  const running = noSeat ? seats : dice.whole(1, seats - 1);
  const prompt = dice.whole(40, 120);
  const need = pagesFor(prompt + 1, 16);
  const enough = noSeat || dice.next() < 0.5;
  const free = enough ? need + dice.whole(0, 3) : need - dice.whole(1, Math.min(3, need));
  const options = ["It is admitted.", "It waits for a seat.", "It waits for pages."];
  const answer = noSeat ? options[1] : enough ? options[0] : options[2];
  return {
    id: "gate", kind: "choice",
    text: `Continuous batching, ${seats} seats, ${running} of them taken, ${count(free, "page")} of 16 free. The head of the queue has a prompt of ${prompt} tokens. What happens to it?`,
    options, answer,
    explain: `It needs a seat (${running} of ${seats} are taken) and ceil((${prompt} + 1) ÷ 16) = ${count(need, "page")} (${free} free). ${answer} ${
      answer === options[0] ? "" : "Nobody behind it is let past: the first that does not fit ends admission."}`.trim(),
  };
}

function advance(dice) {
  const running = dice.whole(2, 5);
  const iterations = dice.whole(6, 20);
  const right = `${iterations}: at most one in each iteration.`;
  return {
    id: "advance", kind: "choice", text: `${running} requests are decoding, and nobody joins or leaves for ${iterations} iterations. How many tokens does each of them move ahead?`,
    options: dice.shuffled([right, `${iterations * running}: one for each running request in each iteration.`, `${Math.ceil(iterations / running)}: they take turns.`,
      "As many as fit on its pages."]),
    answer: right,
    explain: `A decode iteration moves every active sequence ahead by one token, all ${running} of them together: ${iterations} each, ${iterations * running} in all.`,
  };
}
