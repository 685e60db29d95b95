"""Pages of KV memory: how many a request needs, and the pool that they come from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable


def pages_for(tokens: int, page_size: int) -> int:
    """Pages that hold `tokens` tokens at `page_size` tokens a page: ceil(tokens / page_size), in integers.

    Raises ValueError if tokens < 0 or page_size < 1.
    """
    if tokens < 0 or page_size < 1:
        raise ValueError(f"pages_for needs tokens >= 0 and page_size >= 1, not {tokens} and {page_size}")
    return -(-tokens // page_size)


class PagePool:
    """Pages 0 ... num_pages - 1. Free pages form a first-in first-out queue; released ones join its tail.

    Pages that were never taken are kept as a count, not a list, so a huge pool costs nothing: they are in
    front of every released page, in order.
    """

    __slots__ = ("_fresh", "_held", "_returned", "num_pages")

    def __init__(self, num_pages: int) -> None:
        self.num_pages = num_pages
        self._fresh = 0
        self._returned: deque[int] = deque()
        self._held: set[int] = set()

    @property
    def free(self) -> int:
        """How many pages can be taken."""
        return self.num_pages - len(self._held)

    @property
    def used(self) -> int:
        """How many pages are held."""
        return len(self._held)

    def allocate(self, count: int) -> list[int]:
        """Take `count` pages from the head of the queue. ValueError, and nothing taken, if fewer are free."""
        if count < 0 or count > self.free:
            raise ValueError(f"cannot take {count} pages: {self.free} of {self.num_pages} are free")
        fresh = min(count, self.num_pages - self._fresh)
        pages = list(range(self._fresh, self._fresh + fresh))
        self._fresh += fresh
        pages.extend(self._returned.popleft() for _ in range(count - fresh))
        self._held.update(pages)
        return pages

    def release(self, pages: Iterable[int]) -> None:
        """Give `pages` back, in order, to the queue's tail. ValueError, and none freed, if one is free."""
        given = list(pages)
        if len(set(given)) != len(given):
            raise ValueError(f"pages given back twice in one release: {sorted(given)}")
        for page in given:
            if page not in self._held:
                raise ValueError(f"page {page} is not held, so it cannot be given back")
        self._held.difference_update(given)
        self._returned.extend(given)
