"""The queue of requests that wait, and views of it that cost little to keep."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar, overload

PREEMPTED = -1


class Ordered(Protocol):
    """Anything with an id and a place in the order of arrival.

    rank, sample: its request's place in the order of (arrival, position), and its own among that request's
    place:        the queue's own note of where it waits
    """

    id: str
    rank: int
    sample: int
    place: int


Item = TypeVar("Item", bound=Ordered)


class WaitingView(Sequence[str]):
    """The ids that waited at one moment. Equal to any tuple or list of the same ids.

    It shares the queue's log of arrivals, so that a record costs the same with 10 or with 10,000 waiting.
    """

    __slots__ = ("_head", "_left", "_log", "_missing", "_removals", "_start", "_stop")

    def __init__(
        self,
        head: tuple[str, ...],
        log: list[str],
        start: int,
        stop: int,
        left: dict[int, int],
        removals: int,
        missing: int,
    ) -> None:
        self._head = head
        self._log = log
        self._start = start
        self._stop = stop
        self._left = left
        self._removals = removals
        self._missing = missing

    def __len__(self) -> int:
        return len(self._head) + self._stop - self._start - self._missing

    def __iter__(self) -> Iterator[str]:
        yield from self._head
        if not self._missing:
            yield from self._log[self._start : self._stop]
            return
        for place in range(self._start, self._stop):
            if self._left.get(place, self._removals) >= self._removals:
                yield self._log[place]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WaitingView | tuple | list):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class WaitingQueue(Generic[Item]):
    """First come, first served; who was preempted comes before all that never ran, in order of arrival.

    Costs the same at any length: arriving, taking the head, and leaving from the middle.
    """

    __slots__ = ("_first", "_items", "_left", "_log", "_missing", "_removals", "_returned")

    def __init__(self) -> None:
        self._returned: list[Item] = []  # who was preempted, the head last
        self._items: deque[Item] = deque()  # who never ran; some may have left, but not the first of them
        self._log: list[str] = []  # the ids of all that ever arrived; the last of them are those of `_items`
        self._first: int = 0  # where in the log the first of `_items` is
        self._left: dict[int, int] = {}  # of those that left from the middle: place in the log, which removal it was
        self._removals: int = 0
        self._missing: int = 0  # how many of `_items` have left

    def __len__(self) -> int:
        return len(self._returned) + len(self._items) - self._missing

    @property
    def head(self) -> Item:
        """The next to be admitted. IndexError if nobody waits."""
        return self._returned[-1] if self._returned else self._items[0]

    @property
    def returned(self) -> Sequence[Item]:
        """Those that were preempted, in whatever order."""
        return self._returned

    def arrive(self, item: Item) -> None:
        """`item` joins the tail."""
        item.place = len(self._log)
        self._items.append(item)
        self._log.append(item.id)

    def put_back(self, item: Item) -> None:
        """`item`, which was preempted, joins those that were before, in order of arrival (of equals, in front)."""
        item.place = PREEMPTED
        insort(self._returned, item, key=_backwards)

    def take(self) -> Item:
        """Remove and return the head. IndexError if nobody waits."""
        if self._returned:
            return self._returned.pop()
        item = self._items.popleft()
        self._first += 1
        if self._missing:
            self._skip()
        return item

    def remove(self, item: Item) -> None:
        """`item`, which waits, leaves from wherever it is."""
        if item.place == PREEMPTED:
            self._returned.remove(item)
            return
        self._left[item.place] = self._removals
        self._removals += 1
        self._missing += 1
        self._skip()

    def _skip(self) -> None:
        """Drop those that have left from the front."""
        while self._items and self._first in self._left:
            self._items.popleft()
            self._first += 1
            self._missing -= 1

    def view(self) -> WaitingView:
        """The ids that wait now; later changes do not show in it."""
        head = tuple([item.id for item in reversed(self._returned)]) if self._returned else ()
        return WaitingView(head, self._log, self._first, len(self._log), self._left, self._removals, self._missing)


def _backwards(item: Ordered) -> tuple[int, int]:
    return (-item.rank, -item.sample)
