"""Free runs of pages, in order, in which first fit is quick although there are many."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

MOST = 512
"""Runs in a part before it is split in two."""


class FreeRuns:
    """Runs of consecutive free pages that do not touch, ascending.

    They lie in parts of at most MOST, each with the length of its longest, so that looking for one and putting one
    back cost the parts and one of them: far less than all the runs, of which there may be 100,000.
    """

    __slots__ = ("_firsts", "_lengths", "_longest", "_starts")

    def __init__(self, length: int) -> None:
        """One run of `length` pages from 0."""
        self._starts: list[list[int]] = [[0]]  # of each part
        self._lengths: list[list[int]] = [[length]]
        self._firsts: list[int] = [0]  # the first start of each part
        self._longest: list[int] = [length]  # of each part

    @property
    def longest(self) -> int:
        """The length of the longest run, in pages; 0 without any."""
        return max(self._longest, default=0)

    def fits(self, count: int) -> bool:
        """Whether one run has `count` pages."""
        return any(length >= count for length in self._longest)

    def take(self, count: int) -> int:
        """Take the first `count` pages of the lowest run that has as many; returns the first. One must."""
        part = next(i for i, length in enumerate(self._longest) if length >= count)
        starts, lengths = self._starts[part], self._lengths[part]
        i = next(i for i, length in enumerate(lengths) if length >= count)
        start = starts[i]
        if lengths[i] == count:
            self._remove(part, i)
        else:
            starts[i] += count
            lengths[i] -= count
            self._note(part)
        return start

    def give(self, start: int, length: int) -> None:
        """Put `length` pages from `start`, none of which is free, back; they join the runs that they touch."""
        part = max(0, bisect_right(self._firsts, start) - 1)
        i = bisect_left(self._starts[part], start) if self._starts else 0
        after = self._at(part, i)
        touches_after = after is not None and self._starts[after[0]][after[1]] == start + length
        if i > 0 and self._starts[part][i - 1] + self._lengths[part][i - 1] == start:
            if touches_after and after is not None:
                length += self._lengths[after[0]][after[1]]
                self._remove(*after)
            self._lengths[part][i - 1] += length
            self._note(part)
        elif touches_after and after is not None:
            part, i = after
            self._starts[part][i] = start
            self._lengths[part][i] += length
            self._note(part)
        else:
            self._insert(part, i, start, length)

    def _at(self, part: int, i: int) -> tuple[int, int] | None:
        """Where run `i` of a part is, which may be the first of the next part; None if there is none."""
        if part < len(self._starts) and i < len(self._starts[part]):
            return part, i
        return (part + 1, 0) if part + 1 < len(self._starts) else None

    def _insert(self, part: int, i: int, start: int, length: int) -> None:
        if not self._starts:
            for of_parts in (self._starts, self._lengths):
                of_parts.append([])
            self._firsts.append(start)
            self._longest.append(length)
        self._starts[part].insert(i, start)
        self._lengths[part].insert(i, length)
        if len(self._starts[part]) > MOST:
            for of_parts in (self._starts, self._lengths):
                of_parts.insert(part + 1, of_parts[part][MOST // 2 :])
                del of_parts[part][MOST // 2 :]
            self._firsts.insert(part + 1, 0)
            self._longest.insert(part + 1, 0)
            self._note(part + 1)
        self._note(part)

    def _remove(self, part: int, i: int) -> None:
        del self._starts[part][i], self._lengths[part][i]
        if self._starts[part]:
            self._note(part)
        else:
            del self._starts[part], self._lengths[part], self._firsts[part], self._longest[part]

    def _note(self, part: int) -> None:
        """A part has changed."""
        self._firsts[part] = self._starts[part][0]
        self._longest[part] = max(self._lengths[part])
