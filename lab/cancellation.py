"""Clients that leave before their answer is complete."""

from __future__ import annotations

from collections.abc import Sequence

from lab.clock import Clock
from lab.progress import Progress
from lab.workload import Request


class Departures:
    """Says whose client leaves when. Requests are known by their rank, their place in the order of arrival.

    Costs one sort by `cancel_at` at the beginning, and then a request's sequences, once.

    left: ranks of the requests whose client has left before their end
    """

    def __init__(self, requests: Sequence[Request], clock: Clock) -> None:
        """`requests` in order of arrival."""
        self.left: set[int] = set()
        self._after_tokens = {
            rank: request.cancel_after_tokens
            for rank, request in enumerate(requests)
            if request.cancel_after_tokens is not None
        }
        times = [(clock.moment(r.cancel_at), rank) for rank, r in enumerate(requests) if r.cancel_at is not None]
        self._times = sorted(times, reverse=True)  # the next one last
        self._going_on: dict[int, list[Progress]] = {}  # unfinished sequences of the requests that have not ended

    def join(self, sequence: Progress) -> None:
        """`sequence`, new or forked from one that is known, goes on from now."""
        self._going_on.setdefault(sequence.rank, []).append(sequence)

    def finish(self, sequence: Progress) -> None:
        """`sequence` has emitted its last token."""
        going_on = self._going_on[sequence.rank]
        going_on.remove(sequence)
        if not going_on:
            del self._going_on[sequence.rank]

    def at_start(self, now: int) -> list[int]:
        """Requests whose client leaves as an iteration starts at `now`, in order of (arrival, position)."""
        leaving: list[int] = []
        while self._times and self._times[-1][0] <= now:
            rank = self._times.pop()[1]
            if self._leaves(rank):
                leaving.append(rank)
        leaving.sort()
        return leaving

    def at_end(self, emitted: Sequence[Progress]) -> list[int]:
        """Requests whose client leaves at the end of an iteration, once those that finished have been told of."""
        return [
            member.rank
            for member in emitted
            if member.generated == self._after_tokens.get(member.rank) and self._leaves(member.rank)
        ]

    def _leaves(self, rank: int) -> bool:
        if rank not in self._going_on or rank in self.left:
            return False
        self.left.add(rank)
        return True

    def end(self, rank: int) -> list[Progress]:
        """Forget the request: its sequences that were going on, in the order in which they came to be."""
        return self._going_on.pop(rank)
