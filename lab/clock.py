"""What time it is in a replay: in iterations, and with a model of time in nanoseconds too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from lab.costs import NS_A_SECOND, transfer_ns
from lab.errors import InputError
from lab.options import Options
from lab.records import Idle
from lab.values import MAX_NUMBER
from lab.workload import Limits, Request, place_of

NS_A_UNIT = {"ms": 1_000_000, "s": NS_A_SECOND}


class Clock:
    """Iterations from 1. Arrivals are iterations: one of r can join at `now` = r, which is when r + 1 starts.

    iteration: the last one that ran or was skipped
    now:       when the present iteration starts, in the unit of arrivals
    second:    a second in that unit, at least 1
    """

    timed = False

    def __init__(self, options: Options) -> None:
        self.iteration: int = 0
        self.now: int = 0
        self.second: int = max(1, math.floor(1000 / Fraction(repr(options.iteration_ms))))

    def moment(self, time: int | float) -> int:
        """`time`, as a trace writes it, in the unit of `now`."""
        return int(time)

    def skip_to(self, moment: int) -> Idle | None:
        """Let time pass until `moment`, since nothing runs and nothing waits; the iterations skipped, if any."""
        if moment <= self.iteration:
            return None
        idle = Idle(self.iteration + 1, moment)
        self.iteration = moment
        return idle

    def start(self) -> None:
        """The next iteration starts."""
        self.now = self.iteration
        self.iteration += 1

    def ran(self, tokens: int, kv_tokens: int, swapped_pages: int) -> None:
        """The present iteration has computed `tokens`, reading `kv_tokens` of KV, and swapped pages either way."""

    @property
    def end(self) -> int:
        """When the present iteration ends, in the unit of `now`."""
        return self.now + 1


class TimedIterations(Clock):
    """The same, with the time that iterations take told beside it; no decision looks at it.

    start_ns, duration_ns, gpu_ns: of the present iteration
    idle_ns: all the time until now in which nothing ran and nothing waited
    """

    timed = True

    def __init__(self, options: Options, limits: Limits) -> None:
        super().__init__(options)
        timing = options.timing
        assert timing is not None
        self._timing = timing
        self._kv_bytes = options.kv_bytes if options.kv_read else 0
        self._page_bytes = limits.page_size * options.kv_bytes
        self._swap_bandwidth = options.swap_bandwidth
        self._scheduler_ns = options.scheduler_us * 1000
        self._overlapped = options.async_scheduling
        self.start_ns: int = 0
        self.duration_ns: int = 0
        self.gpu_ns: int = 0
        self.idle_ns: int = 0

    def skip_to(self, moment: int) -> Idle | None:
        idle = super().skip_to(moment)
        if idle is not None:
            # Added to the last iteration's end, since the next one starts there.
            passed = (idle.last - idle.first + 1) * self._timing.floor_ns
            self.start_ns += passed
            self.idle_ns += passed
        return idle

    def start(self) -> None:
        super().start()
        self.start_ns += self.duration_ns

    def ran(self, tokens: int, kv_tokens: int, swapped_pages: int) -> None:
        gpu = self._timing.ns(tokens, kv_tokens * self._kv_bytes)
        if swapped_pages and self._swap_bandwidth is not None:
            gpu += transfer_ns(swapped_pages * self._page_bytes, self._swap_bandwidth)
        self.gpu_ns = gpu
        self.duration_ns = max(gpu, self._scheduler_ns) if self._overlapped else gpu + self._scheduler_ns


class RealTime(TimedIterations):
    """Arrivals are nanoseconds: a request joins in the first iteration that starts at or after its arrival."""

    def __init__(self, options: Options, limits: Limits, time_unit: str) -> None:
        super().__init__(options, limits)
        self.second = NS_A_SECOND
        self._unit = time_unit

    def moment(self, time: int | float) -> int:
        return nanoseconds(time, self._unit)

    def skip_to(self, moment: int) -> Idle | None:
        wait = moment - (self.start_ns + self.duration_ns)
        if wait > 0:
            self.start_ns += wait
            self.idle_ns += wait
        return None

    def start(self) -> None:
        self.iteration += 1
        self.start_ns += self.duration_ns
        self.now = self.start_ns

    @property
    def end(self) -> int:
        return self.start_ns + self.duration_ns


def nanoseconds(time: int | float, time_unit: str) -> int:
    """`time`, in ms or s, in nanoseconds, rounded up on the decimals as written."""
    # Through repr, since 0.07 s are 70 ms to whoever wrote them, and 70.00000000000001 to binary floats.
    return math.ceil(Fraction(repr(time)) * NS_A_UNIT[time_unit])


def clock_for(options: Options, limits: Limits, time_unit: str) -> Clock:
    """The clock that `options` ask for. InputError for arrivals in ms or s without a model of time."""
    if time_unit == "iteration":
        return Clock(options) if options.step_time is None else TimedIterations(options, limits)
    if options.step_time is None:
        raise InputError(
            f'must be "iteration" without step_time, not "{time_unit}"; convert the trace with in_iterations first, '
            "or name a step_time",
            field="time_unit",
        )
    return RealTime(options, limits, time_unit)


def moments_of(requests: Sequence[Request], clock: Clock) -> list[int]:
    """The arrival of each request in the clock's unit. InputError beyond 2**53 - 1."""
    moments = [clock.moment(request.arrival) for request in requests]
    for i, moment in enumerate(moments):
        if moment > MAX_NUMBER:
            raise InputError(
                "is more than 2**53 - 1 nanoseconds (104 days); arrivals count from the start of the trace",
                field="arrival",
                place=place_of(i, requests[i].id),
            )
    return moments
