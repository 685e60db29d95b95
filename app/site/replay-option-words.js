// The sentences that only an option brings. As in replay-words.js a sentence is a list of strings and requests.

import {count, own} from "./replay-dom.js";
import {pagesFor, prefillOf} from "./replay-model.js";
import {sequencesOf} from "./replay-options.js";

/** Milliseconds of so many nanoseconds, with as many digits as tell them apart. */
export function ms(ns) {
  const value = ns / 1e6;
  return `${value >= 100 || value === 0 ? Math.round(value) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

/** The sequence that is asked next: the head of the queue, but across clients it may stand further back. */
export function headOf(row) {
  return row.head ?? row.waiting[0];
}

/** Pages that `id` needs to enter, without those that it may find in the cache. */
function pagesToEnter(policy, id, row) {
  const {limits, options} = policy;
  const request = policy.byId.get(id);
  const size = limits.page_size;
  const whole = request.prompt_tokens + request.output_tokens;
  if (options.allocation === "slab") return pagesFor(options.slab_tokens ?? whole, size);
  if (options.allocation === "final-length") return pagesFor(whole, size);
  const forks = options.fork_samples && !policy.history.forks.has(id) && request.samples > 1 ? request.samples - 1 : 0;
  return pagesFor(prefillOf(policy, id, row.iteration) + 1, size) + forks;
}

/** Why the head waits for pages, where an option says more than that they are too few; "" where it does not. */
export function pagesWords(policy, row) {
  const {options, limits} = policy;
  const id = headOf(row);
  const free = limits.num_pages - row.pages_used;
  const have = `${free} ${free === 1 ? "is" : "are"} free`;
  if (!policy.byId.get(id)) return "";
  if (options.allocation === "slab") {
    const need = pagesToEnter(policy, id, row);
    return row.fragmented ? `pages, ${have}, but no ${need} of them in one run: the pool is fragmented` : `pages, it needs a run of ${need} and ${have}`;
  }
  if (options.allocation === "final-length") return `pages, its final length needs ${pagesToEnter(policy, id, row)} and ${have}`;
  if (options.prefix_caching) return `pages, ${have}, too few for what of it is not in the cache`;
  if (options.fork_samples) return `pages, it needs ${pagesToEnter(policy, id, row)} and ${have}`;
  return "";
}

/** Other gates that only an option has, or says otherwise. */
export function optionGateWords(policy, row) {
  if (row.gate === "pages" && !row.preempted.length) return pagesWords(policy, row);
  if (row.gate === "swap") return `swap, one iteration copies at most ${count(policy.options.swap_pages_per_step, "page")} back`;
  if (row.gate === "seats" && policy.options.fork_samples) {
    const taken = row.seats.filter(Boolean).length;
    const free = policy.limits.max_num_seqs - taken;
    const need = policy.byId.get(headOf(row))?.samples;
    if (free > 0 && need > 1) return `seats, its ${need} samples need ${need} and ${free} ${free === 1 ? "is" : "are"} free`;
    if (free > 0) return `seats, the free ones are kept for samples`;
  }
  return "";
}

/** What becomes of a victim, after "f was preempted: ". */
export function victimWords(row, id, pages) {
  const out = own(row.swapped_out, id);
  if (out === undefined) return `it gives up ${pages ? `its ${count(pages, "page")}` : "its pages"} and waits again`;
  return `${count(out, "page")} of it ${out === 1 ? "is" : "are"} copied to the host's memory, and it waits to come back`;
}

/** Sentences about what options did in the iteration of `row`, through say(…parts). */
export function optionSentences(policy, row, who, say) {
  for (const [id, pages] of Object.entries(row.swapped_in ?? {})) {
    const decodes = row.seats.find((seat) => seat?.id === id)?.state !== "prefill";
    say(who(policy, [id]), ` took seat ${row.seats.findIndex((seat) => seat?.id === id) + 1} again, with ${count(pages, "page")} copied back from the host's memory, and ${
      decodes ? "decoded one token" : `prefilled ${count(own(row.tokens, id) ?? 0, "more token")}`}.`);
  }
  for (const [id, tokens] of Object.entries(row.cached ?? {})) {
    if (tokens) say(who(policy, [id]), ` found ${count(tokens, "token")} of its prompt in the cache.`);
  }
  for (const [id, children] of Object.entries(row.forked ?? {})) {
    const others = children.filter((child) => child !== id);
    say(who(policy, [id]), ` forked into ${others.length + 1} samples: `, ...who(policy, others), ` ${others.length > 1 ? "share" : "shares"} the pages of its prompt.`);
  }
  if (row.copied_pages) say(`${count(row.copied_pages, "page")} ${row.copied_pages === 1 ? "was" : "were"} copied before somebody wrote to ${row.copied_pages === 1 ? "it" : "them"} (copy-on-write).`);
  if (row.refused?.length) say(who(policy, row.refused), ` ${row.refused.length > 1 ? "were" : "was"} refused: over the limit of ${row.refused.length > 1 ? "their clients" : "its client"}.`);
  const cancelled = new Set(row.cancelled ?? []);
  const left = (row.left ?? []).filter((id) => !cancelled.has(id));
  if (cancelled.size) say(`The ${cancelled.size > 1 ? "clients" : "client"} of `, ...who(policy, [...cancelled]), ` left: ${cancelled.size > 1 ? "they end and their seats and pages are" : "it ends and its seat and pages are"} free.`);
  if (left.length) say(`The ${left.length > 1 ? "clients" : "client"} of `, ...who(policy, left), ` left, but ${left.length > 1 ? "they run" : "it runs"} on for nobody.`);
  if (row.fragmented) say("Enough pages are free, but not side by side: the pool is fragmented.");
}

