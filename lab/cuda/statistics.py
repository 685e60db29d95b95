"""Median and spread of repeated measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and the 10th and 90th percentile of measured times, in ms."""

    median: float
    p10: float
    p90: float

    def to_dict(self) -> dict[str, float]:
        """As plain JSON data, to a tenth of a nanosecond."""
        return {"median": round(self.median, 7), "p10": round(self.p10, 7), "p90": round(self.p90, 7)}


def percentile(values: Sequence[float], q: float) -> float:
    """The value at fraction `q` of `values`, between neighbours in proportion. ValueError without values."""
    if not values:
        raise ValueError("no values to take a percentile of")
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low, high = math.floor(at), math.ceil(at)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def spread(values: Sequence[float]) -> Spread:
    """Median, p10 and p90 of `values`."""
    return Spread(percentile(values, 0.5), percentile(values, 0.1), percentile(values, 0.9))
