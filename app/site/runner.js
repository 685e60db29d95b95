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

import { JudgeLink } from "./runner-judge.js";
import { Pool } from "./runner-pool.js";
import { roomForSpare } from "./runner-room.js";
import { Solution } from "./runner-solution.js";

/** The longest that a whole replay may take, in deadlines. */
const REPLAY = 12;
const KEPT_OUTPUT = 64 * 1024;

export class LearnerRunner {
  #judge;
  #pool;
  #turn = Promise.resolve();
  #solution = null;

  /**
   * @param config the site's config
   * @param base what its folders are relative to
   * @param deadline seconds of wall clock that one check (or run, or step of a replay) may take
   * @param spare whether an interpreter is kept ready while another is in use
   */
  constructor({ config, base, deadline = 5, spare = roomForSpare() }) {
    this.deadline = deadline;
    this.#judge = new JudgeLink(config, base);
    this.#pool = new Pool(() => this.#judge.start().supply, spare);
  }

  /** Resolves when an ask would start at once; rejects with one sentence. */
  async warm() {
    await Promise.all([this.#pool.warm(), this.#judge.start().ready]);
  }

  check(exercise, code, { onCheck, signal } = {}) {
    return this.#ask(signal, async (stopped) => {
      const { name, kind, total } = await stopped(this.#judge.call("begin", exercise, code));
      const solution = this.#open(code, name, kind);
      const prepared = await stopped(solution.ask("prepare"));
      const { problem } = await stopped(this.#judge.call("prepared", JSON.stringify(prepared)));
      for (let index = 0; index < total; index++) {
        const judged = problem ? this.#judge.call("unrun", index) : this.#verdict(solution, index, stopped);
        const { verdict } = await stopped(judged);
        onCheck?.(verdict, index, total);
      }
      return stopped(this.#judge.call("result"));
    });
  }

  async #verdict(solution, index, stopped) {
    const request = await stopped(this.#judge.call("request", index));
    const reply = await stopped(solution.ask("run", [JSON.stringify(request)]));
    const judged = await stopped(this.#judge.call("verdict", index, JSON.stringify(reply)));
    if (judged.worn) solution.renew();
    return judged;
  }

  run(code, { onOutput, signal } = {}) {
    return this.#ask(signal, async (stopped) => {
      let told = "";
      const onPart = (text) => {
        const piece = text.slice(0, Math.max(0, KEPT_OUTPUT - told.length));
        told += piece;
        if (piece) onOutput?.(piece);
      };
      await stopped(this.#judge.call("program", code));
      const solution = this.#open(code, "", "function");
      const reply = await stopped(solution.ask("execute", [], { onPart }));
      return stopped(this.#judge.call("ran", JSON.stringify(reply), told));
    });
  }

  replay(exercise, code, trace, limits, { signal } = {}) {
    return this.#ask(signal, async (stopped) => {
      const texts = [trace, limits].map((value) => JSON.stringify(value));
      const { name, kind, request } = await stopped(this.#judge.call("plan", exercise, code, ...texts));
      const solution = this.#open(code, name, kind);
      const steps = [];
      const most = REPLAY * this.deadline;
      const reply = await stopped(solution.ask("replay", [request], { onPart: (text) => steps.push(text), most }));
      return stopped(this.#judge.call("replayed", JSON.stringify(steps), JSON.stringify(reply)));
    });
  }

  #open(...solution) {
    this.#solution = new Solution(this.#pool, this.deadline, solution);
    return this.#solution;
  }

  /** Runs `action` when its turn has come. `stopped(promise)` is that promise, unless `signal` comes first. */
  #ask(signal, action) {
    const stop = new Promise((_, reject) => {
      const refuse = () => reject(new DOMException("Stopped.", "AbortError"));
      if (signal?.aborted) refuse();
      else signal?.addEventListener("abort", refuse, { once: true });
    });
    stop.catch(() => {});
    const stopped = (promise) => Promise.race([promise, stop]);
    const turn = this.#turn.then(async () => {
      try {
        await stopped(this.warm());
        return await action(stopped);
      } finally {
        this.#solution?.close();
        this.#solution = null;
      }
    });
    this.#turn = turn.catch(() => {});
    return stopped(turn);
  }

  /** Ends everything. An ask under way rejects. */
  dispose() {
    this.#solution?.close();
    this.#pool.close();
    this.#judge.close();
  }
}
