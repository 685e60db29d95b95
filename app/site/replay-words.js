// The sentences. Each is a list of strings and requests ({id, index}), so that a request is drawn as its chip.

import {count, listed, own} from "./replay-dom.js";
import {pagesFor, prefillOf, rowAt} from "./replay-model.js";
import {headOf, optionGateWords, optionReason, optionSentences, sampleTables, timeWords, victimWords} from "./replay-option-words.js";

const NAMED = 6; // requests named in one sentence before "and 3 more"

/** Requests as a spoken list, cut short when there are many. */
function who(policy, ids) {
  const items = ids.map((id) => policy.byId.get(id) ?? id);
  if (items.length <= NAMED + 1) return listed(items);
  return [...listed(items.slice(0, NAMED)).map((part) => (part === " and " ? ", " : part)), ` and ${items.length - NAMED} more`];
}

/** Why the head of the queue waits, after "d waits: "; "" when nobody waits. */
export function gateWords(policy, row) {
  const {limits} = policy;
  const special = optionGateWords(policy, row);
  if (special) return special;
  const head = headOf(row);
  const need = head === undefined ? 0 : prefillOf(policy, head, row.iteration);
  switch (row.gate) {
    case "seats":
      return limits.max_num_seqs === 1 ? "seats, the only one is taken" : `seats, all ${limits.max_num_seqs} are taken`;
    case "tokens": {
      const budget = limits.max_num_batched_tokens;
      const left = budget - Object.values(row.tokens).reduce((sum, n) => sum + n, 0);
      if (left <= 0) return `tokens, the budget of ${budget} is spent`;
      return `tokens, it must prefill ${need} and ${left} of ${budget} ${left === 1 ? "is" : "are"} left`;
    }
    case "pages": {
      if (row.preempted.length) return "pages, nobody enters in an iteration that preempts";
      const free = limits.num_pages - row.pages_used;
      return `pages, it needs ${pagesFor(need + 1, limits.page_size)} and ${free} ${free === 1 ? "is" : "are"} free`;
    }
    case "batch":
      return "batch, membership is fixed until the longest member ends";
    default:
      return row.gate ? String(row.gate) : "";
  }
}

/** The lesson's header strip for iteration t: [label, text] pairs. */
export function stripWords(policy, t) {
  const row = rowAt(policy, t);
  const names = (ids) => (ids.length ? ids.join(" · ") : "none");
  return [
    ["active", names(row ? row.running : [])],
    ["waiting", names(row ? row.waiting : [])],
    ["KV allocation", count(row ? row.pages_used : 0, "page")],
    ["decode rule", "at most 1 token a request"],
  ];
}

/** @returns {(string|object)[]} what happened in iteration t, in one or a few sentences */
export function iterationWords(policy, t) {
  const row = rowAt(policy, t);
  if (row) return busyWords(policy, row);
  if (t > policy.end || (policy.stopped && t >= policy.stopped.iteration)) return doneWords(policy);
  const span = policy.idles.find((idle) => idle.from <= t && t <= idle.to);
  const next = span && rowAt(policy, span.to + 1)?.arrived[0];
  const parts = ["Idle: nothing runs and nothing waits."];
  if (next !== undefined) parts.push(" ", policy.byId.get(next) ?? next, ` comes next, in iteration ${span.to + 1}.`);
  return parts;
}

function doneWords(policy) {
  if (policy.stopped) return [`The replay of this code stopped in iteration ${policy.stopped.iteration}.`];
  const {completed = 0, iterations} = policy.metrics;
  const rejected = policy.rejected.size;
  if (!completed) {
    return [rejected ? `Nothing to replay: ${rejected === 1 ? "the only request" : `all ${rejected} requests`} had to be rejected.`
      : "Nothing to replay: the trace has no requests."];
  }
  const all = completed === 1 ? "the only request" : `all ${completed} requests`;
  const parts = [`Done: ${all}${rejected ? " that could be served" : ""} finished by iteration ${iterations}.`];
  if (rejected) parts.push(` ${rejected} ${rejected === 1 ? "was" : "were"} rejected.`);
  return parts;
}

