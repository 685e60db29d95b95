// Reads a replay document once, into what the drawing needs at every iteration: rows by number, bars, waits, events.

import {milestonesOf} from "./replay-milestones.js";
import {capital, own} from "./replay-dom.js";

const TITLES = {
  static: ["Static", "membership fixed"], continuous: ["Continuous", "membership per iteration"], yours: ["Your code", "your scheduler_step"],
};
/** The policy that a learner has written; it is no part of what is guessed about. */
const LEARNER = "yours";
const FALLBACK = ["#066fbd", "#b05a02", "#0c7b59", "#c13179", "#794ed8", "#847400", "#ce2a29", "#047e94", "#646d7b"];

/**
 * @typedef {object} Bar  one unbroken stay of a request in a seat in one state
 * @property {number} r index of the request  @property {number} seat from 0
 * @property {number} from first iteration  @property {number} to last iteration  @property {string} state
 */

/**
 * @param {{replay: object, colors: object}} payload
 * @returns the model: requests (by index), limits, policies, last (iteration), events (sorted)
 */
export function readPayload({replay, colors = {}}) {
  const requests = replay.trace.requests.map((request, index) => ({
    ...request, index, color: safeColor(own(colors, request.id), index),
  }));
  shorten(requests);
  const byId = new Map(requests.map((request) => [request.id, request]));
  const policies = Object.entries(replay.policies).map(([name, part]) => readPolicy(name, part, byId, part.limits ?? replay.limits));
  const last = Math.max(1, ...policies.map((policy) => policy.end));
  const events = new Set();
  for (const policy of policies) for (const t of policy.events) events.add(t);
  return {
    requests, byId, limits: replay.limits, trace: replay.trace, policies, last,
    events: [...events].sort((a, b) => a - b),
    // What the learner guesses about: another trace or other limits are another question.
    question: JSON.stringify([replay.trace.sha256 ?? replay.trace.name, replay.limits]),
  };
}

/** `short`: the id without what all ids begin with, where a number is left ("req-12" → "12"); else the id. */
function shorten(requests) {
  const [first] = requests;
  const prefix = first?.id.replace(/\d+$/, "") ?? "";
  const same = requests.every(({id}) => id.startsWith(prefix) && /^\d+$/.test(id.slice(prefix.length)));
  for (const request of requests) request.short = same ? request.id.slice(prefix.length) : request.id;
}

function safeColor(color, index) {
  return /^#[0-9a-f]{6}$/i.test(color ?? "") ? color : FALLBACK[index % FALLBACK.length];
}

function readPolicy(name, part, byId, limits) {
  const [title, subtitle] = Object.hasOwn(TITLES, name) ? TITLES[name] : [capital(name), ""];
  const policy = {
    name, title, subtitle, limits, metrics: part.metrics, figures: part.requests ?? {}, rows: [], end: 0,
    bars: [], waits: [], preemptions: [], idles: [], events: [], emittedAt: new Map(), byId,
    rejected: new Map((part.metrics.rejected ?? []).map(({id, reason}) => [id, reason])),
    // Of a learner's code: where it first differs from the engine, and where it could not go on; {iteration, words}.
    learner: name === LEARNER, departure: part.departure ?? null, stopped: part.stopped ?? null,
  };
  for (const row of part.rows) {
    if (row.idle) {
      policy.idles.push({from: row.idle[0], to: row.idle[1]});
      for (let t = row.idle[0]; t <= row.idle[1]; t++) policy.rows[t] = row;
      policy.end = Math.max(policy.end, row.idle[1]);
    } else {
      policy.rows[row.iteration] = row;
      policy.end = Math.max(policy.end, row.iteration);
    }
  }
  if (policy.stopped) policy.end = Math.max(policy.end, policy.stopped.iteration);
  stays(policy);
  waits(policy);
  happenings(policy);
  policy.milestones = milestonesOf(policy);
  return policy;
}

/** The row of iteration t; null in idle spans, before the start and after the end. */
export function rowAt(policy, t) {
  const row = policy.rows[t];
  return row && !row.idle ? row : null;
}

function stays(policy) {
  const open = [];
  for (let t = 1; t <= policy.end + 1; t++) {
    const seats = rowAt(policy, t)?.seats ?? [];
    for (let seat = 0; seat < Math.max(open.length, seats.length); seat++) {
      const now = seats[seat] ?? null;
      const bar = open[seat];
      const request = now && policy.byId.get(now.id);
      if (bar && request && bar.r === request.index && bar.state === now.state && bar.to === t - 1) bar.to = t;
      else open[seat] = request ? {r: request.index, seat, from: t, to: t, state: now.state} : null;
      if (open[seat] && open[seat] !== bar) policy.bars.push(open[seat]);
    }
  }
}

function waits(policy) {
  const open = new Map();
  const started = new Set();
  for (let t = 1; t <= policy.end; t++) {
    const row = rowAt(policy, t);
    if (!row) continue;
    for (const id of row.waiting) {
      const request = policy.byId.get(id);
      if (!request) continue;
      const wait = open.get(id);
      if (wait && wait.to === t - 1) wait.to = t;
      else {
        const made = {r: request.index, from: t, to: t, again: started.has(id)};
        open.set(id, made);
        policy.waits.push(made);
      }
    }
    for (const id of row.admitted) started.add(id);
    for (const id of row.arrived) {
      // Who starts at once has waited for nothing, but has arrived: a tick without length.
      const request = policy.byId.get(id);
      if (request && !row.waiting.includes(id)) policy.waits.push({r: request.index, from: t, to: t - 1, again: false});
    }
  }
}

function happenings(policy) {
  let gate = null;
  for (let t = 1; t <= policy.end; t++) {
    const row = rowAt(policy, t);
    const now = row ? row.gate : null;
    const any = row && (row.arrived.length || row.admitted.length || row.completed.length || row.preempted.length);
    if (any || now !== gate) policy.events.push(t);
    gate = now;
    if (!row) continue;
    for (const id of row.emitted) {
      if (!policy.emittedAt.has(id)) policy.emittedAt.set(id, []);
      policy.emittedAt.get(id).push(t);
    }
    for (const id of row.preempted) {
      const seat = (rowAt(policy, t - 1)?.seats ?? []).findIndex((place) => place?.id === id);
      const request = policy.byId.get(id);
      if (request && seat >= 0) policy.preemptions.push({r: request.index, at: t, seat});
    }
  }
}

/** Tokens that `id` had generated by the end of iteration t. */
export function generatedBy(policy, id, t) {
  const at = policy.emittedAt.get(id) ?? [];
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What `id` must prefill to run (again): its prompt and what it has generated before iteration t. */
export function prefillOf(policy, id, t) {
  const request = policy.byId.get(id);
  return request ? request.prompt_tokens + generatedBy(policy, id, t - 1) : 0;
}

/** ceil(tokens / size), as the engine counts pages. */
export function pagesFor(tokens, size) {
  return Math.ceil(tokens / size);
}
