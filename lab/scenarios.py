"""Workloads in which an engine run gives the figures of well-known questions on serving engines.

Each function builds a trace with its options; its docstring says what a replay of it shows, also to users of
`serving-lab trace scenario`, with the flags that change it. Figures are those of the default arguments.
`tests/core/test_questions.py` compares each with its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lab.costs import STEP_TIMES, pages_that_fit
from lab.options import PLAIN, Options
from lab.paging import pages_for
from lab.workload import Limits, Request, Trace

PAGE = 16
H100 = "llama-3.1-8b-h100"
TOKEN_NS = STEP_TIMES[H100].token_ns
ENOUGH = 10_000
"""Pages where memory is not what a scenario is about."""


def step_of(ms: int) -> dict[str, Any]:
    """Options under which a step of few tokens takes `ms` milliseconds: that long it takes to read the weights."""
    return {"step_time": H100, "weight_bytes": ms * 10**6, "memory_bandwidth": 10**9}


def alike(name: str, count: int, prompt: int, output: int, arrival: int = 0, **fields: Any) -> list[Request]:
    """`count` requests that differ in nothing but their ids, `name1`, `name2`, …"""
    return [Request(f"{name}{i}", arrival, prompt, output, **fields) for i in range(1, count + 1)]


# Batching and time


def replies(lengths: Sequence[int] = (50, 150, 400, 800), step_ms: int = 5) -> Trace:
    """Replies of different lengths that start together, each on a seat of its own.

    Under static batching all seats are held as long as the longest reply: useful are sum / (seats x longest) = 43.75 %
    of the slots. The reply of 50 tokens is there after 0.25 s; its batch ends after 4 s.
    """
    requests = [Request(f"r{length}-{i}", 0, 1, length) for i, length in enumerate(lengths)]
    return Trace("replies", Limits(len(lengths), ENOUGH, PAGE), tuple(requests), options=Options(**step_of(step_ms)))


def scheduler_on_the_clock(gpu_ms: int = 5, scheduler_ms: int = 2, *, overlapped: bool = False) -> Trace:
    """One reply, and a scheduler that takes 2 ms before each GPU step of 5 ms: the GPU idles 2 / 7 of the time.

    With `overlapped` (--async-scheduling) it schedules while the GPU works, which then never idles.
    """
    options = Options(**step_of(gpu_ms), scheduler_us=scheduler_ms * 1000, async_scheduling=overlapped)
    return Trace("scheduler-on-the-clock", Limits(1, ENOUGH, PAGE), (Request("a", 0, 1, 100),), options=options)


def budget_for(target_ms: int, token_ns: int = TOKEN_NS) -> int:
    """Tokens that a step of at most `target_ms` milliseconds may compute."""
    return target_ms * 10**6 // token_ns


def long_prompt_among_streams(
    target_ms: int = 20,
    streams: int = 32,
    prompt: int = 6000,
    *,
    multiple: int = 128,
    prefill_first: bool = False,
    chunked: bool = True,
) -> Trace:
    """Streams decode when a long prompt arrives, under a budget for steps of 20 ms.

    Budget 1,250 tokens; 1,218 are left by 32 decodes, and a chunk takes 1,152 of them, a multiple of 128. With 25 ms,
    150 streams and no rounding it is 1,562 and 1,412, and a prompt of 6,000 takes 5 steps.

    Without rounding `prefill_first` (--prefill-first --chunk-multiple 1) stalls the streams until the prompt is
    through; so does a prompt that is not `chunked` (--max-num-batched-tokens none --chunk-multiple 1).
    """
    limits = Limits(streams + 1, ENOUGH, PAGE, budget_for(target_ms) if chunked else None, chunked_prefill=chunked)
    requests = (*alike("stream", streams, 1, 12), Request("long", 1, prompt, 1))
    options = Options(step_time=H100, chunk_multiple=multiple if chunked else 1, prefill_first=prefill_first)
    return Trace("long-prompt-among-streams", limits, requests, options=options)


def streams_and_long_prompts(
    every_ms: int = 10_000, count: int = 4, tokens: int = 3966, *, streams: int = 32, chunked: bool = False
) -> Trace:
    """32 streams in steps of 10 ms, and prompts of 6,000 tokens after 5, 15, 25 and 35 s.

    Each prompt stalls every stream once, for 96.5 ms: 4 in 3,965 gaps, 0.1 %, which p99 does not see. One prompt a
    second is more than 1 % and moves it. With `chunked` (--max-num-batched-tokens 1250 --chunked-prefill) no gap is
    longer than the budget's 20 ms.
    """
    limits = Limits(streams + 1, ENOUGH, PAGE, budget_for(20) if chunked else None, chunked_prefill=chunked)
    first = every_ms // 2
    longs = [Request(f"long{i + 1}", first + i * every_ms, 6000, 1) for i in range(count)]
    requests = (*alike("stream", streams, 500, tokens), *longs)
    return Trace("streams-and-long-prompts", limits, requests, time_unit="ms", options=Options(**step_of(10)))


def shared_steps(prompt: int = 6000, *, kv_read: bool = True) -> Trace:
    """A short chat decodes beside a request with a long prompt, whose KV cache each shared step reads as well.

    Without `kv_read` (--no-kv-read) a step takes as long as if it did not.
    """
    requests = (Request("chat", 0, 500, 20), Request("rag", 5, prompt, 5))
    return Trace("shared-steps", Limits(2, ENOUGH, PAGE), requests, options=Options(step_time=H100, kv_read=kv_read))


# Seats and memory


def closed_gate(max_num_seqs: int = 64) -> Trace:
    """300 requests at once for 64 seats: 64 run, 236 wait behind `seats`, and KV usage never passes 40 %.

    With 256 seats (--max-num-seqs 256) the next gate is `pages`: 164 are admitted, and as they grow some are preempted.
    """
    return Trace(
        "closed-gate",
        Limits(max_num_seqs, 64 * pages_for(640, PAGE) * 5 // 2, PAGE),
        tuple(alike("r", 300, 608, 32)),
        options=Options(step_time=H100),
    )


def seats_before_tokens() -> Trace:
    """256 decode on 256 seats when a prompt of 500 arrives: its 756 tokens fit a budget of 8,192, seats do not."""
    requests = (*alike("stream", 256, 1, 4), Request("late", 1, 500, 1))
    return Trace("seats-before-tokens", Limits(256, ENOUGH, PAGE, 8192), requests)


def slabs_or_pages(
    gigabytes: int = 50, allocation: str = "on-demand", page_size: int = PAGE, kv_dtype: str = "bf16"
) -> Trace:
    """A pool of 50 GB for requests of 1,000 tokens: 378 run at once on pages of 16, 381 on pages of one token
    (--page-size 1 --pool-gb 50).

    With `allocation` slab (--allocation slab --slab-tokens 8192) each takes 8,192 tokens, 1 GiB: 46 run at once, and
    12 % of what they hold is used.
    """
    slab = allocation == "slab"
    options = Options(allocation=allocation, slab_tokens=8192 if slab else None, kv_dtype=kv_dtype, figures=True)
    pages = pages_that_fit(gigabytes * 10**9, page_size, options.kv_bytes)
    return Trace("slabs-or-pages", Limits(1000, pages, page_size), tuple(alike("r", 400, 999, 1)), options=options)


def one_request(page_size: int = PAGE, tokens: int = 1000) -> Trace:
    """One request of 1,000 tokens: larger pages make a shorter table, and more waste in the last.

    Try --page-size 1, 16 and 256.
    """
    requests = (Request("a", 0, tokens - 1, 1),)
    return Trace("one-request", Limits(1, ENOUGH, page_size), requests, options=Options(figures=True))


def fragmented() -> Trace:
    """Slabs of different lengths leave holes: a request waits although as many pages as it needs are free."""
    requests = (
        Request("a", 0, 30, 2),
        Request("b", 0, 30, 30),
        Request("c", 0, 30, 2),
        Request("d", 0, 10, 30),
        Request("wide", 1, 60, 4),
    )
    return Trace("fragmented", Limits(8, 11, PAGE), requests, options=Options(allocation="slab"))


def reserved_or_paged(allocation: str = "on-demand") -> Trace:
    """40 requests of 64 tokens where 512 may be asked for: 4 slabs fit, but all 40 on pages; some are evicted.

    With `allocation` slab (--allocation slab --slab-tokens 512) nobody is, and it takes longer.
    """
    options = Options(allocation=allocation, slab_tokens=512 if allocation == "slab" else None, figures=True)
    return Trace("reserved-or-paged", Limits(40, 128, PAGE), tuple(alike("r", 40, 24, 40)), options=options)


def samples(prompt: int = 1000, count: int = 4, *, forked: bool = True) -> Trace:
    """4 samples of a prompt of 1,000 tokens: 63 pages are shared, and 3 copied when the samples first write, 66 in all.

    Without `forked` they are 4 requests with 252 pages. A prompt of 1,008 fills its last page: nothing is copied.
    """
    if forked:
        requests, options = [Request("a", 0, prompt, 2, samples=count)], Options(fork_samples=True)
    else:
        requests, options = alike("a", count, prompt, 2), PLAIN
    return Trace("samples", Limits(count, 300, PAGE), tuple(requests), options=options)


# Preemption


def eviction(preemption: str = "recompute", bandwidth: int = 25 * 10**9) -> Trace:
    """A request with 2,000 KV tokens, 262 MB, is preempted for an older one that needs a page.

    Recomputing it takes 32 ms; swapping (--preemption swap --swap-bandwidth 25000000000) 10.5 ms each way.
    """
    requests = (Request("old", 0, PAGE - 1, 2), Request("victim", 0, 1999, 3))
    swap_bandwidth = bandwidth if preemption == "swap" else None
    options = Options(step_time=H100, preemption=preemption, swap_bandwidth=swap_bandwidth)
    return Trace("eviction", Limits(2, 1 + pages_for(2000, PAGE), PAGE), requests, options=options)


def whom_to_evict(victim: str = "newest") -> Trace:
    """The pool runs dry beside a request with 2,000 KV tokens and a newer one with 96: which is thrown away?

    The newer, or with `victim` largest (--victim largest) the other.
    """
    requests = (Request("old", 0, PAGE - 1, 4), Request("big", 0, 1999, 3), Request("new", 0, 95, 3))
    pages = 1 + pages_for(2000, PAGE) + pages_for(96, PAGE)
    return Trace("whom-to-evict", Limits(3, pages, PAGE), requests, options=Options(victim=victim, figures=True))


def countdown(phases: Sequence[int] = tuple(range(PAGE)), running: int = 250, free: int = 2000) -> Trace:
    """250 requests decode and 2,000 pages are free: the pool runs dry after about 2,000 x 16 / 250 = 128 steps, 2.56 s
    at 20 ms a step.

    `phases`: how many tokens beyond a page the prompt of each has, in turn. Together in one phase they run for 128 to
    143 steps, since then all take their pages at once.
    """
    requests = [Request(f"r{i}", 0, PAGE + phases[i % len(phases)], 200) for i in range(running)]
    held = sum(pages_for(request.prompt_tokens + 1, PAGE) for request in requests)
    return Trace("countdown", Limits(running, held + free, PAGE), tuple(requests), options=Options(**step_of(20)))


def too_many(max_num_seqs: int = 16, kv_dtype: str = "bf16") -> Trace:
    """16 at once outgrow a pool of 0.2 GB, and are preempted again and again.

    8 at once (--max-num-seqs 8) are not, nor 16 in FP8 (--kv-dtype fp8 --pool-gb 0.2).
    """
    options = Options(kv_dtype=kv_dtype, figures=True)
    pages = pages_that_fit(2 * 10**8, PAGE, options.kv_bytes)
    return Trace("too-many", Limits(max_num_seqs, pages, PAGE), tuple(alike("r", 16, 60, 110)), options=options)


def healthy_full_pool() -> Trace:
    """Every page is held or still cached, and nothing is preempted: a full pool is no sign of trouble."""
    requests = [Request(f"r{i}", 10 * i, 64, 16, prefix=tuple(f"p{i}.{n}" for n in range(4))) for i in range(12)]
    requests.append(Request("again", 200, 64, 16, prefix=requests[-1].prefix))
    return Trace("healthy-full-pool", Limits(4, 32, PAGE), tuple(requests), options=Options(prefix_caching=True))


# Clients


def client_leaves(cancellation: str = "ignored", after: int = 300, output: int = 1000) -> Trace:
    """A client leaves after 300 of 1,000 tokens: 700 are computed for nobody, and 131 MB of KV are held at the end.

    Honoured (--cancellation honoured), it ends at once, and the next may start.
    """
    requests = (Request("a", 0, 1, output, cancel_after_tokens=after), Request("next", 0, 1, 1))
    options = Options(cancellation=cancellation, figures=True)
    return Trace("client-leaves", Limits(1, 64, PAGE), requests, options=options)


def two_clients(admission: str = "fcfs") -> Trace:
    """Client A sends 36 requests at once, B 4 now and then; all are alike.

    First come, first served, B waits for all of A. A limit of 1,000 tokens a second (--admission limit
    --client-tokens-per-second 1000) rejects most of A and leaves the GPU idle. The virtual token counter (--admission
    vtc) lets B in at the next free seat, rejects nothing and wastes nothing.
    """
    limit = 1000 if admission == "limit" else None
    late = [Request(f"B{i + 1}", 10 + 200 * i, 100, 20, client="B") for i in range(4)]
    requests = (*alike("A", 36, 100, 20, client="A"), *late)
    options = Options(**step_of(5), admission=admission, client_tokens_per_second=limit)
    return Trace("two-clients", Limits(4, ENOUGH, PAGE), requests, time_unit="ms", options=options)


SCENARIOS: dict[str, Callable[[], Trace]] = {
    build.__name__.replace("_", "-"): build
    for build in (
        replies,
        scheduler_on_the_clock,
        long_prompt_among_streams,
        streams_and_long_prompts,
        shared_steps,
        closed_gate,
        seats_before_tokens,
        slabs_or_pages,
        one_request,
        fragmented,
        reserved_or_paged,
        samples,
        eviction,
        whom_to_evict,
        countdown,
        too_many,
        healthy_full_pool,
        client_leaves,
        two_clients,
    )
}
"""Each scenario by the name that its trace has too."""
