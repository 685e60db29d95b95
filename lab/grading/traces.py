"""The workloads of replay checks: written in the check, or made from a seed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from lab.engine import replay
from lab.exercises import Replay
from lab.paging import pages_for
from lab.records import Iteration
from lab.workload import Limits, Request

_MASK = 2**64 - 1


class Dice:
    """SplitMix64 (Steele, Lea and Flood, 2014): the same numbers under every Python, for one seed."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def below(self, bound: int) -> int:
        """A number of 0 … bound - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return (z ^ (z >> 31)) % bound

    def between(self, low: int, high: int) -> int:
        """A number of low … high."""
        return low + self.below(high - low + 1)

    def one_of(self, *choices: int) -> int:
        """One of `choices`."""
        return choices[self.below(len(choices))]


def workload(spec: Replay) -> tuple[tuple[Request, ...], Limits]:
    """The requests and limits that a replay check asks for."""
    if spec.seed is None:
        assert spec.limits is not None
        return spec.requests, spec.limits
    return seeded(spec.seed, spec.count)


@lru_cache(maxsize=64)
def seeded(seed: int, count: int) -> tuple[tuple[Request, ...], Limits]:
    """`count` requests and limits from `seed`, such that continuous batching never has to preempt.

    Arrivals come in bursts with gaps, some prompts fill their pages exactly, some outputs are one token, and ids
    say nothing about order. The pool is tight, now more, now less: as small as it can be without preemption, or some
    pages larger, so that both seats and pages are gates.
    """
    dice = Dice(seed)
    page_size = dice.one_of(4, 8, 16, 32)
    seats = dice.between(2, 5)
    requests = []
    arrival = 0
    names: list[str] = []
    for _ in range(count):
        arrival += dice.one_of(0, 0, 0, 1, 2, 5, 9, 40)
        pages = dice.between(1, 5)
        slack = dice.one_of(0, 0, 1, dice.below(page_size))
        name = f"r{dice.between(100, 999)}"
        while name in names:
            name = f"r{dice.between(100, 999)}"
        names.append(name)
        output = dice.one_of(1, dice.between(2, 12), dice.between(2, 12), dice.between(10, 40))
        requests.append(Request(name, arrival, max(1, pages * page_size - slack), output))
    needs = [pages_for(r.prompt_tokens + r.output_tokens, page_size) for r in requests]
    limits = Limits(max_num_seqs=seats, num_pages=max(needs) + dice.one_of(0, 2, 5, 9), page_size=page_size)
    while _preempts(requests, limits):
        limits = replace(limits, num_pages=limits.num_pages + 1)
    return tuple(requests), limits


def _preempts(requests: list[Request], limits: Limits) -> bool:
    records = replay(requests, limits, "continuous")
    return any(isinstance(record, Iteration) and record.preempted for record in records)
