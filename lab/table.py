"""A replay's figures as an aligned table for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.aligned import aligned
from lab.errors import printable
from lab.metrics import P95_RULE
from lab.options import Options
from lab.paging import pages_for
from lab.replay import Replay
from lab.table_groups import CLIENTS, group_blocks, group_rules
from lab.values import shown
from lab.workload import Limits, Request

SHARES = ("utilization", "occupancy")
MEANS = ("wait_mean", "latency_mean")
MOST_REJECTED_SHOWN = 20


def render_table(replay: Replay) -> str:
    """Policies as columns, metrics as rows; those of options in groups; then the rules, and the rejected apart."""
    options = replay.options
    blocks = [_heading(replay, options), _figures(replay), *group_blocks(replay), _notes(replay, options)]
    rejected = _rejected(replay, options)
    if rejected:
        blocks.append(rejected)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _heading(replay: Replay, options: Options) -> list[str]:
    trace, limits = replay.trace, replay.limits
    title = printable(trace.name) + (f": {printable(trace.title)}" if trace.title else "")
    parts = [
        _counted(len(trace.requests), "request"),
        f"max_num_seqs {limits.max_num_seqs}",
        f"num_pages {limits.num_pages}",
        f"page_size {limits.page_size}",
    ]
    if limits.max_num_batched_tokens is not None:
        parts.append(f"max_num_batched_tokens {limits.max_num_batched_tokens}")
    if limits.chunked_prefill:
        parts.append("chunked_prefill")
    on = [name if value is True else f"{name} {value}" for name, value in options.changes().items()]
    return [title, ", ".join(parts), *([f"options: {', '.join(on)}"] if on else [])]


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _cell(name: str, value: Any) -> str:
    if name in SHARES:
        return f"{value:.0%}"
    if name in MEANS:
        return f"{value:.2f}"
    return str(len(value) if isinstance(value, list) else value)


def _figures(replay: Replay) -> list[str]:
    metrics = {policy: outcome.metrics for policy, outcome in replay.policies.items()}
    names = [name for name, value in next(iter(metrics.values())).items() if not isinstance(value, dict)]
    rows = [["", *metrics]]
    rows += [[name, *(_cell(name, figures[name]) for figures in metrics.values())] for name in names]
    return aligned(rows)


def _notes(replay: Replay, options: Options) -> list[str]:
    notes = [
        "Waits and latencies are in iterations: wait = start - 1 - arrival, latency = finish - arrival."
        if replay.trace.time_unit == "iteration"
        else "Waits and latencies are in iterations: wait = start - joined, latency = finish - joined + 1.",
        f"p95 = {P95_RULE}{_p95_places(replay)}.",
        "utilization = decoded_tokens / (max_num_seqs * busy_iterations).",
        "occupancy = mean of pages held / num_pages, over busy iterations.",
    ]
    limits = replay.limits
    if limits.max_num_batched_tokens is not None and "static" in replay.policies:
        notes.append("static ignores max_num_batched_tokens.")
    if limits.max_num_batched_tokens is None and limits.chunked_prefill:
        notes.append("chunked_prefill changes nothing without max_num_batched_tokens.")
    return notes + group_rules(replay, options)


def _p95_places(replay: Replay) -> str:
    """Which of the ordered values p95 is: ``, the 8th of 9``."""
    places = {policy: _place(outcome.metrics["completed"]) for policy, outcome in replay.policies.items()}
    distinct = list(dict.fromkeys(places.values()))
    if len(distinct) == 1:
        return f", {distinct[0]}"
    return "".join(f", {policy} {place}" for policy, place in places.items())


def _place(n: int) -> str:
    if n == 0:
        return "of no values: 0"
    rank = 95 * (n - 1) // 100 + 1
    last_two = rank % 100
    ending = "th" if 10 < last_two < 20 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"the {rank}{ending} of {n}"


def _rejected(replay: Replay, options: Options) -> list[str]:
    requests = {request.id: request for request in replay.trace.requests}
    lines: list[str] = []
    for policy, outcome in replay.policies.items():
        entries = outcome.metrics["rejected"]
        if entries:
            how = "they enter no other figure" + (" but their client's requests" if CLIENTS in outcome.metrics else "")
            if all(entry["reason"] != "limit" for entry in entries):
                how = f"they can never be served, and {how.removeprefix('they ')}"
            lines.append(f"Rejected under {policy} ({how}):")
            lines += _rejected_lines(entries, requests, replay.limits, options)
    return lines


def _rejected_lines(
    entries: Sequence[dict[str, str]], requests: dict[str, Request], limits: Limits, options: Options
) -> list[str]:
    listed = entries[:MOST_REJECTED_SHOWN]
    names = [printable(shown(entry["id"])) for entry in listed]
    width = max(map(len, names))
    lines = [
        f"  {name.ljust(width)}  {entry['reason']}: {_why(entry['reason'], requests[entry['id']], limits, options)}"
        for name, entry in zip(names, listed, strict=True)
    ]
    if len(entries) > len(listed):
        lines.append(f"  and {len(entries) - len(listed)} more; --json lists all")
    return lines


def _why(reason: str, request: Request, limits: Limits, options: Options) -> str:
    tokens = request.prompt_tokens + request.output_tokens
    if reason == "pages":
        return f"{_pages_needed(request, limits, options)}, the pool has {limits.num_pages}"
    if reason == "seats":
        return f"{request.samples} samples need as many seats, there are {limits.max_num_seqs}"
    if reason == "length":
        return f"prompt + output are {tokens} tokens, a slab holds {options.slab_tokens}"
    if reason == "limit":
        return f"its client was over {options.client_tokens_per_second} tokens a second"
    return f"may have to prefill {tokens - 1} tokens at once, the budget is {limits.max_num_batched_tokens}"


def _pages_needed(request: Request, limits: Limits, options: Options) -> str:
    """Which need of `request` is larger than the pool."""
    tokens = request.prompt_tokens + request.output_tokens
    if options.allocation == "slab" and options.slab_tokens is not None:
        return f"a slab needs {_counted(pages_for(options.slab_tokens, limits.page_size), 'page')}"
    needed = pages_for(tokens, limits.page_size)
    if needed <= limits.num_pages and request.samples is not None:
        needed = pages_for(request.prompt_tokens + 1, limits.page_size) + request.samples - 1
        return f"prompt and {request.samples} samples need {_counted(needed, 'page')}"
    return f"prompt + output need {_counted(needed, 'page')}"
