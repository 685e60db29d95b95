"""The block manager: pages of KV memory with reference counts, and a free queue that remembers what they held."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

Key = int | tuple[int, int, int]
"""What a full page and all pages before it hold; see `lab.prefixes`."""


class BlockManager:
    """Pages 0 ... num_pages - 1 of `page_size` tokens. Free pages form a first-in first-out queue.

    A page is held by one table or shared by several; its reference count says by how many. A page whose count falls
    to 0 joins the queue's tail. If it has a key by then, it can be found and shared again until it is taken.

    Pages that were never taken are kept as a count, not a list, so a huge pool costs nothing: they are in front of
    every page that was given back, in order. Each call costs the pages that it names, and no more.

    reverse: whether a released table joins the queue last page first, so that the end of a prefix is overwritten
             before its beginning
    """

    __slots__ = (
        "_extra",
        "_fresh",
        "_held",
        "_key_of",
        "_page_of",
        "_returned",
        "_stale",
        "_stale_count",
        "cached_free",
        "keys_changed",
        "num_pages",
        "page_size",
        "reverse",
    )

    def __init__(self, num_pages: int, page_size: int, *, reverse: bool = False) -> None:
        self.num_pages: int = num_pages
        self.page_size: int = page_size
        self.reverse: bool = reverse
        self.cached_free: int = 0  # free pages that have a key
        self.keys_changed: int = 0  # how often a page got or lost its key
        self._fresh: int = 0  # pages that were ever taken from those never used
        # A page found in the middle of the queue stays there as a stale entry, since it comes to the front before any
        # later one of the same page: how many stale entries each page has.
        self._returned: deque[int] = deque()
        self._stale: dict[int, int] = {}
        self._stale_count: int = 0
        self._held: set[int] = set()
        self._extra: dict[int, int] = {}  # reference count - 1 of the pages that are shared
        self._key_of: dict[int, Key] = {}
        self._page_of: dict[Key, int] = {}

    @property
    def free(self) -> int:
        """How many pages can be taken."""
        return self.num_pages - len(self._held)

    @property
    def used(self) -> int:
        """How many pages are held; a shared one counts once."""
        return len(self._held)

    @property
    def shared(self) -> int:
        """How many pages have more than one owner."""
        return len(self._extra)

    def ref_count(self, page: int) -> int:
        """How many tables hold `page`. ValueError if there is no such page."""
        if not 0 <= page < self.num_pages:
            raise ValueError(f"page {page} does not exist: pages are 0 to {self.num_pages - 1}")
        return self._extra.get(page, 0) + 1 if page in self._held else 0

    def fits(self, count: int) -> bool:
        """Whether `count` pages can be taken."""
        return count <= self.num_pages - len(self._held)

    def allocate(self, count: int) -> list[int]:
        """Take `count` pages from the head of the queue. ValueError, and nothing taken, if fewer are free."""
        if count < 0 or count > self.free:
            raise ValueError(f"cannot take {count} pages: {self.free} of {self.num_pages} are free")
        fresh = min(count, self.num_pages - self._fresh)
        pages = list(range(self._fresh, self._fresh + fresh))
        self._fresh += fresh
        if self._stale:
            pages += [self._next_returned() for _ in range(count - fresh)]
        elif count > fresh:
            take = self._returned.popleft
            pages += [take() for _ in range(count - fresh)]
        self._held.update(pages)
        if self.cached_free:
            for page in pages:
                self._forget(page)
        return pages

    def _next_returned(self) -> int:
        """Take the head of the returned pages, past stale entries."""
        while True:
            page = self._returned.popleft()
            if page not in self._stale:
                return page
            self._drop_stale(page)

    def _drop_stale(self, page: int) -> None:
        self._stale_count -= 1
        self._stale[page] -= 1
        if not self._stale[page]:
            del self._stale[page]

    def _leave_queue(self, page: int) -> None:
        """Let `page`, which is free, out of the queue, which is swept once most of it is stale: O(1) on average."""
        self._stale[page] = self._stale.get(page, 0) + 1
        self._stale_count += 1
        if self._stale_count * 2 > len(self._returned):
            live: deque[int] = deque()
            for entry in self._returned:
                if entry in self._stale:
                    self._drop_stale(entry)
                else:
                    live.append(entry)
            self._returned = live

    def share(self, pages: Sequence[int]) -> None:
        """Count one more owner of each of `pages`, which are held, or free and found by their keys.

        ValueError, and nothing counted, if one is neither.
        """
        for page in pages:
            if page not in self._held and page not in self._key_of:
                raise ValueError(f"page {page} is neither held nor known, so it cannot be shared")
        for page in pages:
            if page in self._held:
                self._extra[page] = self._extra.get(page, 0) + 1
            else:
                self._leave_queue(page)
                self._held.add(page)
                self.cached_free -= 1

    def fork(self, table: Sequence[int]) -> tuple[int, ...]:
        """A second table of the same pages. ValueError, and nothing counted, if one of them is not held."""
        for page in table:
            if page not in self._held:
                raise ValueError(f"page {page} is not held, so it cannot be forked")
        self.share(table)
        return tuple(table)

    def growth(self, table: Sequence[int], stored: int) -> int:
        """Pages that `append` would take: 1 for a new page or a copy of a shared one, else 0."""
        index = stored // self.page_size
        if index >= len(table):
            return 1
        return 1 if self._extra and table[index] in self._extra else 0

    def append(self, table: tuple[int, ...], stored: int) -> tuple[int, ...]:
        """`table` with room of its own for one token after the `stored` ones.

        A full table gets one more page. A page that others hold as well is not written to: the table gets a copy
        instead, and the others keep the page (copy-on-write). ValueError, and nothing changed, if that takes a page
        and none is free, or `table` is too short for what it stores.
        """
        index = stored // self.page_size
        if index > len(table):
            raise ValueError(f"a table of {len(table)} pages cannot store {stored} tokens")
        if index == len(table):
            return (*table, *self.allocate(1))
        old = table[index]
        if old not in self._extra:
            return table
        (new,) = self.allocate(1)
        self.release((old,))
        return (*table[:index], new, *table[index + 1 :])

    def release(self, pages: Iterable[int]) -> None:
        """Take one owner off each of `pages`; those without any join the queue's tail, in order.

        ValueError, and nothing released, if one of them is free or unknown, or is named twice.
        """
        given = list(pages)
        if len(set(given)) != len(given):
            raise ValueError(f"pages given back twice in one release: {sorted(given)}")
        for page in given:
            if page not in self._held:
                raise ValueError(f"page {page} is not held, so it cannot be given back")
        if self.reverse:
            given.reverse()
        if self._extra:
            given = [page for page in given if not self._still_owned(page)]
        self._held.difference_update(given)
        self._returned.extend(given)
        if self._key_of:
            self.cached_free += sum(page in self._key_of for page in given)

    def _still_owned(self, page: int) -> bool:
        """Take one owner off `page` if it is shared; whether it was."""
        more = self._extra.get(page, 0)
        if more > 1:
            self._extra[page] = more - 1
        elif more == 1:
            del self._extra[page]
        return more > 0

    def publish(self, page: int, key: Key) -> None:
        """Make `page`, which is held, known under `key`; a page already known under it stays the known one."""
        if page not in self._held:
            raise ValueError(f"page {page} is not held, so nothing is stored in it")
        if key not in self._page_of and page not in self._key_of:
            self._page_of[key] = page
            self._key_of[page] = key
            self.keys_changed += 1

    def find(self, key: Key) -> int | None:
        """The page known under `key`, held or free, or None."""
        return self._page_of.get(key)

    def free_among(self, pages: Iterable[int]) -> int:
        """How many of `pages` are free."""
        return sum(page not in self._held for page in pages)

    def _forget(self, page: int) -> None:
        key = self._key_of.pop(page, None)
        if key is not None:
            del self._page_of[key]
            self.cached_free -= 1
            self.keys_changed += 1
