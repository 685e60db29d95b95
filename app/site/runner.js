// Runs a learner's code, away from the page and from the app, and has it judged.
//
//   const runner = new LearnerRunner({config, base: document.baseURI, deadline: 5});
//   await runner.warm();                       // when the learner comes near the code, or once Python is ready
//   const result = await runner.check("allocate_kv_pages", code, {onCheck, signal});
//
// One ask at a time: a second one waits until the first is over. Each ask gets an interpreter in which no learner code
// has run yet. `signal` (AbortSignal) stops an ask at any moment: it then rejects with an AbortError, and what came
// before stands. An ask also rejects, with one sentence to show, if the interpreter cannot be started at all (no
// connection, no WebAssembly, an unknown exercise). Whatever the learner's code does is a result, never a rejection.
//
// check → RESULT, as made by lab.grading.report, the same object in the page and on the command line:
//   {exercise, code_sha256, checks_sha256, lab_version, outcome, points, max_points, checks: [VERDICT…],
//    problem: null | {outcome, message, cause, line, frames, output}, replay: {}}
//   outcome: passed | failed | did_not_run | stopped | crashed | grader_error
//   problem: why no check could run (a syntax error, no such function, an endless loop outside of functions); the
//     verdicts then all say "The check was not run."
//   VERDICT, as made by lab.grading.judge; onCheck(VERDICT, index, total) gets each as it arrives:
//   {name, visibility, outcome, points, max_points, hint,
//    call, expected, returned,     as Python writes them; "" where there is nothing to show
//    message,                      one sentence on what is wrong; "" if passed
//    cause,                        one sentence on the likely cause, or ""
//    line,                         the learner's line (from 1), or null
//    frames,                       [{line, function, code, times}], the learner's own, outermost first
//    mutated,                      [names of arguments that the call changed]
//    output: {text, bytes}}        the first 64 KiB printed, and how many bytes there were in all
//
// run → {outcome, output, bytes, truncated, error}
//   outcome: ran | failed | did_not_run | stopped | crashed;   error: null unless it is another than "ran"
//   output: text, at most 64 KiB;  bytes: printed in all;  truncated: whether `output` lacks some of it
//   error: {type, message, cause, line, column, text, frames}; type "" where it is no exception; text: the line's code
//   onOutput(text) gets pieces of `output` as they are printed
//
// replay → {policy, departure, stopped, problem, line}
//   policy: as in DOCUMENT.policies[…], of the iterations that were replayed ({metrics, requests, rows, …})
//   departure: null | {iteration, words, difference, reason}   the first iteration in which it differs from the engine
//   stopped: null | {iteration, words, reason, line}           where and why it ended early
//   problem: null, or why the code never got to its first step, as in RESULT

export class LearnerRunner {
  /**
   * @param config the site's config
   * @param base what its folders are relative to
   * @param deadline seconds of wall clock that one check (or run, or step of a replay) may take
   */
  constructor({config, base, deadline = 5}) {
    this.config = config;
    this.base = base;
    this.deadline = deadline;
  }

  async warm() {
    throw new Error("Running code comes with the next change.");
  }

  async check(exercise, code, {onCheck, signal} = {}) {
    return this.warm(exercise, code, onCheck, signal);
  }

  async run(code, {onOutput, signal} = {}) {
    return this.warm(code, onOutput, signal);
  }

  async replay(code, trace, limits, {signal} = {}) {
    return this.warm(code, trace, limits, signal);
  }

  dispose() {}
}
