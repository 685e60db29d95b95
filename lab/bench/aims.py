"""What the core is to reach, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lab.bench.plan import (
    CHROMIUM_COMPILED,
    COMPILED,
    CONVERSATION,
    CORNERS,
    NODE_COMPILED,
    PURE,
    SIZES,
    TOKENS,
)
from lab.bench.results import Measured, Results

WASM_TO_NATIVE = 1.5
NATIVE_NS = 15
TIMES_PURE = 25
CONVERSATION_S, CONVERSATION_CHROMIUM_S = 0.25, 0.5
MILLION_MB = 1000
FLAT = 2


@dataclass(frozen=True, slots=True)
class Aim:
    """An aim and what was measured: `met`, or not. `value` is None where it was not measured."""

    text: str
    value: float | None
    bound: float
    at_least: bool = False
    unit: str = ""
    where: str = ""

    @property
    def met(self) -> bool | None:
        """Whether it is met; None if it was not measured."""
        if self.value is None:
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def aims(results: Results) -> list[Aim]:
    """Each aim with the worst that was measured for it: times by medians, ratios by the quickest rounds.

    Whatever else a machine does makes a round slower, and never quicker; in a ratio it may fall on one side alone.
    """
    return [
        _worst(f"wasm loop ≤ {WASM_TO_NATIVE} × native loop (Node)", _times(results, NODE_COMPILED), WASM_TO_NATIVE),
        _worst(
            f"wasm loop ≤ {WASM_TO_NATIVE} × native loop (Chromium)", _times(results, CHROMIUM_COMPILED), WASM_TO_NATIVE
        ),
        _worst(
            f"native loop ≤ {NATIVE_NS} ns a token",
            ((one.a("token")[0], one.workload) for one in results.of(TOKENS, way="loop", worker=COMPILED)),
            NATIVE_NS,
            unit=" ns",
        ),
        _worst(
            f"native loop ≥ {TIMES_PURE} × faster than pure",
            ((1 / ratio, where) for ratio, where in _times(results, COMPILED, PURE)),
            TIMES_PURE,
            at_least=True,
        ),
        _seconds(results, "native", COMPILED, CONVERSATION_S),
        _seconds(results, "in Chromium", CHROMIUM_COMPILED, CONVERSATION_CHROMIUM_S),
        _worst(
            f"10⁶ requests ≤ {MILLION_MB} MB (metrics)",
            ((max(one.peak_mb), f"{one.worker}, {one.policy}") for one in results.of(SIZES, n=1_000_000)),
            MILLION_MB,
            unit=" MB",
        ),
        _worst(
            f"time a request flat within {FLAT} ×, 10³ to 10⁶ requests",
            ((unevenness(series), f"{series[0].policy}, {series[0].worker}") for series, _ in growths(results, SIZES)),
            FLAT,
        ),
        _worst(
            f"no quadratic corner: at 16 n a request takes ≤ {FLAT} × that at n",
            (
                (growth, f"{one.workload}, {one.policy}, {one.way}, {one.worker}")
                for (one, *_), growth in growths(results, CORNERS)
            ),
            FLAT,
        ),
    ]


def _worst(
    text: str, values: Iterator[tuple[float, str]], bound: float, at_least: bool = False, unit: str = " ×"
) -> Aim:
    choose: Callable[..., tuple[float, str]] = min if at_least else max
    value, where = choose(values, default=(None, ""))
    return Aim(text, value, bound, at_least, unit, where)


def _times(results: Results, worker: str, of: str = COMPILED) -> Iterator[tuple[float, str]]:
    """How much longer the loop takes in `worker` than in `of`."""
    for one in results.of(TOKENS, way="loop", worker=worker):
        for other in results.of(TOKENS, one.workload, one.n, one.policy, "loop", of):
            yield quickest(one) / quickest(other), one.workload


def _seconds(results: Results, where: str, worker: str, bound: float) -> Aim:
    found = ((one.a("run")[0], one.policy) for one in results.of(CONVERSATION, way="spans", worker=worker))
    return _worst(f"conversation ≤ {bound} s {where}", found, bound, unit=" s")


def growths(results: Results, section: str) -> Iterator[tuple[list[Measured], float]]:
    """The same case at all its sizes, and the longest time a request over that at the smallest size."""
    series: dict[tuple[str, str, str, str], list[Measured]] = {}
    for one in results.of(section):
        series.setdefault((one.workload, one.policy, one.way, one.worker), []).append(one)
    for measured in series.values():
        ordered = sorted(measured, key=lambda one: one.n)
        first, *others = [quickest(one) for one in ordered]
        yield ordered, max(others, default=first) / first


def quickest(one: Measured) -> float:
    """Microseconds a request in the quickest round."""
    return one.a("request")[1]


def unevenness(series: Sequence[Measured]) -> float:
    """The longest time a request over the shortest."""
    times = [quickest(one) for one in series]
    return max(times) / min(times)
