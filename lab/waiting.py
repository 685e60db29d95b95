"""The queue of requests that wait, and views of it that cost little to keep."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar, overload


class Named(Protocol):
    """Anything with an id."""

    id: str


Item = TypeVar("Item", bound=Named)


class WaitingView(Sequence[str]):
    """The ids that waited at one moment. Equal to any tuple or list of the same ids.

    It shares the queue's log of arrivals, so that a record costs the same with 10 or with 10,000 waiting.
    """

    __slots__ = ("_head", "_log", "_start", "_stop")

    def __init__(self, head: tuple[str, ...], log: list[str], start: int, stop: int) -> None:
        self._head = head
        self._log = log
        self._start = start
        self._stop = stop

    def __len__(self) -> int:
        return len(self._head) + self._stop - self._start

    def __iter__(self) -> Iterator[str]:
        yield from self._head
        yield from self._log[self._start : self._stop]

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
    """First come, first served; a preempted request goes back to the head. Costs the same at any length."""

    __slots__ = ("_items", "_log", "_returned")

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._log: list[str] = []  # the ids of all that ever arrived; the last of them are those still waiting
        self._returned = 0  # how many at the head were preempted

    def __len__(self) -> int:
        return len(self._items)

    @property
    def head(self) -> Item:
        """The next to be admitted. IndexError if nobody waits."""
        return self._items[0]

    def arrive(self, item: Item) -> None:
        """`item` joins the tail."""
        self._items.append(item)
        self._log.append(item.id)

    def put_back(self, item: Item) -> None:
        """`item`, which was preempted, goes to the head."""
        self._items.appendleft(item)
        self._returned += 1

    def take(self) -> Item:
        """Remove and return the head. IndexError if nobody waits."""
        item = self._items.popleft()
        if self._returned:
            self._returned -= 1
        return item

    def view(self) -> WaitingView:
        """The ids that wait now; later changes do not show in it."""
        head = tuple(self._items[i].id for i in range(self._returned))
        stop = len(self._log)
        return WaitingView(head, self._log, stop - (len(self._items) - self._returned), stop)
