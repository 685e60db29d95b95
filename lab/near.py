"""Searches near a trace for one with a property: "such that continuous preempts at least once", and the like.

A goal is plain JSON data: ``{"figure": F, "of": WHO, "at_least": N}`` or the same with ``at_most``, where

F    is a figure of `lab.teaches.FIGURES`, or ``gate_seats``, ``gate_tokens``, ``gate_pages``, ``gate_batch``: the
     iterations in which the head of the queue was held back by that gate
WHO  is ``static``, ``continuous``, ``static - continuous`` (by how much static's figure is larger) or
     ``continuous - static``
N    is a number from -(2**53 - 1) to 2**53 - 1; a utilization is from 0 to 1

The search changes arrivals, prompt_tokens and output_tokens, never limits, options, ids or how many requests there are.
It climbs: whatever comes closer to the goal is where it goes on, and when it is stuck it starts again from the trace
itself with larger steps. Once the goal is met, it takes back the changes that the goal does not need, one by one. All
of it follows from trace, goal and seed, however the work is cut into slices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lab.errors import InputError
from lab.figures import TooLongError, figures
from lab.formats.trace_json import in_iterations
from lab.policies import POLICIES
from lab.randomness import Random
from lab.teaches import FIGURES, GATES, figure
from lab.values import MAX_NUMBER, check_choice, shown
from lab.workload import Request, Trace

MOST_TRIES = 3_000
"""Replays that a search makes before it gives up, and beyond which it stops taking changes back."""

MOST_ITERATIONS = 20_000
"""A candidate whose replay is longer is no candidate: no page draws it."""

STUCK = 40
"""Tries without getting closer, after which the search starts again with larger steps."""

FIGURE_NAMES = (*(name for name, _, _ in FIGURES), *(f"gate_{gate}" for gate in GATES))
WHO = ("static", "continuous", "static - continuous", "continuous - static")
VARIED = ("arrival", "prompt_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Goal:
    """A checked goal: `value(...)` of a replay must be at least, or at most, `bound`."""

    figure: str
    of: str
    at_least: bool
    bound: int | float

    def value(self, figures: Mapping[str, Mapping[str, int | float]]) -> int | float:
        """What the goal is about, from ``{policy: {figure: number}}``."""
        first, _, second = self.of.partition(" - ")
        value = figures[first][self.figure]
        return value - figures[second][self.figure] if second else value

    def shortfall(self, value: int | float) -> int | float:
        """How much is missing to the goal; 0 when it is met."""
        return max(0, self.bound - value if self.at_least else value - self.bound)


def goal_from(value: object) -> Goal:
    """The goal in plain JSON data. Raises InputError naming the field."""
    if not isinstance(value, dict):
        raise InputError(f"must be an object, not {shown(value)}; write {{...}}", field="goal")
    name = check_choice(value.get("figure"), "goal.figure", FIGURE_NAMES)
    of = check_choice(value.get("of"), "goal.of", WHO)
    bounds = [key for key in ("at_least", "at_most") if key in value]
    if len(bounds) != 1 or len(value) != 3:
        raise InputError("has figure, of, and one of at_least and at_most, and nothing else", field="goal")
    bound = value[bounds[0]]
    number = type(bound) is int or (type(bound) is float and math.isfinite(bound))
    if not number or abs(bound) > MAX_NUMBER:
        problem = f"must be a number of at most 2**53 - 1, not {shown(bound)}; such as 1"
        raise InputError(problem, field=f"goal.{bounds[0]}")
    return Goal(name, of, bounds[0] == "at_least", bound)


def figures_of(trace: Trace) -> dict[str, dict[str, int | float]] | None:
    """``{policy: {figure: number}}`` of a replay of `trace`; None if it takes more than MOST_ITERATIONS."""
    if trace.time_unit != "iteration" and trace.options.step_time is None:
        trace = in_iterations(trace, trace.options.iteration_ms)
    options, unit = trace.options, trace.time_unit
    found: dict[str, dict[str, int | float]] = {}
    for policy in POLICIES:
        try:
            played = figures(
                *(trace.requests, trace.limits, policy),
                options=options,
                time_unit=unit,
                most=MOST_ITERATIONS,
                checked=True,
            )
        except TooLongError:
            return None
        gates = {f"gate_{gate}": 0 for gate in GATES} | {f"gate_{gate}": n for gate, n in played.gates.items()}
        found[policy] = {name: figure(played.metrics, name) for name, _, _ in FIGURES} | gates
    return found


def _with(request: Request, field: str, value: int | float) -> Request:
    changes: dict[str, Any] = {field: value}
    return replace(request, **changes)


@dataclass(frozen=True, slots=True)
class _Tried:
    """A trace, what the goal says of it, and the pressure that breaks ties."""

    trace: Trace
    value: int | float
    missing: int | float
    tie: float


class Search:
    """One search. `step` makes one replay; `done` says that there is nothing left to do.

    found: the nearest trace so far that meets the goal, or None
    best:  the value that came closest to the goal
    tried: replays made
    """

    def __init__(self, trace: Trace, goal: Goal, seed: int) -> None:
        """Arrivals in ms or s are brought to iterations. Raises InputError when the trace is too long to replay."""
        self.goal = goal
        timed = trace.options.step_time is not None  # then they are simulated as they are
        self.origin = trace if timed else in_iterations(trace, trace.options.iteration_ms)
        self.tried = 0
        self.found: Trace | None = None
        self.done = False
        self._random = Random(seed)
        self._radius = 1
        self._failures = 0
        self._takings: list[tuple[int, str]] = []
        first = self._try(self.origin)
        if first is None:
            raise InputError(f"makes a replay of more than {MOST_ITERATIONS} iterations; shorten it", field="trace")
        self._first = self._current = first
        self.best = first.value
        self._nearest = first.missing
        self._rejected = {policy: figures["rejected"] for policy, figures in self._figures.items()}
        if not first.missing:
            self.found = self.origin
            self.done = True
        elif not self.origin.requests:
            self.done = True

    def step(self) -> None:
        """One more replay."""
        if self.done:
            return
        if self.found is None:
            self._climb()
        else:
            self._take_back()
        if self.tried >= MOST_TRIES:
            self.done = True

    def _try(self, trace: Trace) -> _Tried | None:
        self.tried += 1
        figures = figures_of(trace)
        if figures is None:
            return None
        self._figures = figures
        value = self.goal.value(figures)
        return _Tried(trace, value, self.goal.shortfall(value), self._tie(figures))

    def _tie(self, figures: Mapping[str, Mapping[str, int | float]]) -> float:
        """Lower is closer, among traces that miss the goal by the same. A figure that is 0 gives no hint of how far
        off its first count is: a fuller pool is closer to a preemption, longer waits are closer to a closed gate."""
        of_the_pool = ("preemptions", "gate_pages", "peak_pages", "rejected", "completed")
        hint = "peak_pages" if self.goal.figure in of_the_pool else "wait_mean"
        pressure = figures[self.goal.of.partition(" - ")[0]][hint]
        return -pressure if self.goal.at_least else pressure

    def _climb(self) -> None:
        tried = self._try(self._changed(self._current.trace))
        if tried is not None and self._turns_more_away():
            tried = None
        closer = tried is not None and (tried.missing, tried.tie) < (self._current.missing, self._current.tie)
        if tried is None or not closer:
            self._failures += 1
            if self._failures >= STUCK:
                self._failures = 0
                self._radius *= 2
                self._current = self._first
            return
        self._failures = 0
        self._current = tried
        if tried.missing < self._nearest:
            self._nearest, self.best = tried.missing, tried.value
        if not tried.missing:
            self.found = tried.trace
            self._takings = self._differences(tried.trace)

    def _turns_more_away(self) -> bool:
        """Whether fewer can be served than before. It meets many a goal and teaches nothing."""
        if self.goal.figure in ("rejected", "completed"):
            return False
        return any(self._figures[policy]["rejected"] > count for policy, count in self._rejected.items())

    def _changed(self, trace: Trace) -> Trace:
        """`trace` with one to three values changed, by steps in proportion to the values and the radius."""
        requests = list(trace.requests)
        for _ in range(self._random.between(1, 3)):
            row = self._random.below(len(requests))
            field = VARIED[self._random.below(len(VARIED))]
            requests[row] = _with(requests[row], field, self._moved(requests[row], field))
        return replace(trace, requests=tuple(requests))

    def _moved(self, request: Request, field: str) -> int:
        old = int(getattr(request, field))
        # An arrival has no size of its own: it moves in proportion to how long the request runs.
        size = request.output_tokens if field == "arrival" else old
        most = min(max(1, size * self._radius // 4) + self._radius, MAX_NUMBER)
        step = self._random.between(1, most)
        least, last = (0, request.cancel_at) if field == "arrival" else (1, None)  # nobody leaves before arriving
        moved = max(least, old + step if self._random.below(2) else old - step)
        return min(moved, MAX_NUMBER if last is None else int(last))

    def _differences(self, trace: Trace) -> list[tuple[int, str]]:
        """The values in which `trace` differs from the origin."""
        return [
            (row, field)
            for row, (mine, theirs) in enumerate(zip(trace.requests, self.origin.requests, strict=True))
            for field in VARIED
            if getattr(mine, field) != getattr(theirs, field)
        ]

    def _take_back(self) -> None:
        """Put one changed value back, or half of the way back, if the goal stays met."""
        assert self.found is not None
        if not self._takings:
            self.done = True
            return
        row, field = self._takings.pop(0)
        mine, theirs = (getattr(trace.requests[row], field) for trace in (self.found, self.origin))
        for value in dict.fromkeys((theirs, theirs + int((mine - theirs) / 2))):
            requests = list(self.found.requests)
            requests[row] = _with(requests[row], field, value)
            tried = self._try(replace(self.found, requests=tuple(requests)))
            if tried is not None and not tried.missing and not self._turns_more_away():
                self.found = tried.trace
                self.best = tried.value
                if value != theirs:
                    self._takings.append((row, field))
                return
