// Reads a replay document once, into what the drawing needs at every iteration: rows by number, bars, waits, events.

import {milestonesOf} from "./replay-milestones.js";
import {cachedPages} from "./replay-cached.js";
import {addSequences, historyOf} from "./replay-options.js";
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
 * @param {{replay: object, colors: object, clients: object, samples: object}} payload
 * @returns the model: requests (by index), byId (of requests and of their further samples, "a#2"), limits, options (those
 *   that are not as they are by default), policies, last (iteration), events (sorted)
 */
export function readPayload({replay, colors = {}, clients = {}, samples = {}, time_unit: timeUnit = "", client_colors: clientColors = {}}) {
  const options = replay.options ?? {};
  const requests = replay.trace.requests.map((request, index) => ({
    ...request, index, color: safeColor(own(colors, request.id), index), client: own(clients, request.id) ?? "", samples: own(samples, request.id) ?? 1, timeUnit,
  }));
  shorten(requests);
  const byId = new Map(requests.map((request) => [request.id, request]));
  addSequences(byId, replay.policies);
  // A learner's own code knows no options; its rows have nothing of them.
  const policies = Object.entries(replay.policies).map(([name, part]) => readPolicy(name, part, byId, part.limits ?? replay.limits, name === LEARNER ? {} : options));
  const last = Math.max(1, ...policies.map((policy) => policy.end));
  const events = new Set();
  for (const policy of policies) for (const t of policy.events) events.add(t);
  return {
    requests, byId, limits: replay.limits, options, clientColors, timeUnit, trace: replay.trace, policies, last,
    events: [...events].sort((a, b) => a - b),
    // What the learner guesses about: another trace or other limits are another question.
    question: JSON.stringify([replay.trace.sha256 ?? replay.trace.name, replay.limits, ...(replay.options ? [replay.options] : [])]),
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

function readPolicy(name, part, byId, limits, options) {
  const [title, subtitle] = Object.hasOwn(TITLES, name) ? TITLES[name] : [capital(name), ""];
  const policy = {
    name, title, subtitle, limits, options, metrics: part.metrics, figures: part.requests ?? {}, rows: [], end: 0,
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
  policy.history = historyOf(policy);
  if (options.prefix_caching) policy.cached = cachedPages(policy);
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
      const gone = request ? policy.history.goneBefore(request.request ?? request.id, t) : false;
      if (bar && request && bar.id === now.id && bar.state === now.state && bar.gone === gone && bar.to === t - 1) bar.to = t;
      else open[seat] = request ? {r: request.index, id: now.id, seat, from: t, to: t, state: now.state, gone} : null;
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
      const host = policy.history.onHost(id, t) > 0;
      if (wait && wait.host === host && wait.to === t - 1) wait.to = t;
      else {
        const made = {r: request.index, id, from: t, to: t, again: started.has(id), host};
        open.set(id, made);
        policy.waits.push(made);
      }
    }
    for (const id of row.admitted) started.add(id);
    for (const id of row.arrived) {
      // Who starts at once has waited for nothing, but has arrived: a tick without length.
      const request = policy.byId.get(id);
      if (request && !row.waiting.includes(id)) policy.waits.push({r: request.index, id, from: t, to: t - 1, again: false, host: false});
    }
  }
}

function happenings(policy) {
  let gate = null;
  for (let t = 1; t <= policy.end; t++) {
    const row = rowAt(policy, t);
    const now = row ? row.gate : null;
    const any = row && (row.arrived.length || row.admitted.length || row.completed.length || row.preempted.length || row.left?.length || row.refused?.length);
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
