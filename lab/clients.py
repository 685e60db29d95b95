"""Admission across clients: a hard limit for each, or the virtual token counter."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable

from lab.progress import Progress
from lab.waiting import PREEMPTED, WaitingQueue


class ClientLimit:
    """Tokens that each client had in the last second: prompts that were accepted, and what was emitted for it.

    most:   tokens a second and client
    second: in the unit of the clock
    """

    def __init__(self, most: int, second: int) -> None:
        self._most = most
        self._second = second
        self._recent: dict[str, deque[tuple[int, int]]] = {}  # (moment, tokens) by client
        self._sums: dict[str, int] = {}

    def accepts(self, newcomer: Progress, now: int) -> bool:
        """Whether `newcomer` may join at `now`; if so, its prompt counts from then."""
        client = newcomer.client
        self._forget(client, now)
        if self._sums.get(client, 0) + newcomer.prompt_tokens > self._most:
            return False
        self._count(client, now, newcomer.prompt_tokens)
        return True

    def emitted(self, members: Iterable[Progress], end: int) -> None:
        """One token was emitted for each of `members` at `end`."""
        for member in members:
            self._count(member.client, end, 1)

    def _count(self, client: str, moment: int, tokens: int) -> None:
        recent = self._recent.setdefault(client, deque())
        if recent and recent[-1][0] == moment:
            recent[-1] = (moment, recent[-1][1] + tokens)
        else:
            self._forget(client, moment)  # here too, or a client that never comes back would be remembered for ever
            recent.append((moment, tokens))
        self._sums[client] = self._sums.get(client, 0) + tokens

    def _forget(self, client: str, now: int) -> None:
        """What is a second ago or more counts no longer."""
        recent = self._recent.get(client)
        while recent and recent[0][0] <= now - self._second:
            self._sums[client] -= recent.popleft()[1]


class FairQueue(WaitingQueue[Progress]):
    """The virtual token counter: the client that was served least, in weighted tokens, is asked first.

    Sheng et al., Fairness in Serving Large Language Models, OSDI 2024. A client that was idle is lifted to the
    least counter of those that wait, so that nobody saves up. Finding the next one costs O(log clients) for each
    counter that has changed.

    counters: weighted tokens served, by client
    """

    __slots__ = (
        "_by_client",
        "_heap",
        "_in_heap",
        "_input",
        "_last_to_leave",
        "_least_returned",
        "_output",
        "_waiting",
        "counters",
    )

    def __init__(self, clients: Iterable[str], input_weight: int, output_weight: int) -> None:
        super().__init__()
        self.counters: dict[str, int] = dict.fromkeys(clients, 0)
        self._input = input_weight
        self._output = output_weight
        self._waiting: dict[str, int] = dict.fromkeys(self.counters, 0)  # how many of its sequences wait
        self._by_client: dict[str, deque[Progress]] = {}  # those that never ran; some may have left
        # (counter, rank of the first that never ran, client): one entry a client, which may lag behind: both only
        # ever grow, so an entry that is true and in front is the least.
        self._heap: list[tuple[int, int, str]] = []
        self._in_heap: set[str] = set()
        self._last_to_leave: str | None = None
        self._least_returned: int | None = None  # the least counter of the preempted, once it was looked for

    @property
    def head(self) -> Progress:
        return self._returned[-1] if self._returned else self._least()

    def arrive(self, item: Progress) -> None:
        client = item.client
        if not self._waiting[client]:
            self._lift(client)
        super().arrive(item)
        self._waiting[client] += 1
        self._by_client.setdefault(client, deque()).append(item)
        if client not in self._in_heap:
            self._in_heap.add(client)
            heapq.heappush(self._heap, (self.counters[client], item.rank, client))

    def put_back(self, item: Progress) -> None:
        super().put_back(item)
        self._least_returned = None
        self._waiting[item.client] += 1

    def take(self) -> Progress:
        item = self.head
        if item.place != PREEMPTED:
            self._by_client[item.client].popleft()  # it may come back among the preempted
        self.remove(item)
        return item

    def remove(self, item: Progress) -> None:
        super().remove(item)
        self._least_returned = None
        self._waiting[item.client] -= 1
        if not self._waiting[item.client]:
            self._last_to_leave = item.client

    def admitted(self, member: Progress) -> None:
        """`member` was admitted, for the first time."""
        self._least_returned = None
        self.counters[member.client] += self._input * member.prompt_tokens

    def emitted(self, members: Iterable[Progress]) -> None:
        """One token was emitted for each of `members`."""
        self._least_returned = None
        for member in members:
            self.counters[member.client] += self._output

    def _lift(self, client: str) -> None:
        """`client` had nothing waiting: its counter rises to the least of those that have, or the last to leave's."""
        if len(self):
            if self._returned and self._least_returned is None:
                self._least_returned = min(self.counters[member.client] for member in self._returned)
            least = self._least_returned
            if len(self) > len(self._returned):
                fresh = self.counters[self._least().client]
                least = fresh if least is None else min(least, fresh)
        elif self._last_to_leave is not None:
            least = self.counters[self._last_to_leave]
        else:
            return
        assert least is not None
        self.counters[client] = max(self.counters[client], least)

    def _least(self) -> Progress:
        """The first that never ran of the client with the least counter; of equals, who comes first. One must wait."""
        while True:
            counter, rank, client = self._heap[0]
            queue = self._by_client[client]
            while queue and queue[0].place in self._left:
                queue.popleft()
            if not queue:
                heapq.heappop(self._heap)
                self._in_heap.discard(client)
                continue
            first = queue[0]
            if (counter, rank) == (self.counters[client], first.rank):
                return first
            heapq.heapreplace(self._heap, (self.counters[client], first.rank, client))
