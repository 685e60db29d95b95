"""Slabs: each sequence holds one run of consecutive pages, taken from a free list that fragments."""

from __future__ import annotations

from collections.abc import Sequence

from lab.free_runs import FreeRuns


class SlabPool:
    """Pages 0 ... num_pages - 1, given out in runs by first fit: the lowest free run that is long enough.

    What is released joins its free neighbours. Pages are counted and sharing refused as by `lab.blocks.BlockManager`.
    """

    __slots__ = ("_runs", "_taken", "num_pages", "used")

    def __init__(self, num_pages: int) -> None:
        self.num_pages: int = num_pages
        self.used: int = 0
        self._runs = FreeRuns(num_pages)
        self._taken: dict[int, int] = {}  # first page and length of each slab that is held

    @property
    def free(self) -> int:
        """How many pages are free, in whatever runs."""
        return self.num_pages - self.used

    @property
    def longest(self) -> int:
        """The length of the longest free run, in pages."""
        return self._runs.longest

    def fits(self, count: int) -> bool:
        """Whether one free run has `count` pages."""
        return self._runs.fits(count)

    def allocate(self, count: int) -> list[int]:
        """Take a run of `count` pages, one or more. ValueError, and nothing taken, if no free run is long enough."""
        if count < 1:
            raise ValueError(f"a slab has one page or more, not {count}")
        if not self._runs.fits(count):
            raise ValueError(f"cannot take {count} pages in a row: the longest free run has {self.longest}")
        start = self._runs.take(count)
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
        self._runs.give(start, length)

    def growth(self, table: Sequence[int], stored: int) -> int:
        """Pages that one more token takes: none, since a slab has room for all of its sequence."""
        return 0

    def append(self, table: tuple[int, ...], stored: int) -> tuple[int, ...]:
        """`table` as it is, for the same reason."""
        return table
