// The figures of a whole run that only an option brings: groups of cards like the six that are always there.

import {count} from "./replay-dom.js";
import {short} from "./replay-option-words.js";

const inMs = (value) => `${short(value)} ms`;
const share = (value) => `${Math.round(value * 100)} %`;

/** Bytes in the binary unit that keeps the number small. */
export function bytes(value) {
  let left = value;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (left < 1024 || unit === "GiB") return `${Number(left.toPrecision(3))} ${unit}`;
    left /= 1024;
  }
  return "";
}

/** A time's rule: what it is, and all that is known of its values. */
function timesRule(name, what) {
  return ({metrics: {time}}) => {
    const m = time[`${name.toLowerCase()}_ms`];
    if (!m.count) return `${name}: ${what}. There is none.`;
    return `${name}: ${what}. Of ${m.count}: mean ${short(m.mean)}, P50 ${short(m.p50)}, P95 ${short(m.p95)}, P99 ${short(m.p99)}, P99.9 ${short(m.p999)}, largest ${short(m.max)} ms; P95 is sorted[⌊0.95 (n − 1)⌋].`;
  };
}

const on = (options, ...names) => names.some((name) => options[name] !== undefined);

/** better, value and rule as in replay-cards.js; `of`: the figure in metrics; `when`: whether the options ask for the group. */
export const GROUPS = [
  {
    name: "Time", part: "time", when: () => true,
    metrics: [
      {name: "ttft_p95", label: "TTFT P95", better: -1, of: (m) => m.time.ttft_ms.p95 ?? 0, text: inMs, rule: timesRule("TTFT", "first token − arrival")},
      {name: "itl_p99", label: "ITL P99", better: -1, of: (m) => m.time.itl_ms.p99 ?? 0, text: inMs, rule: timesRule("ITL", "each gap between one token of a sequence and its next")},
      {name: "itl_max", label: "ITL max", better: -1, of: (m) => m.time.itl_ms.max ?? 0, text: inMs, rule: timesRule("ITL", "each gap between one token of a sequence and its next")},
      {name: "tpot_mean", label: "TPOT mean", better: -1, of: (m) => m.time.tpot_ms.mean ?? 0, text: inMs, rule: timesRule("TPOT", "(E2E − TTFT) ÷ (tokens − 1)")},
      {name: "e2e_mean", label: "E2E mean", better: -1, of: (m) => m.time.e2e_ms.mean ?? 0, text: inMs, rule: timesRule("E2E", "last token − arrival")},
      {name: "stalls", label: "stalls", better: -1, of: (m) => m.time.stalls, text: String,
        rule: ({metrics: {time}, options}) => `Stalls: gaps longer than ${options.stall_ms ?? 50} ms, of ${time.itl_ms.count}. The run takes ${short(time.makespan_ms)} ms: the GPU is busy for ${short(time.gpu_busy_ms)}, the scheduler for ${short(time.scheduler_ms)}, idle ${short(time.idle_ms)}; ${short(time.tokens_per_s)} tokens a second.`},
    ],
  },
  {
    name: "Memory", part: "memory", when: (options) => on(options, "allocation", "model", "kv_dtype", "kv_bytes_per_token", "figures"),
    metrics: [
      {name: "used_share", label: "KV used", better: 1, of: (m) => m.memory.used_share, text: share, rule: shares},
      {name: "reserved_share", label: "reserved", better: -1, of: (m) => m.memory.reserved_share, text: share, rule: shares},
      {name: "internal_share", label: "internal", better: -1, of: (m) => m.memory.internal_share, text: share, rule: shares},
      {name: "peak_running", label: "most at once", better: 1, of: (m) => m.memory.peak_running, text: String, rule: () => "Most at once: the most sequences that run in one iteration."},
      {name: "fragmented", label: "fragmented", better: -1, of: (m) => m.memory.fragmented_iterations, text: String,
        rule: ({metrics: {memory}}) => `Fragmented: iterations in which the head waits for pages although as many as it needs are free. At most ${count(memory.external_slots_peak, "free slot")} stood outside the longest run.`},
      {name: "peak_kv", label: "peak KV", better: 0, of: (m) => m.memory.peak_kv_bytes, text: bytes,
        rule: ({metrics: {memory}}) => `Peak KV: peak pages in bytes, of a pool of ${bytes(memory.pool_bytes)}; ${bytes(memory.kv_bytes_per_token)} a token.`},
    ],
  },
  {
    name: "Sharing", part: "sharing", when: (options) => on(options, "prefix_caching", "fork_samples"),
    metrics: [
      {name: "cached_tokens", label: "from the cache", better: 1, of: (m) => m.sharing.cached_tokens, text: String, rule: cachedRule},
      {name: "prefill_tokens", label: "prefilled", better: -1, of: (m) => m.sharing.prefill_tokens, text: String, rule: cachedRule},
      {name: "shared_pages_peak", label: "shared pages", better: 0, of: (m) => m.sharing.shared_pages_peak, text: String, rule: () => "Shared pages: the most that had more than one owner at once; each is counted once in pages used."},
      {name: "forks", label: "forks", better: 0, of: (m) => m.sharing.forks, text: String, rule: () => "Forks: further samples that took over the pages of a prompt."},
      {name: "copied_pages", label: "copied", better: 0, of: (m) => m.sharing.copied_pages, text: String, rule: () => "Copied: pages that somebody wrote to while others held them, each copied first. n samples make n − 1 copies when the prompt's last page is partly full, and none when it is full."},
    ],
  },
  {
    name: "Preemption", part: "preemption", when: (options) => on(options, "preemption", "victim", "swap_pages", "figures"),
    metrics: [
      {name: "preempted", label: "preemptions", better: -1, of: (m) => m.preemptions, text: String,
        rule: ({metrics: m}) => `Preemptions: ${m.preemptions}, of which ${m.preemption.recomputed} ${m.preemption.recomputed === 1 ? "is" : "are"} computed again.`},
      {name: "lost_tokens", label: "lost tokens", better: -1, of: (m) => m.preemption.lost_tokens, text: String, rule: () => "Lost tokens: KV tokens that recompute throws away, to be computed again."},
      {name: "swapped_out", label: "swapped out", better: 0, of: (m) => m.preemption.swapped_out_pages, text: String,
        rule: ({metrics: {preemption: p}}) => `Swapped: ${count(p.swapped_out_pages, "page")} to host memory, ${p.swapped_in_pages} back; at most ${p.host_pages_peak} there at once.`},
      {name: "host_pages_peak", label: "host pages", better: 0, of: (m) => m.preemption.host_pages_peak, text: String, rule: () => "Host pages: the most in host memory after an iteration."},
    ],
  },
  {
    name: "Clients that left", part: "cancellation", when: () => true,
    metrics: [
      {name: "cancelled", label: "cancelled", better: 0, of: (m) => m.cancellation.cancelled, text: String,
        rule: ({metrics: {cancellation: c}}) => `Cancelled: requests that ended because their client left; ${count(c.left, "client")} left.`},
      {name: "wasted_tokens", label: "for nobody", better: -1, of: (m) => m.cancellation.wasted_tokens, text: String, rule: () => "For nobody: tokens emitted after the client had left."},
      {name: "wasted_kv", label: "KV for nobody", better: -1, of: (m) => m.cancellation.wasted_kv_bytes_peak, text: bytes,
        rule: ({metrics: {cancellation: c}}) => `KV for nobody: the most held for clients that had left, ${count(c.wasted_kv_tokens_peak, "token")}.`},
    ],
  },
];

function shares({metrics: {memory: m}}) {
  return `Of all slots held, over the busy iterations: ${share(m.used_share)} store KV, ${share(m.reserved_share)} are reserved for tokens still to come, ${share(m.internal_share)} are never filled.`;
}

function cachedRule({metrics: {sharing: s}}) {
  return `Of ${count(s.prefill_tokens + s.cached_tokens, "token")} to prefill, ${s.cached_tokens} were found in the cache and ${s.prefill_tokens} computed.`;
}

/** The groups that a policy's run has figures for, and whose options are on. */
export function groupsOf(policy) {
  return GROUPS.filter(({part, when}) => policy.metrics[part] && when(policy.options));
}
