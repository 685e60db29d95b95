"""Slabs: each sequence holds one run of consecutive pages, taken from a free list that fragments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class SlabPool:
    """Pages 0 ... num_pages - 1, given out in runs by first fit: the lowest free run that is long enough.

    What is released joins its free neighbours. Costs are in proportion to the free runs, of which there is at most
    one more than slabs are held. Pages are counted and sharing refused as by `lab.blocks.BlockManager`.
    """

    __slots__ = ("_lengths", "_starts", "_taken", "num_pages", "used")

    def __init__(self, num_pages: int) -> None:
        self.num_pages: int = num_pages
        self.used: int = 0
        self._starts: list[int] = [0]  # of the free runs, ascending
        self._lengths: list[int] = [num_pages]
        self._taken: dict[int, int] = {}  # first page and length of each slab that is held

    @property
    def free(self) -> int:
        """How many pages are free, in whatever runs."""
        return self.num_pages - self.used

    @property
    def longest(self) -> int:
        """The length of the longest free run, in pages."""
        return max(self._lengths, default=0)

    def fits(self, count: int) -> bool:
        """Whether one free run has `count` pages."""
        return any(length >= count for length in self._lengths)

    def allocate(self, count: int) -> list[int]:
        """Take a run of `count` pages, one or more. ValueError, and nothing taken, if no free run is long enough."""
        if count < 1:
            raise ValueError(f"a slab has one page or more, not {count}")
        i = next((i for i, length in enumerate(self._lengths) if length >= count), None)
        if i is None:
            raise ValueError(f"cannot take {count} pages in a row: the longest free run has {self.longest}")
        start = self._starts[i]
        if self._lengths[i] == count:
            del self._starts[i], self._lengths[i]
        else:
            self._starts[i] += count
            self._lengths[i] -= count
        self._taken[start] = count
        self.used += count
        return list(range(start, start + count))

    def release(self, pages: Sequence[int]) -> None:
        """Give a whole slab back. ValueError, and nothing freed, if `pages` are not one that is held."""
        start = pages[0] if pages else -1
        if self._taken.get(start) != len(pages) or pages[-1] != start + len(pages) - 1:
            raise ValueError(f"pages {list(pages)} are not a slab that is held, so they cannot be given back")
        length = self._taken.pop(start)
        self.used -= length
        i = bisect_left(self._starts, start)
        if i < len(self._starts) and self._starts[i] == start + length:
            length += self._lengths[i]
            del self._starts[i], self._lengths[i]
        if i > 0 and self._starts[i - 1] + self._lengths[i - 1] == start:
            self._lengths[i - 1] += length
        else:
            self._starts.insert(i, start)
            self._lengths.insert(i, length)

    def growth(self, table: Sequence[int], stored: int) -> int:
        """Pages that one more token takes: none, since a slab has room for all of its sequence."""
        return 0

    def append(self, table: tuple[int, ...], stored: int) -> tuple[int, ...]:
        """`table` as it is, for the same reason."""
        return table
