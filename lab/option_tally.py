"""Counts what the options that are on put into the records, and keeps it apart from the plain figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.clock import nanoseconds
from lab.option_metrics import Cancelled, Clients, Memory, Preempted, Shared
from lab.options import Options
from lab.records import Iteration, Rejected
from lab.timings import Timings
from lab.workload import Limits, Request


class OptionTally:
    """Takes the records of one replay with an option on.

    owner:   the request of each forked sequence but the first, whose name is the request's
    joined:  the iteration in which each request joined, when arrivals are no iterations
    refused: the requests that the limit rejected, in order
    finished: the time figures of each request that is complete, empty without a model of time
    """

    def __init__(self, requests: Sequence[Request], limits: Limits, options: Options, time_unit: str) -> None:
        self.owner: dict[str, str] = {}
        self.joined: dict[str, int] = {}
        self.refused: list[Rejected] = []
        self.finished: dict[str, dict[str, Any]] = {}
        self._by_time = time_unit != "iteration"
        self._going_on: dict[str, int] = {}  # sequences that a forked request has yet to finish
        self._memory = Memory(limits, options)
        self._preempted = Preempted()
        self._shared = Shared() if options.prefix_caching or options.fork_samples else None
        self._cancelled = Cancelled(options) if options.cancellation != "off" else None
        apart = options.admission != "fcfs" or any(request.client is not None for request in requests)
        self._clients = Clients(requests) if apart else None
        self._timings: Timings | None = None
        if options.step_time is not None:
            arrivals = {r.id: nanoseconds(r.arrival, time_unit) for r in requests} if self._by_time else {}
            self._timings = Timings(options, arrivals, {r.id: r.output_tokens for r in requests})

    def add(self, record: Iteration) -> list[str]:
        """Count one record; returns the requests that are complete with it."""
        options = record.options
        assert options is not None
        if options.sharing is not None:
            for parent, children in options.sharing.forked.items():
                self._going_on[parent] = 1 + len(children)
                self.owner.update(dict.fromkeys(children, parent))
        if self._by_time:
            self.joined.update(dict.fromkeys(record.arrived, record.iteration))
        self._memory.add(record)
        self._preempted.add(record)
        if self._shared is not None:
            self._shared.add(record)
        if self._cancelled is not None:
            self._cancelled.add(record)
        if self._clients is not None:
            self._clients.add(record, self.owner)
        if self._timings is not None:
            self._timings.add(record, self.owner)
        complete = [name for name in map(self._last_of, record.completed) if name is not None]
        self._settle(record, complete)
        return complete

    def _last_of(self, sequence: str) -> str | None:
        """The request that is complete now that `sequence` has finished, or None."""
        request = self.owner.get(sequence, sequence)
        going_on = self._going_on.get(request, 1) - 1
        if going_on:
            self._going_on[request] = going_on
            return None
        return request

    def _settle(self, record: Iteration, complete: Sequence[str]) -> None:
        """Requests whose end it was leave the figures of time, or enter them."""
        options = record.options
        assert options is not None
        if options.queueing is not None:
            self.refused += [Rejected(name, "limit") for name in options.queueing.refused]
        if self._timings is None:
            return
        for name in complete:
            self.finished[name] = self._timings.finish(name)
        if options.queueing is not None:
            for name in options.queueing.refused:
                self._timings.drop(name)
        if options.leaving is not None:
            for name in options.leaving.cancelled:
                self._timings.drop(name)

    def figures(self, requests: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The groups of figures of the options that are on; `requests` are those of each that is complete."""
        groups: dict[str, Any] = {}
        if self._timings is not None:
            groups["time"] = self._timings.figures()
        groups["memory"] = self._memory.figures()
        if self._shared is not None:
            groups["sharing"] = self._shared.figures()
        groups["preemption"] = self._preempted.figures()
        if self._cancelled is not None:
            groups["cancellation"] = self._cancelled.figures()
        if self._clients is not None:
            groups["clients"] = self._clients.figures(requests, self._timings is not None)
        return groups
