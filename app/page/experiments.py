"""Limits under which something new happens, as links that a learner may try."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lab.errors import InputError
from lab.formats.trace_json import in_iterations
from lab.replay import Replay, run
from lab.workload import Limits, Trace

COURSE = (
    ("a pool that runs dry", "num_pages=14"),
    ("a fourth seat", "max_num_seqs=4"),
    ("prefill in chunks", "max_num_batched_tokens=48&chunked_prefill=1"),
    ("one big page each", "num_pages=4&page_size=160"),
)
"""For the course trace, chosen by hand: (label, link)."""

OPTIONS_ON_COURSE = (
    ("swap a victim to host memory", "num_pages=14&preemption=swap"),
    ("give the largest up, not the newest", "num_pages=14&victim=largest"),
    ("slabs that fragment", "num_pages=18&allocation=slab"),
    ("memory for the final length", "allocation=final-length"),
    ("steps in milliseconds", "step_time=llama-3.1-8b-h100"),
    ("a scheduler that the GPU waits for", "step_time=llama-3.1-8b-h100&scheduler_us=2000"),
    ("prompts first, in chunks", "max_num_batched_tokens=16&chunked_prefill=1&prefill_first=1"),
)
"""For the course trace, what the engine's options change there: (label, link)."""

SHARES = (7, 6, 5, 4)
"""Eighths of the peak of pages that are tried as the size of a pool that runs dry."""


FELT = ("iterations", "wait_mean", "latency_mean", "preemptions")
"""Metrics of which one has to change for an experiment to be worth a try."""


def experiments(trace: Trace) -> list[tuple[str, str]]:
    """(label, link) of what makes a difference to `trace`; none that rejects a request that is served now."""
    now = _run(trace, trace.limits)
    return [] if now is None else list(_found(trace, now))


def _found(trace: Trace, now: Replay) -> Iterator[tuple[str, str]]:
    limits = trace.limits
    peak = now.policies["continuous"].metrics["peak_pages"]
    for share in SHARES:
        pages = peak * share // 8
        then = _served(trace, now, num_pages=pages) if 0 < pages < limits.num_pages else None
        if then is not None and then.policies["continuous"].metrics["preemptions"]:
            yield "a pool that runs dry", f"num_pages={pages}"
            break
    seats = limits.max_num_seqs + 1
    if _differs(now, _served(trace, now, max_num_seqs=seats)):
        yield "one more seat", f"max_num_seqs={seats}"
    budget = max([limits.max_num_seqs, *(request.prompt_tokens // 2 for request in trace.requests)])
    if limits.max_num_batched_tokens is None and _differs(
        now, _served(trace, now, max_num_batched_tokens=budget, chunked_prefill=True)
    ):
        yield "prefill in chunks", f"max_num_batched_tokens={budget}&chunked_prefill=1"


def _differs(now: Replay, then: Replay | None) -> bool:
    if then is None:
        return False
    return any(
        then.policies[name].metrics[key] != one.metrics[key] for name, one in now.policies.items() for key in FELT
    )


def _served(trace: Trace, now: Replay, **changes: Any) -> Replay | None:
    """The replay under changed limits; None if the engine refuses them, or rejects what it serves now."""
    then = _run(trace, replace(trace.limits, **changes))
    if then is None or any(
        then.policies[name].metrics["rejected"] != one.metrics["rejected"] for name, one in now.policies.items()
    ):
        return None
    return then


def _run(trace: Trace, limits: Limits) -> Replay | None:
    try:
        return run(in_iterations(trace), limits, keep_records=False)
    except InputError:
        return None
