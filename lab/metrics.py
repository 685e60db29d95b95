"""The figures of a replay, computed from its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lab.distribution import percentile
from lab.option_tally import OptionTally
from lab.options import PLAIN, Options
from lab.records import Idle, Iteration, Rejected
from lab.workload import Limits, Request

P95_RULE = "lower order statistic: sorted[floor(0.95 * (n - 1))]"


def p95(values: Iterable[int]) -> int:
    """The lower order statistic ``sorted[floor(0.95 * (n - 1))]``; 0 for no values."""
    return percentile(sorted(values), 950)


def mean(values: Sequence[int]) -> float:
    """The mean; 0.0 for no values."""
    return sum(values) / len(values) if values else 0.0


class Tally:
    """Takes the records of one replay, one by one, and keeps only what the figures need."""

    def __init__(
        self,
        requests: Sequence[Request],
        limits: Limits,
        rejected: Sequence[Rejected] = (),
        options: Options = PLAIN,
        time_unit: str = "iteration",
    ) -> None:
        """`requests` may hold rejected ones too; they enter no figure but that of their client's requests.

        options, time_unit: as given to `lab.engine.replay`
        """
        self.limits = limits
        self.rejected = list(rejected)
        self._options = None if options == PLAIN else OptionTally(requests, limits, options, time_unit)
        turned_away = {entry.id for entry in rejected}
        self._arrival = {r.id: int(r.arrival) for r in requests if r.id not in turned_away}
        self._start: dict[str, int] = {}
        self._finish: dict[str, int] = {}
        self._preemptions: dict[str, int] = {}
        self._busy = 0
        self._decoded = 0
        self._pages_held = 0
        self._peak_pages = 0
        self._peak_wasted = 0

    def add(self, record: Iteration | Idle) -> None:
        """Count one record."""
        if isinstance(record, Idle):
            return
        self._busy += 1
        self._decoded += len(record.emitted)
        self._pages_held += record.pages_used
        self._peak_pages = max(self._peak_pages, record.pages_used)
        self._peak_wasted = max(self._peak_wasted, record.wasted_slots)
        for name in record.admitted:  # who is admitted computes its first chunk in the same iteration
            self._start.setdefault(name, record.iteration)
        complete: Sequence[str] = record.completed
        if self._options is not None:
            complete = self._options.add(record)
        for name in complete:
            self._finish[name] = record.iteration
        for name in record.preempted:
            self._preemptions[name] = self._preemptions.get(name, 0) + 1

    def requests(self) -> dict[str, dict[str, Any]]:
        """Per finished request, in file order: start, finish, wait, latency (iterations) and preemptions.

        With a model of time also ``ttft_ms``, ``tpot_ms``, ``e2e_ms``, ``itl_max_ms`` and ``stalls``.
        """
        if self._options is not None:
            self._count_by_request(self._options)
        figures: dict[str, dict[str, Any]] = {
            name: {
                "start": self._start[name],
                "finish": self._finish[name],
                "wait": self._start[name] - 1 - arrival,
                "latency": self._finish[name] - arrival,
                "preemptions": self._preemptions.get(name, 0),
            }
            for name, arrival in self._arrival.items()
            if name in self._finish
        }
        if self._options is not None:
            for name, times in self._options.finished.items():
                figures[name] |= times
        return figures

    def _count_by_request(self, options: OptionTally) -> None:
        """Forked sequences count for their request; who arrived at a time did so when the iteration before ended."""
        for sequence, request in options.owner.items():
            count = self._preemptions.pop(sequence, 0)
            if count:
                self._preemptions[request] = self._preemptions.get(request, 0) + count
        for name, iteration in options.joined.items():
            self._arrival[name] = iteration - 1

    def metrics(self) -> dict[str, Any]:
        """The figures of the whole replay; plain ints and floats. Every one is 0 when nothing was served.

        What the options that are on add comes last, a group a key; see `lab.option_metrics` and `lab.timings`.
        """
        by_request = self.requests()
        requests = by_request.values()
        rejected = self.rejected if self._options is None else self.rejected + self._options.refused
        figures = plain_figures(
            self.limits,
            waits=[request["wait"] for request in requests],
            latencies=[request["latency"] for request in requests],
            rejected=rejected,
            iterations=max(self._finish.values(), default=0),
            busy=self._busy,
            decoded=self._decoded,
            peak_pages=self._peak_pages,
            peak_wasted=self._peak_wasted,
            pages_held=self._pages_held,
            preemptions=sum(self._preemptions.values()),
        )
        return figures if self._options is None else figures | self._options.figures(by_request)


def plain_figures(
    limits: Limits,
    *,
    waits: Sequence[int],
    latencies: Sequence[int],
    rejected: Iterable[Rejected],
    iterations: int,
    busy: int,
    decoded: int,
    peak_pages: int,
    peak_wasted: int,
    pages_held: int,
    preemptions: int,
) -> dict[str, Any]:
    """The figures by name, from what was counted.

    waits, latencies: of each request that finished, in iterations
    busy:             iterations that were not idle
    pages_held:       summed over these
    """
    offered = limits.max_num_seqs * busy
    return {
        "iterations": iterations,
        "busy_iterations": busy,
        "decoded_tokens": decoded,
        "utilization": decoded / offered if offered else 0.0,
        "wait_mean": mean(waits),
        "wait_p95": p95(waits),
        "wait_max": max(waits, default=0),
        "latency_mean": mean(latencies),
        "latency_p95": p95(latencies),
        "peak_pages": peak_pages,
        "wasted_slots_peak": peak_wasted,
        "occupancy": pages_held / (limits.num_pages * busy) if busy else 0.0,
        "preemptions": preemptions,
        "completed": len(waits),
        "rejected": [entry.to_row() for entry in rejected],
    }


def summarize(
    records: Iterable[Iteration | Idle],
    requests: Sequence[Request],
    limits: Limits,
    rejected: Sequence[Rejected] = (),
    options: Options = PLAIN,
    time_unit: str = "iteration",
) -> dict[str, Any]:
    """``{"metrics": {...}, "requests": {id: {...}}}`` of a whole replay, from its records."""
    tally = Tally(requests, limits, rejected, options, time_unit)
    for record in records:
        tally.add(record)
    return {"metrics": tally.metrics(), "requests": tally.requests()}
