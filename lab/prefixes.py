"""Prefix caching: what a full page holds, as a key under which it can be found."""

from __future__ import annotations

from collections.abc import Sequence

from lab.blocks import BlockManager, Key
from lab.progress import Progress
from lab.workload import Request

WHOLE_REQUEST = -1


class PrefixCache:
    """Gives full pages their keys, and finds the known pages that a sequence begins with.

    A real engine hashes the tokens of a page and of all before it. A trace has no tokens: it names the content of a
    prompt's leading pages, and each chain of such names gets a number here. What it does not name is the request's
    own, or beyond the prompt the sequence's own, and then (rank, sample, index) says what the page and all before it
    hold.
    """

    def __init__(self, pool: BlockManager) -> None:
        self._pool = pool
        self._size: int = pool.page_size
        self._chains: dict[tuple[int, str | int], int] = {}
        self._looked_up: tuple[Progress, int, int] | None = None  # for whom, at which length, and when
        self._found: list[int] = []

    def keys_of(self, request: Request) -> tuple[int, ...]:
        """The keys of the full pages of the prompt that the trace names."""
        keys: list[int] = []
        before = -1
        for content in (request.prefix or ())[: request.prompt_tokens // self._size]:
            before = self._chains.setdefault((before, content), len(self._chains))
            keys.append(before)
        return tuple(keys)

    def key(self, member: Progress, index: int) -> Key:
        """The key of page `index` of `member`, once that page is full."""
        if index < len(member.keys):
            return member.keys[index]
        in_prompt = (index + 1) * self._size <= member.prompt_tokens
        return (member.rank, WHOLE_REQUEST if in_prompt else member.sample, index)

    def hits(self, member: Progress) -> list[int]:
        """The known pages that `member` begins with. Costs these pages, unless nothing has changed since it was asked.

        The head of `waiting` is asked in each iteration, perhaps for long.
        """
        look_up = (member, member.generated, self._pool.keys_changed)
        if look_up == self._looked_up:
            return self._found
        found: list[int] = []
        for index in range((member.prompt_tokens + member.generated) // self._size):
            page = self._pool.find(self.key(member, index))
            if page is None:
                break
            found.append(page)
        self._looked_up, self._found = look_up, found
        return found

    def free_among(self, hits: Sequence[int]) -> int:
        """How many of `hits` leave the free queue when they are shared."""
        return self._pool.free_among(hits)

    def share(self, hits: Sequence[int]) -> None:
        """One more sequence holds `hits`."""
        self._pool.share(hits)

    def publish(self, member: Progress) -> None:
        """Give the pages that `member` has filled since it was last asked their keys."""
        full = member.kv // self._size
        for index in range(member.keyed, full):
            self._pool.publish(member.table[index], self.key(member, index))
        member.keyed = max(member.keyed, full)
