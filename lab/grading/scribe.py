"""Writes down what a learner's step did as the engine's own records, so that everything can draw and measure it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from lab.blocks import BlockManager
from lab.grading.child.drive import State, Step, held_when_done, pages_for
from lab.records import Iteration
from lab.workload import Limits, Request


class Scribe:
    """Keeps seats and page ids, of which a step knows nothing, by the engine's rules."""

    def __init__(self, requests: Mapping[str, Request], limits: Limits) -> None:
        self._requests = requests
        self._limits = limits
        self._pool = BlockManager(limits.num_pages, limits.page_size)
        self._tables: dict[str, tuple[int, ...]] = {}
        self._seat_of: dict[str, int] = {}
        self._seats_given_back: list[int] = []
        self._seats_used = 0

    def record(self, step: Step) -> Iteration:
        """The record of `step`, which was accepted: it has a state after it."""
        before, after = step.before, step.after
        assert after is not None
        ran = {row["id"]: row for row in before.running}
        waited = {row["id"]: row for row in before.waiting}
        rows = {row["id"]: row for row in after.running}
        admitted = _admitted(before, after)
        members = [row["id"] for row in before.running] + admitted
        left = {row["id"]: row["remaining"] for row in after.running} | dict.fromkeys(after.completed, 0)
        emitted = tuple(
            name
            for name in members
            if left[name] < (ran[name]["remaining"] if name in ran else waited[name]["output_tokens"])
        )
        pages = {
            name: rows[name]["pages"] if name in rows else held_when_done(ran, waited, name, self._limits.page_size)
            for name in members
        }
        kv = {name: rows[name]["tokens"] if name in rows else self._final(name) for name in members}
        self._fit_tables(pages)
        for name in admitted:
            self._sit(name)
        states = dict.fromkeys(admitted, "prefill") | {name: "decode" if name in emitted else "stalled" for name in ran}
        released = tuple(name for name in members if name not in rows)
        record = Iteration(
            iteration=step.iteration,
            arrived=tuple(step.arrived),
            preempted=(),
            admitted=tuple(admitted),
            running=tuple(members),
            seats=self._seats(states),
            max_num_seqs=self._limits.max_num_seqs,
            tokens={name: self._requests[name].prompt_tokens for name in admitted}
            | {name: 1 for name in emitted if name in ran},
            emitted=emitted,
            completed=tuple(after.completed),
            released=released,
            waiting=tuple(row["id"] for row in after.waiting),
            gate=self._gate(after, len(members)),
            pages={name: self._tables[name] for name in members},
            kv=kv,
            pages_used=self._pool.used,
            wasted_slots=self._pool.used * self._limits.page_size - sum(kv.values()),
        )
        for name in released:
            self._pool.release(self._tables.pop(name))
            heapq.heappush(self._seats_given_back, self._seat_of.pop(name))
        return record

    def _final(self, name: str) -> int:
        request = self._requests[name]
        return request.prompt_tokens + request.output_tokens

    def _fit_tables(self, pages: Mapping[str, int]) -> None:
        # What a step gives back comes first, or the pool could be short of what it then hands out.
        for name, count in pages.items():
            table = self._tables.get(name, ())
            if count < len(table):
                self._pool.release(table[count:])
                self._tables[name] = table[:count]
        for name, count in pages.items():
            table = self._tables.get(name, ())
            self._tables[name] = table + tuple(self._pool.allocate(count - len(table)))

    def _sit(self, name: str) -> None:
        if self._seats_given_back:
            self._seat_of[name] = heapq.heappop(self._seats_given_back)
        else:
            self._seat_of[name] = self._seats_used
            self._seats_used += 1

    def _seats(self, states: Mapping[str, str]) -> tuple[tuple[str, str] | None, ...]:
        seats: list[tuple[str, str] | None] = [None] * (1 + max(self._seat_of.values(), default=-1))
        for name, seat in self._seat_of.items():
            seats[seat] = (name, states[name])
        return tuple(seats)

    def _gate(self, after: State, members: int) -> str | None:
        """The gate that holds the head back by the engine's rules; None too if none does, and the step let it wait."""
        if not after.waiting:
            return None
        if members >= self._limits.max_num_seqs:
            return "seats"
        need = pages_for(after.waiting[0]["prompt_tokens"] + 1, self._limits.page_size)
        return "pages" if need > self._pool.free else None


def _admitted(before: State, after: State) -> list[str]:
    """Who was given a seat, in order. Who completed at once is no longer listed, and is put where it waited."""
    place = {row["id"]: i for i, row in enumerate(before.waiting)}
    admitted = [row["id"] for row in after.running if row["id"] in place]
    for name in sorted((name for name in after.completed if name in place), key=place.__getitem__):
        later = [i for i, other in enumerate(admitted) if place[other] > place[name]]
        admitted.insert(later[0] if later else len(admitted), name)
    return admitted