/**
 * Terms of a second header strip for iteration t: [label, text] pairs. Which terms there are depends on the options
 * alone, so that nothing moves while the replay plays.
 * @param {object} options of the replay  @param {object|null} row null: idle, or over
 */
export function optionStrip(options, policy, row, t) {
  const on = (...names) => names.some((name) => options[name] !== undefined);
  const terms = [];
  if (on("step_time")) terms.push(["step", () => (row ? `at ${ms(row.start_ns)}, for ${ms(row.duration_ns)}${row.gpu_ns === row.duration_ns ? "" : ` (GPU ${ms(row.gpu_ns)})`}` : "none")]);
  if (on("prefix_caching", "fork_samples")) terms.push(["shared pages", () => String(row?.shared_pages ?? 0)]);
  if (on("preemption", "victim", "figures")) terms.push(["KV lost now", () => count(row?.lost_tokens ?? 0, "token")]);
  if (options.preemption === "swap") terms.push(["host memory", () => hostWords(options, policy, row, t)]);
  if (options.admission === "vtc") terms.push(["counters", () => Object.entries(row?.counters ?? {}).map(([client, value]) => `${client || "no name"} ${value}`).join(" · ") || "–"]);
  return terms.map(([term, words]) => [term, policy.learner ? "–" : words()]);
}

function hostWords(options, policy, row, t) {
  const hosted = policy.history.hosted(t).map((id) => `${id} ${policy.history.onHost(id, t)}`);
  const pages = row?.host_pages ?? 0;
  return `${count(pages, "page")}${options.swap_pages === undefined ? "" : ` of ${options.swap_pages}`}${hosted.length ? `: ${hosted.join(", ")}` : ""}`;
}

/** The kinds of slots that hold nothing, and the pages that are free but cached: [name, text]; [] without options. */
export function wasteOf(options, row) {
  if (!Object.keys(options).length) return [];
  const parts = ["reserved", "internal", "external"].map((name) => [name, `${row?.[`${name}_slots`] ?? 0} ${name}`]);
  if (options.prefix_caching) parts.push(["cached", `${count(row?.cached_free ?? 0, "free page")} still cached`]);
  return parts;
}

/** Why a request was rejected, for the reasons that only an option has; "" for others. */
export function optionReason(policy, request, reason) {
  const {limits, options} = policy;
  const whole = request.prompt_tokens + request.output_tokens;
  if (reason === "seats") return `its samples need more seats than the ${limits.max_num_seqs} that there are`;
  if (reason === "length") return `its ${whole} tokens do not fit in a slab of ${options.slab_tokens}`;
  if (reason === "limit") return `its client was over ${count(options.client_tokens_per_second, "token")} a second`;
  if (reason === "pages" && options.allocation === "slab") return `its slab is larger than the pool of ${limits.num_pages} pages`;
  if (reason === "pages" && options.fork_samples) return `it and its samples need more pages than the pool of ${limits.num_pages}`;
  return "";
}

/** Times of a finished request in ms, for its life; [] without a model of time. */
export function timeWords(figures) {
  if (figures?.ttft_ms === undefined) return [];
  const words = [`TTFT ${short(figures.ttft_ms)} ms`, `E2E ${short(figures.e2e_ms)} ms`];
  if (figures.tpot_ms !== null) words.push(`TPOT ${short(figures.tpot_ms)} ms`);
  if (figures.stalls) words.push(count(figures.stalls, "stall"));
  return words;
}

/** Three digits of a number of ms, or all before the point. */
export function short(value) {
  if (value === null || value === undefined) return "–";
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** The block tables of a request's samples, one after the other. */
export function sampleTables(policy, request, row) {
  return sequencesOf(policy, request.id).filter((id) => own(row?.pages, id));
}
