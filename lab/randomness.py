"""Random numbers that are the same to the last bit on every platform, from a seed.

Whole numbers come from SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014),
in integer arithmetic. What needs a logarithm, an exponential or a root is computed with `decimal`, whose results are
correctly rounded by its specification. The C library's `log`, `exp` and `pow`, which differ in the last bit from one
platform to the next, are never called.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

MASK = 2**64 - 1
DECIMALS = Context(prec=20, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, traps=[])
"""The arithmetic in which samples are computed, whatever context the caller has set."""

_UNIT = Decimal(2**53)


class Random:
    """A stream of random numbers. Streams of one seed with different `stream` numbers do not meet."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        """seed, stream: integers >= 0."""
        self._state = seed & MASK
        self._state = self.bits() ^ (stream * 0xD1342543DE82EF95 & MASK)
        self._state = self.bits()

    def bits(self) -> int:
        """The next 64 random bits: an integer from 0 to 2**64 - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        z = self._state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def below(self, n: int) -> int:
        """An integer from 0 to n - 1, each equally likely; n from 1 to 2**64."""
        fair = MASK + 1 - (MASK + 1) % n  # beyond it the low numbers would come once more than the others
        while (drawn := self.bits()) >= fair:
            pass
        return drawn % n

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included, each equally likely."""
        return low + self.below(high - low + 1)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put `items` into a random order (Fisher and Yates), each order equally likely."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def exponential(self) -> Decimal:
        """A sample of the exponential distribution of mean 1: -ln(u), u uniform in (0, 1]."""
        uniform = DECIMALS.divide(Decimal((self.bits() >> 11) + 1), _UNIT)
        return DECIMALS.minus(DECIMALS.ln(uniform))

    def normal(self) -> Decimal:
        """A sample of the normal distribution of mean 0 and variance 1, by Marsaglia's polar method (1964)."""
        while True:
            u, v = self._signed(), self._signed()
            s = DECIMALS.fma(u, u, DECIMALS.multiply(v, v))
            if 0 < s < 1:
                spread = DECIMALS.divide(DECIMALS.multiply(Decimal(-2), DECIMALS.ln(s)), s)
                return DECIMALS.multiply(u, DECIMALS.sqrt(spread))

    def _signed(self) -> Decimal:
        """Uniform in (-1, 1), never 0."""
        odd = 2 * (self.bits() >> 11) + 1
        return DECIMALS.subtract(DECIMALS.divide(Decimal(odd), _UNIT), Decimal(1))
