"""What users wait for, in milliseconds: TTFT, ITL, TPOT, E2E and stalls, from the records of a replay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lab.distribution import NS_A_MS, Distribution
from lab.options import Options
from lab.records import Iteration


class RequestTimes:
    """The times of one request, in nanoseconds; `gaps` are those between tokens of each of its sequences."""

    __slots__ = ("arrival", "first", "gaps", "last")

    def __init__(self, arrival: int) -> None:
        self.arrival: int = arrival
        self.first: int | None = None
        self.last: int = arrival
        self.gaps: list[int] = []

    @property
    def ttft(self) -> int:
        """From arrival to the first token."""
        return (self.last if self.first is None else self.first) - self.arrival

    @property
    def e2e(self) -> int:
        """From arrival to the last token."""
        return self.last - self.arrival


class Timings:
    """Takes the records one by one. What a token's time is: the end of the iteration that emits it."""

    def __init__(self, options: Options, arrivals: Mapping[str, int], output_tokens: Mapping[str, int]) -> None:
        """
        arrivals:      in nanoseconds, by request; empty if requests arrive when the iteration starts that they join
        output_tokens: of each request
        """
        self._arrivals = arrivals
        self._output_tokens = output_tokens
        self._scheduler_ns = options.scheduler_us * 1000
        # A gap is a whole number, so it is longer than the limit if it is longer than the limit rounded down.
        self._stall_ns = math.floor(Fraction(repr(options.stall_ms)) * NS_A_MS)
        self._under_way: dict[str, RequestTimes] = {}
        self._last: dict[str, int] = {}  # each sequence's last token
        self._ttft, self._itl, self._tpot, self._e2e = (Distribution() for _ in range(4))
        self._busy = 0
        self._tokens = 0
        self._end = 0
        self._gpu_ns = 0
        self._running_ns = 0
        self._stalls = 0

    def add(self, record: Iteration, owner: Mapping[str, str]) -> None:
        """Count one record; `owner` is the request of each forked sequence."""
        assert record.options is not None
        time = record.options.time
        assert time is not None
        end = self._end = time.start_ns + time.duration_ns
        self._busy += 1
        self._tokens += len(record.emitted)
        self._gpu_ns += time.gpu_ns
        self._running_ns += time.duration_ns
        for name in record.arrived:
            self._under_way[name] = RequestTimes(self._arrivals.get(name, time.start_ns))
        for name in record.emitted:
            request = self._under_way[owner.get(name, name)]
            before = self._last.get(name)
            if before is not None:
                request.gaps.append(end - before)
            if request.first is None:
                request.first = end
            request.last = end
            self._last[name] = end
        for name in record.completed:
            del self._last[name]

    def drop(self, request: str) -> None:
        """`request` enters no figure: it was refused, or cancelled."""
        self._under_way.pop(request, None)

    def finish(self, request: str) -> dict[str, Any]:
        """`request` is complete: its ``ttft_ms``, ``tpot_ms``, ``e2e_ms``, ``itl_max_ms`` and ``stalls``.

        tpot_ms is None for one token, itl_max_ms 0 without gaps.
        """
        times = self._under_way.pop(request)
        ttft, e2e = times.ttft, times.e2e
        tokens = self._output_tokens[request]
        tpot = (e2e - ttft) / (tokens - 1) if tokens > 1 else None
        stalls = sum([gap > self._stall_ns for gap in times.gaps])
        self._stalls += stalls
        self._ttft.add((ttft,))
        self._e2e.add((e2e,))
        self._itl.add(times.gaps)
        if tpot is not None:
            self._tpot.add((tpot,))
        return {
            "ttft_ms": ttft / NS_A_MS,
            "tpot_ms": None if tpot is None else tpot / NS_A_MS,
            "e2e_ms": e2e / NS_A_MS,
            "itl_max_ms": max(times.gaps, default=0) / NS_A_MS,
            "stalls": stalls,
        }

    def figures(self) -> dict[str, Any]:
        """The whole replay: how the time was spent, and the distributions over completed requests."""
        return {
            "makespan_ms": self._end / NS_A_MS,
            "gpu_busy_ms": self._gpu_ns / NS_A_MS,
            "scheduler_ms": self._scheduler_ns * self._busy / NS_A_MS,
            "idle_ms": (self._end - self._running_ns) / NS_A_MS,
            "tokens_per_s": self._tokens * 1000 * NS_A_MS / self._end if self._end else 0.0,
            "ttft_ms": self._ttft.figures(),
            "itl_ms": self._itl.figures(),
            "tpot_ms": self._tpot.figures(),
            "e2e_ms": self._e2e.figures(),
            "stalls": self._stalls,
            "histograms": {"ttft_ms": self._ttft.histogram(), "itl_ms": self._itl.histogram()},
        }
