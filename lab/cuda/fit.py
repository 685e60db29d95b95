"""Fits the model of a step's time, max(floor, tokens x cost), to measured steps.

The same model as `lab.costs.StepTime`, there from data sheets and here from measurements: below the knee a step takes
as long as reading the weights does, however many tokens it computes, so a full batch is nearly free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CLEARLY_ABOVE = 1.05
"""The largest measured step must take this many times the floor before the slope counts as seen."""


@dataclass(frozen=True, slots=True)
class Fit:
    """max(floor_ms, tokens x token_ms).

    token_ms:    None when no measured step was long enough to tell: then it is at most `token_ms_at_most`
    worst_error: largest |model - measured| / measured
    """

    floor_ms: float
    token_ms: float | None
    token_ms_at_most: float
    worst_error: float

    def ms(self, tokens: int) -> float:
        """What the model says that a step of `tokens` tokens takes."""
        return max(self.floor_ms, tokens * (self.token_ms or 0.0))

    @property
    def knee(self) -> float | None:
        """The batch size at which a further token begins to cost; None where it was not reached."""
        return None if self.token_ms is None else self.floor_ms / self.token_ms

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "model": "max(floor_ms, tokens * token_ms)",
            "floor_ms": self.floor_ms,
            "token_ms": self.token_ms,
            "token_ms_at_most": self.token_ms_at_most,
            "knee_tokens": self.knee,
            "worst_error": self.worst_error,
        }


def fit(points: Sequence[tuple[int, float]]) -> Fit:
    """The model nearest to `points`, (tokens, ms) of measured steps, in relative least squares.

    Every way to part the points, ordered by tokens, into those on the floor and those on the slope is tried.
    ValueError without points, or if one is not above 0.
    """
    if not points or any(tokens < 1 or ms <= 0 for tokens, ms in points):
        raise ValueError("a fit needs points, with at least one token and a time above 0 each")
    ordered = sorted(points)
    at_most = min(ms / tokens for tokens, ms in ordered)
    best: tuple[float, Fit] | None = None
    for on_floor in range(1, len(ordered) + 1):
        floor = _least_squares([(1.0, ms) for _, ms in ordered[:on_floor]])
        slope = _least_squares([(float(tokens), ms) for tokens, ms in ordered[on_floor:]])
        if slope is not None and ordered[-1][0] * slope < CLEARLY_ABOVE * floor:
            continue  # a slope that starts where the measured steps end is a guess
        model = Fit(floor, slope, at_most, 0.0)
        errors = [model.ms(tokens) / ms - 1 for tokens, ms in ordered]
        total = sum(error * error for error in errors)
        if best is None or total < best[0] - 1e-12:
            best = (total, Fit(floor, slope, at_most, max(map(abs, errors))))
    assert best is not None
    return best[1]


def _least_squares(points: Sequence[tuple[float, float]]) -> Any:
    """The c that makes sum((c x / y - 1)^2) least; None without points."""
    if not points:
        return None
    return sum(x / y for x, y in points) / sum((x / y) ** 2 for x, y in points)