function busyWords(policy, row) {
  const sentences = [];
  const say = (...parts) => sentences.push(parts.flat());
  const before = rowAt(policy, row.iteration - 1);
  const states = new Map(row.seats.filter(Boolean).map(({id, state}) => [id, state]));
  const are = (state) => row.running.filter((id) => states.get(id) === state);

  for (const id of row.preempted.slice(0, 2)) {
    const lost = own(before?.pages, id)?.length;
    say(who(policy, [id]), ` was preempted: ${victimWords(row, id, lost)}.`);
  }
  if (row.preempted.length > 2) say(`${row.preempted.length - 2} more were preempted.`);
  if (row.arrived.length) say(who(policy, row.arrived), " arrived.");
  const back = row.swapped_in ?? {};
  const fresh = row.admitted.filter((id) => !Object.hasOwn(back, id));
  if (fresh.length) admitted(policy, {...row, admitted: fresh}, say);
  optionSentences(policy, row, who, say);
  for (const id of are("prefill").filter((one) => !row.admitted.includes(one) && own(row.tokens, one) !== undefined).slice(0, 2)) {
    say(who(policy, [id]), ` prefilled ${count(own(row.tokens, id), "more token")}${row.emitted.includes(id) ? " and emitted a token" : `, ${own(row.kv, id)} of ${prefillOf(policy, id, row.iteration)}`}.`);
  }
  const decoding = are("decode").filter((id) => !Object.hasOwn(back, id));
  if (decoding.length) say(who(policy, decoding), ` decoded one token${decoding.length > 1 ? " each" : ""}.`);
  const stalled = are("stalled");
  if (stalled.length) say(who(policy, stalled), ` ${stalled.length > 1 ? "are" : "is"} stalled: no token in this iteration.`);
  if (row.completed.length) completed(policy, row, say);
  else if (row.released.length) say(`No unfinished member is left, so the batch drains: ${drained(row)}.`);
  const held = [...states].filter(([id, state]) => state === "held" && !row.completed.includes(id)).map(([id]) => id);
  const kept = held.filter((id) => !row.released.includes(id));
  if (kept.length) {
    const seats = seatNames(row, kept);
    say(who(policy, kept), ` finished earlier and still ${kept.length > 1 ? "hold" : "holds"} ${seats}.`);
  }
  return sentences.flatMap((sentence, index) => (index ? [" ", ...sentence] : sentence));
}

/** Why the head of the queue waits in iteration t, as a last sentence; empty when nobody waits. */
export function waitWords(policy, t) {
  const row = rowAt(policy, t);
  if (!row?.waiting.length) return [];
  const head = headOf(row);
  const before = rowAt(policy, t - 1);
  const still = before?.waiting.length > 0 && headOf(before) === head;
  return [" ", policy.byId.get(head) ?? head, ` ${still ? "still waits" : "waits"}: ${gateWords(policy, row)}.`];
}

function seatNames(row, ids) {
  const numbers = ids.map((id) => row.seats.findIndex((seat) => seat?.id === id) + 1).filter((n) => n > 0);
  if (numbers.length > NAMED) return `${numbers.length} seats`;
  return `${numbers.length > 1 ? "seats" : "seat"} ${listed(numbers.map(String)).join("")}`;
}

function admitted(policy, row, say) {
  const ids = row.admitted;
  const tokens = ids.map((id) => String(own(row.tokens, id) ?? 0));
  const done = ids.filter((id) => row.emitted.includes(id));
  const took = [` took ${seatNames(row, ids)}`];
  if (ids.length > NAMED) took.push(", prefilling their prompts");
  else if (ids.length === 1) {
    const whole = prefillOf(policy, ids[0], row.iteration);
    took.push(done.length ? `, prefilled ${tokens[0]} tokens and emitted a token` : `, prefilled ${tokens[0]} of ${whole} tokens`);
  } else {
    took.push(`, prefilled ${listed(tokens).join("")} tokens`);
    if (done.length === ids.length) took.push(" and emitted one token each");
    else if (done.length) took.push("; ", ...who(policy, done), " emitted a token");
  }
  say(who(policy, ids), took, ".");
}

function pagesOf(row, ids) {
  return ids.reduce((sum, id) => sum + (own(row.pages, id)?.length ?? 0), 0);
}

function drained(row) {
  const n = row.released.length;
  const seats = n === 1 ? "its seat" : n === 2 ? "both seats" : `all ${n} seats`;
  return `${seats} and ${count(pagesOf(row, row.released), "page")} are released`;
}

