"""A replay as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open.

One process a policy; in it one track a seat, marks for what happens to requests, and counters. Format: "Trace Event
Format" of the Chromium project. Simulated time: one iteration is drawn as 1000 microseconds, or as long as it takes if
there is a model of time; then the GPU has a track too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lab.files import Writable
from lab.formats.marks import counts_of, marks_of
from lab.options import PLAIN, Options
from lab.records import Idle, Iteration
from lab.workload import Trace

ITERATION_US = 1000
NS_AN_ITERATION = ITERATION_US * 1000
SCHEDULER_TRACK = 1
FIRST_SEAT_TRACK = 2


class _Span:
    """A seat's stretch of iterations with one request in one state, from `start` to `end` in nanoseconds."""

    __slots__ = ("end", "first", "last", "request", "start", "state", "tokens")

    def __init__(self, request: str, state: str, iteration: int, start: int) -> None:
        self.request = request
        self.state = state
        self.first = iteration
        self.last = iteration
        self.start = start
        self.end = start
        self.tokens = 0


class _Process:
    """The events of one policy."""

    def __init__(self, pid: int, name: str, options: Options) -> None:
        self.pid = pid
        self.events: list[dict[str, Any]] = [
            self._metadata("process_name", SCHEDULER_TRACK, name=name),
            self._metadata("process_sort_index", SCHEDULER_TRACK, sort_index=pid),
            self._metadata("thread_name", SCHEDULER_TRACK, name="scheduler"),
        ]
        self._scheduler_ns = options.scheduler_us * 1000
        self._overlapped = options.async_scheduling
        self._first_seat_track = FIRST_SEAT_TRACK
        if options.step_time is not None:
            self._name_track(FIRST_SEAT_TRACK, "GPU")
            self._first_seat_track += 1
        self._open: dict[int, _Span] = {}
        self._named_seats: set[int] = set()
        self._counters: dict[str, int] = {}
        self._end = 0  # of the last iteration, in nanoseconds

    def add(self, record: Iteration | Idle) -> None:
        if isinstance(record, Idle):
            return  # the gap before the next iteration shows it
        now = record.iteration
        start, end = (now - 1) * NS_AN_ITERATION, now * NS_AN_ITERATION
        times = record.options.time if record.options is not None else None
        if times is not None:
            start, end = times.start_ns, times.start_ns + times.duration_ns
            self._step(now, start, times.gpu_ns, sum(record.tokens.values()))
        if start > self._end:
            self._count_nothing()
        self._end = end
        for seat, entry in enumerate(record.seats):
            if entry is not None:
                self._extend(seat, entry[0], entry[1], now, start, end, record.tokens.get(entry[0], 0))
        for what, request, figures in marks_of(record):
            mark = {"name": f"{what} {request}", "cat": what, "ph": "i", "s": "p", "ts": _us(start)}
            mark |= {"pid": self.pid, "tid": SCHEDULER_TRACK}
            self.events.append(mark | {"args": figures} if figures else mark)
        self._count(start, counts_of(record))

    def close(self) -> list[dict[str, Any]]:
        for seat in sorted(self._open):
            self._emit(seat, self._open[seat])
        self._open.clear()
        self._count_nothing()
        return self.events

    def _step(self, iteration: int, start: int, gpu_ns: int, tokens: int) -> None:
        """The scheduler's and the GPU's part in an iteration that starts at `start`."""
        if self._scheduler_ns:
            self._complete(f"schedule {iteration}", "scheduler", SCHEDULER_TRACK, start, self._scheduler_ns)
        if gpu_ns:
            gpu_start = start if self._overlapped else start + self._scheduler_ns
            self._complete(f"step {iteration}", "gpu", FIRST_SEAT_TRACK, gpu_start, gpu_ns, tokens=tokens)

    def _extend(self, seat: int, request: str, state: str, now: int, start: int, end: int, tokens: int) -> None:
        span = self._open.get(seat)
        if span is None or span.last != now - 1 or span.request != request or span.state != state:
            if span is not None:
                self._emit(seat, span)
            span = self._open[seat] = _Span(request, state, now, start)
        span.last = now
        span.end = end
        span.tokens += tokens

    def _emit(self, seat: int, span: _Span) -> None:
        track = self._first_seat_track + seat
        if seat not in self._named_seats:
            self._named_seats.add(seat)
            self._name_track(track, f"seat {seat + 1}")
        self._complete(
            f"{span.request} {span.state}",
            span.state,
            track,
            span.start,
            span.end - span.start,
            request=span.request,
            first_iteration=span.first,
            last_iteration=span.last,
            tokens=span.tokens,
        )

    def _complete(self, name: str, category: str, track: int, start: int, duration: int, **args: object) -> None:
        """A span on a track; times in nanoseconds."""
        event = {"name": name, "cat": category, "ph": "X", "ts": _us(start), "dur": _us(duration)}
        self.events.append({**event, "pid": self.pid, "tid": track, "args": args})

    def _count(self, start: int, values: dict[str, int]) -> None:
        for name, value in values.items():
            if self._counters.get(name) != value:
                self._counters[name] = value
                self.events.append({"name": name, "ph": "C", "ts": _us(start), "pid": self.pid, "args": {name: value}})

    def _count_nothing(self) -> None:
        """After an iteration that nobody outlasts."""
        shared = {"shared pages": 0} if "shared pages" in self._counters else {}
        self._count(self._end, {"pages": 0, "waiting": 0, **shared})

    def _name_track(self, track: int, name: str) -> None:
        self.events.append(self._metadata("thread_name", track, name=name))
        self.events.append(self._metadata("thread_sort_index", track, sort_index=track))

    def _metadata(self, what: str, track: int, **args: object) -> dict[str, Any]:
        return {"name": what, "ph": "M", "pid": self.pid, "tid": track, "args": args}


def _us(ns: int) -> int | float:
    """Microseconds, the format's unit: whole ones as an integer. Iteration 1 begins at 0."""
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


class PerfettoTrace:
    """Collects records as they are made; `write` writes the whole trace."""

    def __init__(self, policies: Sequence[str], options: Options = PLAIN) -> None:
        """`options` are those of the replay."""
        self._timed = options.step_time is not None
        self._processes = {name: _Process(pid, name, options) for pid, name in enumerate(policies, start=1)}

    def __call__(self, policy: str, record: Iteration | Idle) -> None:
        """Take in one record."""
        self._processes[policy].add(record)

    def to_dict(self, trace: Trace, sha256: str) -> dict[str, Any]:
        """The Chrome trace as plain JSON data. Call it once, after the last record."""
        events = [event for process in self._processes.values() for event in process.close()]
        scale: dict[str, Any] = {
            "time": f"simulated; 1 iteration = {ITERATION_US} microseconds",
            "iteration_us": ITERATION_US,
        }
        if self._timed:
            scale = {"time": "simulated; as long as each step takes by the model of time"}
        return {
            "traceEvents": events,
            "displayTimeUnit": "ms",
            "otherData": {"trace": trace.name, "sha256": sha256, **scale},
        }

    def write(self, out: Writable, trace: Trace, sha256: str) -> None:
        """Write the Chrome trace as JSON."""
        json.dump(self.to_dict(trace, sha256), out, ensure_ascii=False, allow_nan=False)
        out.write("\n")
