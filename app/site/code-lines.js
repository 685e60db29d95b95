// Which of the learner's own lines a result speaks of.

import {OUTCOMES, outcomeOf} from "./code-words.js";

const MOST = 20;

/** The line, from 1, on which `name` is defined; null where it is not. */
export function lineOf(code, name) {
  const pattern = new RegExp(`^[ \\t]*(?:async[ \\t]+)?(?:def|class)[ \\t]+${name}\\b`);
  const index = code.split(/\r\n|\r|\n/).findIndex((line) => pattern.test(line));
  return index < 0 ? null : index + 1;
}

/**
 * @param {object} result of lab.grading  @param {string} code that was checked  @param {string} name of the function
 * @returns {{line: number, text: string, kind: "error"|"warning"}[]} at most MOST; one for each line
 */
export function marksOf(result, code, name) {
  const marks = new Map();
  const add = (line, text, kind) => {
    if (!Number.isInteger(line) || line < 1) return;
    const mark = marks.get(line);
    if (mark) mark.checks++;
    else if (marks.size < MOST) marks.set(line, {line, text, kind, checks: 1});
  };
  if (result.problem) {
    add(result.problem.line ?? 1, result.problem.message, "error");
    return [...marks.values()];
  }
  const home = lineOf(code, name);
  for (const verdict of result.checks) {
    if (verdict.outcome === "passed" || verdict.outcome === "grader_error") continue;
    // A wrong value has no line of its own: it is marked where the function begins.
    if (Number.isInteger(verdict.line)) add(verdict.line, verdict.message, "error");
    else add(home, `${verdict.name}: ${OUTCOMES[outcomeOf(verdict.outcome)].word}. ${verdict.message}`.trim(), "warning");
  }
  return [...marks.values()].map((mark) => ({...mark, text: mark.checks > 1 ? `${mark.text} (and ${mark.checks - 1} more)` : mark.text}));
}