function completed(policy, row, say) {
  const ids = row.completed;
  const released = new Set(row.released);
  const pages = (list) => pagesOf(row, list);
  const drains = row.released.some((id) => !ids.includes(id)) || (row.released.length > 1 && row.released.length > ids.length);
  if (drains) {
    say(who(policy, ids), ` finished, the last of the batch: ${drained(row)}.`);
    return;
  }
  const left = ids.filter((id) => released.has(id));
  const kept = ids.filter((id) => !released.has(id));
  if (left.length) {
    const n = pages(left);
    say(who(policy, left), ` finished: ${left.length > 1 ? "their" : "its"} ${count(n, "page")} ${n === 1 ? "is" : "are"} released, `,
      `${seatNames(row, left)} ${left.length > 1 ? "are" : "is"} free for the next iteration.`);
  }
  if (kept.length) {
    say(who(policy, kept), ` finished, but ${kept.length > 1 ? "keep" : "keeps"} ${seatNames(row, kept)} and ${count(pages(kept), "page")} until the batch drains.`);
  }
}

/** The block table of a request in iteration t, for the panel of one policy. */
export function blockWords(policy, request, t) {
  const {id} = request;
  const row = rowAt(policy, t);
  const reason = policy.rejected.get(id);
  if (reason !== undefined) return ["was rejected: ", reasonWords(policy, request, reason)].join("");
  const tables = sampleTables(policy, request, row);
  if (tables.length === 1 && tables[0] === id) return tableWords(policy, row, id);
  if (tables.length) return tables.map((one) => `${one}: ${tableWords(policy, row, one)}`).join("; ");
  const host = policy.history.onHost(id, t);
  if (host) return `waits to come back; ${count(host, "page")} of it in the host's memory`;
  const place = row ? row.waiting.indexOf(id) : -1;
  if (place >= 0) return place ? `waits, number ${place + 1} in the queue; it has no pages` : "waits at the head of the queue; it has no pages";
  const figures = own(policy.figures, id);
  if (figures && t >= figures.finish) return "has finished; its pages are released";
  if (policy.history.goneAt(id) <= t) return "has ended: its client left";
  return t < (policy.history.arrivedAt(id) ?? request.arrival + 1) ? "has not arrived yet" : "has no pages";
}

function tableWords(policy, row, id) {
  const pages = own(row.pages, id);
  const size = policy.limits.page_size;
  const kv = own(row.kv, id) ?? 0;
  const on = `${count(kv, "token")} on ${count(pages.length, "page")} [${pages.join(", ")}]`;
  const filled = Math.ceil(kv / size);
  if (filled < pages.length && Object.keys(policy.options).length) return `${on}; ${pages.length - filled} of them ${pages.length - filled === 1 ? "is" : "are"} still empty`;
  const tail = Math.max(0, kv - (pages.length - 1) * size);
  return `${on}; last page ${tail} of ${size} slots used`;
}

/** Arrival, wait, start and finish. What lies beyond iteration `seen` is not told. */
export function lifeWords(policy, request, seen = Infinity) {
  const figures = own(policy.figures, request.id);
  const parts = [`arrival ${[request.arrival, request.timeUnit].filter((part) => part !== "").join(" ")}`];
  if (figures) {
    if (figures.start <= seen) parts.push(`wait ${figures.wait}`, `start ${figures.start}`);
    if (figures.finish <= seen) parts.push(`finish ${figures.finish}`);
    if (figures.preemptions && figures.finish <= seen) parts.push(count(figures.preemptions, "preemption"));
    if (figures.finish <= seen) parts.push(...timeWords(figures));
  }
  parts.push(`prompt ${request.prompt_tokens} + output ${request.output_tokens} tokens`);
  return parts.join(" · ");
}

/** Why a request could never be served. */
export function reasonWords(policy, request, reason) {
  const {limits} = policy;
  const special = optionReason(policy, request, reason);
  if (special) return special;
  if (reason === "pages") {
    const need = pagesFor(request.prompt_tokens + request.output_tokens, limits.page_size);
    return `it needs ${count(need, "page")}, the pool has ${limits.num_pages}`;
  }
  if (reason === "tokens") {
    const need = request.prompt_tokens + request.output_tokens - 1;
    return `it may have to prefill ${need} tokens at once, the budget is ${limits.max_num_batched_tokens}`;
  }
  return String(reason);
}
