"""The figures of a replay without its records: the same numbers as `lab.metrics.Tally`, for far less work."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from lab.advance import Advance
from lab.metrics import p95
from lab.options import Options
from lab.policies import policy_named
from lab.records import Rejected
from lab.screening import screen
from lab.workload import Limits, Request, check_requests

MOST = 1 << 61
"""Sums of 64-bit integers are to stay below this; what could pass it is replayed in Python's own."""

MOST_BUCKETS = 256
"""Pages of up to this many tokens have a bucket for each place in them; longer ones are too sparse for that."""

FOREVER = 1 << 61


def uncovered(options: Options, time_unit: str) -> str | None:
    """Why a replay with `options` needs each iteration, or None if its figures can be had without."""
    if time_unit != "iteration":
        return f"arrivals are in {time_unit}"
    changes = options.changes()
    if not changes:
        return None
    name = next(iter(changes))
    return f"{name} is on"


class TooLargeError(ArithmeticError):
    """Sums of this replay may not fit into 64 bits."""


class Figures:
    """What a replay came to.

    metrics: as `Tally.metrics()`
    gates:   ``{gate: iterations}`` in which the head of the queue waited for it
    """

    def __init__(self, columns: Columns, advance: Advance, limits: Limits, rejected: Sequence[Rejected]) -> None:
        self._columns = columns
        self.gates = advance.gated
        busy, completed = advance.busy, len(columns.arrival)
        waits, latencies = columns.waits(), columns.latencies()
        offered = limits.max_num_seqs * busy
        self.metrics: dict[str, Any] = {
            "iterations": max(columns.finish, default=0),
            "busy_iterations": busy,
            "decoded_tokens": advance.decoded,
            "utilization": advance.decoded / offered if offered else 0.0,
            "wait_mean": sum(waits) / completed if completed else 0.0,
            "wait_p95": p95(waits),
            "wait_max": max(waits, default=0),
            "latency_mean": sum(latencies) / completed if completed else 0.0,
            "latency_p95": p95(latencies),
            "peak_pages": advance.peak_pages,
            "wasted_slots_peak": advance.peak_wasted,
            "occupancy": advance.pages_held / (limits.num_pages * busy) if busy else 0.0,
            "preemptions": advance.preempted,
            "completed": completed,
            "rejected": [entry.to_row() for entry in rejected],
        }

    def requests(self) -> dict[str, dict[str, Any]]:
        """As `Tally.requests()`. Made when it is asked for."""
        return self._columns.by_request()


class Columns:
    """Requests as columns, in order of (arrival, position), and what a replay makes of each."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = requests
        arrivals = [int(request.arrival) for request in requests]
        self.order: Sequence[int] = range(len(requests))
        ordered = sorted(arrivals)
        if ordered != arrivals:
            self.order = sorted(self.order, key=arrivals.__getitem__)  # stable: ties stay in file order
            requests = [requests[i] for i in self.order]
        self.arrival = array("q", ordered)
        self.prompt = array("q", [request.prompt_tokens for request in requests])
        self.output = array("q", [request.output_tokens for request in requests])
        empty = bytes(8 * len(requests))
        self.start, self.finish, self.preemptions = array("q", empty), array("q", empty), array("q", empty)

    def waits(self) -> list[int]:
        """Iterations from arrival to the start of the first one that it runs in."""
        return [start - 1 - arrival for start, arrival in zip(self.start, self.arrival, strict=True)]

    def latencies(self) -> list[int]:
        """Iterations from arrival to the end of the last one that it runs in."""
        return [finish - arrival for finish, arrival in zip(self.finish, self.arrival, strict=True)]

    def by_request(self) -> dict[str, dict[str, Any]]:
        """The outcome of each, by id, in file order."""
        ranks: Sequence[int] = self.order
        if not isinstance(ranks, range):
            ranks = sorted(ranks, key=ranks.__getitem__)
        return {
            self.requests[i].id: {
                "start": self.start[rank],
                "finish": self.finish[rank],
                "wait": self.start[rank] - 1 - self.arrival[rank],
                "latency": self.finish[rank] - self.arrival[rank],
                "preemptions": self.preemptions[rank],
            }
            for i, rank in enumerate(ranks)
        }


def figures(requests: Sequence[Request], limits: Limits, policy: str, *, spans: bool = True) -> Figures:
    """Replay `requests` under `policy` with all options off, and keep the figures only.

    spans: False goes one iteration after the other; the outcome is the same

    Arrivals are iterations. Raises InputError as `lab.engine.replay` does, and TooLargeError.
    """
    check_requests(requests)
    servable, rejected = screen(requests, limits, policy)
    columns = Columns(servable)
    problem = too_large(columns, limits)
    if problem is not None:
        raise TooLargeError(problem)
    budget = policy_named(policy).budget(limits)
    advance = Advance(
        columns.arrival,
        columns.prompt,
        columns.output,
        columns.start,
        columns.finish,
        columns.preemptions,
        limits.max_num_seqs,
        limits.num_pages,
        limits.page_size,
        budget or 0,
        limits.chunked_prefill,
        policy == "static",
        spans,
        limits.page_size <= MOST_BUCKETS,
    )
    advance.replay(FOREVER)
    return Figures(columns, advance, limits, rejected)


def too_large(columns: Columns, limits: Limits) -> str | None:
    """Why a sum might pass MOST, or None."""
    return None
