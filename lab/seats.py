"""Seats: as many sequences as can be resident at once."""

from __future__ import annotations

import heapq


class Seats:
    """Seats 0 ... count - 1, of which the lowest free one is taken first. A huge count costs nothing."""

    __slots__ = ("_given_back", "_used", "free")

    def __init__(self, count: int) -> None:
        self.free: int = count
        self._given_back: list[int] = []  # a heap; all below `_used`
        self._used: int = 0  # seats that were ever taken

    def take(self) -> int:
        """Take the lowest free seat. ValueError if there is none."""
        if self.free < 1:
            raise ValueError("no seat is free")
        self.free -= 1
        if self._given_back:
            return heapq.heappop(self._given_back)
        self._used += 1
        return self._used - 1

    def give_back(self, seat: int) -> None:
        """Free `seat`, which was taken."""
        self.free += 1
        heapq.heappush(self._given_back, seat)
