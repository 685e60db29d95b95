"""Lengths and arrivals for the benchmarks, in whole numbers: quick to draw by the million, the same everywhere."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lab.randomness import Random

PARTS = 2**32


class Quantiles:
    """A distribution of whole numbers given by some of its quantiles, straight lines between them."""

    def __init__(self, *points: tuple[int, int]) -> None:
        """points: (hundredths of a percent, value), both rising, from (0, least) to (10000, most)."""
        self._marks = [mark * PARTS // 10_000 for mark, _ in points]
        self._values = [value for _, value in points]

    def draw(self, random: Random) -> int:
        """One value."""
        place = random.bits() >> 32
        at = bisect_right(self._marks, place) - 1
        mark, value = self._marks[at], self._values[at]
        return value + (self._values[at + 1] - value) * (place - mark) // (self._marks[at + 1] - mark)


CHAT_PROMPTS = Quantiles(
    *((0, 2), (500, 40), (2500, 380), (5000, 990), (7500, 1480), (9000, 2300), (9900, 4150), (10_000, 14_000)),
)
CHAT_OUTPUTS = Quantiles(
    *((0, 1), (500, 22), (2500, 78), (5000, 130), (7500, 300), (9000, 470), (9900, 700), (10_000, 1500)),
)
"""Of a conversation: most prompts of some hundred to two thousand tokens with a long tail, answers much shorter."""


def poisson(random: Random, count: int, span: int) -> Sequence[int]:
    """`count` arrivals of a Poisson process in order, whole numbers from 0 to span - 1.

    Given how many there are, the arrivals of a Poisson process are independent and uniform.
    """
    return sorted(random.bits() * span >> 64 for _ in range(count))
