"""Many values and what is said of them: mean, percentiles by one rule, histogram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

Number = TypeVar("Number", int, float)

NS_A_MS = 1_000_000


def percentile(ordered: Sequence[Number], thousandths: int) -> Number:
    """The lower order statistic of values in ascending order: ``ordered[floor(q (n - 1))]``; 0 for no values.

    thousandths: 1000 q, such as 950 for P95
    """
    return ordered[thousandths * (len(ordered) - 1) // 1000] if ordered else 0


class Distribution:
    """Times in nanoseconds, each counted rather than kept, since many are alike."""

    def __init__(self) -> None:
        self._counts: dict[int | float, int] = {}

    def add(self, values: Iterable[int | float]) -> None:
        """Count `values`."""
        counts = self._counts
        for value in values:
            counts[value] = counts.get(value, 0) + 1

    def figures(self) -> dict[str, int | float]:
        """In milliseconds: ``count``, ``mean``, ``p50``, ``p95``, ``p99``, ``p999``, ``max``; 0 without values."""
        count = sum(self._counts.values())
        total = sum(value * times for value, times in self._counts.items())
        ordered = sorted(self._counts)
        return {
            "count": count,
            "mean": total / count / NS_A_MS if count else 0.0,
            **{f"p{name}": self._at(ordered, count, q) / NS_A_MS for name, q in _PERCENTILES.items()},
            "max": ordered[-1] / NS_A_MS if ordered else 0.0,
        }

    def _at(self, ordered: Sequence[int | float], count: int, thousandths: int) -> int | float:
        """`percentile` of the values, from their counts."""
        before = thousandths * (count - 1) // 1000
        for value in ordered:
            before -= self._counts[value]
            if before < 0:
                return value
        return 0

    def histogram(self) -> list[list[int | float]]:
        """``[from, to, count]`` a bin, in milliseconds: from <= value < to, from the first bin in use to the last.

        The edges are 1, 2 and 5 of each decade.
        """
        bins: dict[int, int] = {}
        for value, times in self._counts.items():
            place = _bin_of(value)
            bins[place] = bins.get(place, 0) + times
        if not bins:
            return []
        return [
            [_edge(place) / NS_A_MS, _edge(place + 1) / NS_A_MS, bins.get(place, 0)]
            for place in range(min(bins), max(bins) + 1)
        ]


_PERCENTILES = {"50": 500, "95": 950, "99": 990, "999": 999}


def _edge(place: int) -> int:
    """Edge number `place` in nanoseconds: 1, 2, 5, 10, 20, …"""
    decade, step = divmod(place, 3)
    return (1, 2, 5)[step] * 10**decade


def _bin_of(value: int | float) -> int:
    """The number of the edge that `value`, 1 or more, is at or above."""
    decade = len(str(int(value))) - 1
    return 3 * decade + (2 if value >= 5 * 10**decade else 1 if value >= 2 * 10**decade else 0)
