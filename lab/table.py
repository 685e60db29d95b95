"""A replay's figures as an aligned table for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.errors import printable
from lab.metrics import P95_RULE
from lab.paging import pages_for
from lab.replay import Replay
from lab.values import shown
from lab.workload import Limits, Request

SHARES = ("utilization", "occupancy")
MEANS = ("wait_mean", "latency_mean")
MOST_REJECTED_SHOWN = 20


def render_table(replay: Replay) -> str:
    """Policies as columns, metrics as rows; then the rules behind them, and the rejected requests apart."""
    blocks = [_heading(replay), _figures(replay), _notes(replay)]
    rejected = _rejected(replay)
    if rejected:
        blocks.append(rejected)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _heading(replay: Replay) -> list[str]:
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
    return [title, ", ".join(parts)]


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
    names = list(next(iter(metrics.values())))
    columns = [["", *names]]
    columns += [[policy, *(_cell(name, figures[name]) for name in names)] for policy, figures in metrics.items()]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in zip(*columns, strict=True):
        label, *cells = row
        line = label.ljust(widths[0])
        for cell, width in zip(cells, widths[1:], strict=True):
            line += "   " + cell.rjust(width)
        lines.append(line)
    return lines


def _notes(replay: Replay) -> list[str]:
    notes = [
        "Waits and latencies are in iterations: wait = start - 1 - arrival, latency = finish - arrival.",
        f"p95 = {P95_RULE}{_p95_places(replay)}.",
        "utilization = decoded_tokens / (max_num_seqs * busy_iterations).",
        "occupancy = mean of pages held / num_pages, over busy iterations.",
    ]
    limits = replay.limits
    if limits.max_num_batched_tokens is not None and "static" in replay.policies:
        notes.append("static ignores max_num_batched_tokens.")
    if limits.max_num_batched_tokens is None and limits.chunked_prefill:
        notes.append("chunked_prefill changes nothing without max_num_batched_tokens.")
    return notes


def _p95_places(replay: Replay) -> str:
    """Which of the ordered values p95 is: ``, the 8th of 9``."""
    places = {policy: _place(len(outcome.requests)) for policy, outcome in replay.policies.items()}
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


def _rejected(replay: Replay) -> list[str]:
    requests = {request.id: request for request in replay.trace.requests}
    lines: list[str] = []
    for policy, outcome in replay.policies.items():
        entries = outcome.metrics["rejected"]
        if entries:
            lines.append(f"Rejected under {policy} (they can never be served, and enter no other figure):")
            lines += _rejected_lines(entries, requests, replay.limits)
    return lines


def _rejected_lines(entries: Sequence[dict[str, str]], requests: dict[str, Request], limits: Limits) -> list[str]:
    listed = entries[:MOST_REJECTED_SHOWN]
    names = [printable(shown(entry["id"])) for entry in listed]
    width = max(map(len, names))
    lines = [
        f"  {name.ljust(width)}  {entry['reason']}: {_why(entry['reason'], requests[entry['id']], limits)}"
        for name, entry in zip(names, listed, strict=True)
    ]
    if len(entries) > len(listed):
        lines.append(f"  and {len(entries) - len(listed)} more; --json lists all")
    return lines


def _why(reason: str, request: Request, limits: Limits) -> str:
    tokens = request.prompt_tokens + request.output_tokens
    if reason == "pages":
        needed = pages_for(tokens, limits.page_size)
        return f"prompt + output need {_counted(needed, 'page')}, the pool has {limits.num_pages}"
    return f"may have to prefill {tokens - 1} tokens at once, the budget is {limits.max_num_batched_tokens}"
