"""A replay as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open.

One process a policy; in it one track a seat, and counters of pages in use and requests waiting. Format:
"Trace Event Format" of the Chromium project. Simulated time: one iteration is drawn as 1000 microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lab.files import Writable
from lab.records import Idle, Iteration
from lab.workload import Trace

ITERATION_US = 1000
SCHEDULER_TRACK = 1
FIRST_SEAT_TRACK = 2


class _Span:
    """A seat's stretch of iterations with one request in one state."""

    __slots__ = ("first", "last", "request", "state", "tokens")

    def __init__(self, request: str, state: str, iteration: int) -> None:
        self.request = request
        self.state = state
        self.first = iteration
        self.last = iteration
        self.tokens = 0


class _Process:
    """The events of one policy."""

    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self.events: list[dict[str, Any]] = [
            self._metadata("process_name", SCHEDULER_TRACK, name=name),
            self._metadata("process_sort_index", SCHEDULER_TRACK, sort_index=pid),
            self._metadata("thread_name", SCHEDULER_TRACK, name="scheduler"),
        ]
        self._open: dict[int, _Span] = {}
        self._named_seats: set[int] = set()
        self._counters: dict[str, int] = {}
        self._end = 0

    def add(self, record: Iteration | Idle) -> None:
        if isinstance(record, Idle):
            start, self._end = record.first, record.last
            self._count(start, pages=0, waiting=0)
            return
        now = self._end = record.iteration
        for seat, entry in enumerate(record.seats):
            if entry is not None:
                self._extend(seat, entry[0], entry[1], now, record.tokens.get(entry[0], 0))
        for request in record.preempted:
            self.events.append(
                {
                    "name": f"preempt {request}",
                    "cat": "preempt",
                    "ph": "i",
                    "s": "p",
                    "ts": _start(now),
                    "pid": self.pid,
                    "tid": SCHEDULER_TRACK,
                }
            )
        self._count(now, pages=record.pages_used, waiting=len(record.waiting))

    def close(self) -> list[dict[str, Any]]:
        for seat in sorted(self._open):
            self._emit(seat, self._open[seat])
        self._open.clear()
        self._count(self._end + 1, pages=0, waiting=0)
        return self.events

    def _extend(self, seat: int, request: str, state: str, now: int, tokens: int) -> None:
        span = self._open.get(seat)
        if span is None or span.last != now - 1 or span.request != request or span.state != state:
            if span is not None:
                self._emit(seat, span)
            span = self._open[seat] = _Span(request, state, now)
        span.last = now
        span.tokens += tokens

    def _emit(self, seat: int, span: _Span) -> None:
        track = FIRST_SEAT_TRACK + seat
        if seat not in self._named_seats:
            self._named_seats.add(seat)
            self.events.append(self._metadata("thread_name", track, name=f"seat {seat + 1}"))
            self.events.append(self._metadata("thread_sort_index", track, sort_index=track))
        self.events.append(
            {
                "name": f"{span.request} {span.state}",
                "cat": span.state,
                "ph": "X",
                "ts": _start(span.first),
                "dur": (span.last - span.first + 1) * ITERATION_US,
                "pid": self.pid,
                "tid": track,
                "args": {
                    "request": span.request,
                    "first_iteration": span.first,
                    "last_iteration": span.last,
                    "tokens": span.tokens,
                },
            }
        )

    def _count(self, iteration: int, **values: int) -> None:
        for name, value in values.items():
            if self._counters.get(name) != value:
                self._counters[name] = value
                self.events.append(
                    {
                        "name": name,
                        "ph": "C",
                        "ts": _start(iteration),
                        "pid": self.pid,
                        "args": {name: value},
                    }
                )

    def _metadata(self, what: str, track: int, **args: object) -> dict[str, Any]:
        return {"name": what, "ph": "M", "pid": self.pid, "tid": track, "args": args}


def _start(iteration: int) -> int:
    """Microseconds at which `iteration` begins: iteration 1 begins at 0, so an arrival r is at r * 1000."""
    return (iteration - 1) * ITERATION_US


class PerfettoTrace:
    """Collects records as they are made; `write` writes the whole trace."""

    def __init__(self, policies: Sequence[str]) -> None:
        self._processes = {name: _Process(pid, name) for pid, name in enumerate(policies, start=1)}

    def __call__(self, policy: str, record: Iteration | Idle) -> None:
        """Take in one record."""
        self._processes[policy].add(record)

    def to_dict(self, trace: Trace, sha256: str) -> dict[str, Any]:
        """The Chrome trace as plain JSON data. Call it once, after the last record."""
        events = [event for process in self._processes.values() for event in process.close()]
        return {
            "traceEvents": events,
            "displayTimeUnit": "ms",
            "otherData": {
                "trace": trace.name,
                "sha256": sha256,
                "time": f"simulated; 1 iteration = {ITERATION_US} microseconds",
                "iteration_us": ITERATION_US,
            },
        }

    def write(self, out: Writable, trace: Trace, sha256: str) -> None:
        """Write the Chrome trace as JSON."""
        json.dump(self.to_dict(trace, sha256), out, ensure_ascii=False, allow_nan=False)
        out.write("\n")
