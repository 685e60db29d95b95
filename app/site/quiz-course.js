// Questions about the replay that the page opens with. Every figure comes from the engine's records; none is typed in.

import {count} from "./replay-dom.js";
import {handOver} from "./work-progress.js";

const MOST_VALUES = 20; // past it nobody reads a list of waits

const percent = (share) => Math.round(share * 100);
const busyRows = (policy) => policy.rows.filter((row) => !row.idle);

/**
 * @param {object} replay its document  @param {import("./quiz-random.js").Dice} dice
 * @returns {object[]} questions, as quiz-questions.js describes them; fewer where it has no such moment
 */
export function courseQuestions(replay, dice) {
  return [seat, drain, utilization, percentile, proof].map((make) => make(replay, dice)).filter(Boolean);
}

/** Who takes over a seat, and when. */
function seat(replay) {
  const {policies: {continuous}} = replay;
  const [ends, enters] = handOver({policies: {continuous}});
  if (enters !== ends + 1) return null; // nobody was there to take over
  const rows = busyRows(continuous);
  const gone = rows.find((row) => row.iteration === ends).completed[0];
  const next = rows.find((row) => row.iteration === enters).admitted[0];
  if (continuous.requests[next].start !== enters) return null; // it only comes back after a preemption
  return {
    id: "seat", kind: "number", text: `The replay of ${replay.trace.requests.length} requests, continuous batching: ${gone} finishes in iteration ${ends}. In which iteration does ${next} first run?`,
    answer: enters,
    explain: `In iteration ${enters}. ${gone} keeps its seat and pages while iteration ${ends} runs; they are free for the next one, and ${next} is at the head of the queue.`,
  };
}

/** The same moment under static batching. */
function drain({policies, trace}, dice) {
  const rows = busyRows(policies.static);
  const ends = rows.find((row) => row.completed.length)?.iteration;
  const drained = rows.find((row) => row.released.length);
  const entered = drained && rows.find((row) => row.iteration > drained.iteration && row.admitted.length);
  if (!ends || entered?.iteration !== drained?.iteration + 1 || drained.iteration === ends) return null;
  const {admitted: [next], iteration} = entered;
  // The seat has to idle while somebody waits for the first time.
  if (trace.requests.find(({id}) => id === next).arrival > ends || policies.static.requests[next].start !== iteration) return null;
  const right = `In ${iteration}: the batch drains in ${drained.iteration}, when its longest member has ended.`;
  return {
    id: "drain", kind: "choice", text: `The same trace under static batching: a seat idles from iteration ${ends + 1} on. When does ${next}, at the head of the queue, first run?`,
    options: dice.shuffled([right, `In ${ends + 1}: the seat is free.`, `In ${ends}: it takes the seat as soon as the last token is out.`,
      `In ${drained.iteration}: together with the longest member.`]),
    answer: right,
    explain: `Membership is fixed: nobody joins while an unfinished member is left. The last one ends in iteration ${drained.iteration}, everything is released, and the next batch starts in ${iteration}.`,
  };
}

function utilization({policies: {continuous: {metrics}}, limits}) {
  const {decoded_tokens, busy_iterations, iterations} = metrics;
  if (!busy_iterations) return null;
  const over = limits.max_num_seqs * busy_iterations;
  return {
    id: "utilization", kind: "number", unit: "%",
    text: `Continuous batching decodes ${decoded_tokens} tokens on ${limits.max_num_seqs} seats in ${busy_iterations} busy iterations. What is its utilization, in whole percent?`,
    answer: percent(decoded_tokens / over),
    explain: `${decoded_tokens} ÷ (${limits.max_num_seqs} × ${busy_iterations}) = ${decoded_tokens} ÷ ${over}, which is ${percent(decoded_tokens / over)} %.${
      iterations > busy_iterations ? ` The ${iterations - busy_iterations} idle iterations do not count against it: over all ${iterations} it would be ${percent(decoded_tokens / (limits.max_num_seqs * iterations))} %.` : ""}`,
  };
}

/** A percentile of few values, by this lab's rule. */
function percentile({policies: {static: {requests}}}) {
  const waits = Object.values(requests).map(({wait}) => wait).sort((a, b) => a - b);
  const n = waits.length;
  if (n < 2 || n > MOST_VALUES) return null;
  const place = Math.floor(0.95 * (n - 1));
  return {
    id: "percentile", kind: "number",
    text: `Under static batching the ${n} requests wait ${waits.join(", ")} iterations. What is the P95 wait by this lab's rule, the lower order statistic sorted[floor(0.95 · (n − 1))]?`,
    answer: waits[place],
    explain: `floor(0.95 × ${n - 1}) = ${place}, so it is value number ${place + 1} of ${n} in order: ${waits[place]}. With so few values the largest, ${waits[n - 1]}, is worth a look of its own.`,
  };
}

function proof({policies: {static: fixed, continuous}}, dice) {
  const [a, b] = [continuous.metrics.iterations, fixed.metrics.iterations];
  if (a >= b) return null;
  const right = "That this workload, under these limits, ends sooner.";
  return {
    id: "proof", kind: "choice", text: `${a} iterations against ${b}. What does this result show?`,
    options: dice.shuffled([right, `That continuous batching is ${(b / a).toFixed(2)} times as fast on any server.`,
      "That continuous batching is the fairer one.", "That each iteration takes less time under continuous batching."]),
    answer: right,
    explain: `Fixed numbers explain this workload and no other: ${count(b - a, "iteration")} fewer here. What an iteration costs, admission, fairness and prefills that get in the way are not modelled.`,
  };
}
