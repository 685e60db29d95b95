"""What the engine says about each iteration, and the plain JSON form of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.errors import InputError
from lab.option_records import OptionRecord

MAX_SEATS_SHOWN = 65_536
"""Rows list every seat, so they are refused beyond this many; the figures are not."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One busy iteration. Sequences (without forks, requests) are named by id; orders are admission order unless said
    otherwise.

    iteration:  its number, from 1
    arrived:    requests that joined `waiting`, in order of (arrival, position)
    preempted:  victims, in the order in which they were preempted
    admitted:   requests that were given a seat
    running:    unfinished residents while the iteration runs; one that finishes now counts
    seats:      (id, state) a seat, None for an empty one, up to the last seat in use;
                states: prefill, decode, stalled (resident, got no token), held (finished, static)
    max_num_seqs: how many seats there are
    tokens:     tokens computed for each scheduled request: its prefill chunk, or 1 for a decode
    emitted:    requests that got a token
    completed:  requests that finished
    released:   requests whose pages and seat were given back at the end of the iteration
    waiting:    requests that wait after admission, in order
    gate:       why the head waits: seats, tokens, pages, swap or batch; None when nobody waits
    pages:      block table of each resident (held ones too) while the iteration runs
    kv:         KV tokens stored for each of these after the iteration ran
    pages_used: pages held while the iteration runs
    wasted_slots: capacity of these pages, in tokens, less the KV tokens stored in them
    options:    what the options that are on add; None when all are off
    """

    iteration: int
    arrived: tuple[str, ...]
    preempted: tuple[str, ...]
    admitted: tuple[str, ...]
    running: tuple[str, ...]
    seats: tuple[tuple[str, str] | None, ...]
    max_num_seqs: int
    tokens: Mapping[str, int]
    emitted: tuple[str, ...]
    completed: tuple[str, ...]
    released: tuple[str, ...]
    waiting: Sequence[str]
    gate: str | None
    pages: Mapping[str, tuple[int, ...]]
    kv: Mapping[str, int]
    pages_used: int
    wasted_slots: int
    options: OptionRecord | None = None

    def to_row(self) -> dict[str, Any]:
        """This iteration as plain JSON data, with one entry a seat (None = empty).

        Raises InputError with more than MAX_SEATS_SHOWN seats.
        """
        if self.max_num_seqs > MAX_SEATS_SHOWN:
            raise InputError(
                f"is too large to list every seat ({self.max_num_seqs}); write {MAX_SEATS_SHOWN} or less, "
                "or ask for the figures only",
                field="max_num_seqs",
            )
        seats: list[dict[str, str] | None] = [
            None if seat is None else {"id": seat[0], "state": seat[1]} for seat in self.seats
        ]
        seats.extend([None] * (self.max_num_seqs - len(seats)))
        row = {
            "iteration": self.iteration,
            "arrived": list(self.arrived),
            "preempted": list(self.preempted),
            "admitted": list(self.admitted),
            "running": list(self.running),
            "seats": seats,
            "tokens": dict(self.tokens),
            "emitted": list(self.emitted),
            "completed": list(self.completed),
            "released": list(self.released),
            "waiting": list(self.waiting),
            "gate": self.gate,
            "pages": {name: list(table) for name, table in self.pages.items()},
            "kv": dict(self.kv),
            "pages_used": self.pages_used,
            "wasted_slots": self.wasted_slots,
        }
        return row if self.options is None else row | self.options.to_row()


@dataclass(frozen=True, slots=True)
class Idle:
    """A span of iterations in which nothing ran and nothing waited, from `first` to `last`."""

    first: int
    last: int

    def to_row(self) -> dict[str, Any]:
        """This span as plain JSON data."""
        return {"idle": [self.first, self.last]}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A request that is not served, and why: ``pages``, ``tokens``, ``seats`` or ``length`` if it never could be,
    ``limit`` if its client had too much."""

    id: str
    reason: str

    def to_row(self) -> dict[str, Any]:
        """This rejection as plain JSON data."""
        return {"id": self.id, "reason": self.reason}


Record = Iteration | Idle
