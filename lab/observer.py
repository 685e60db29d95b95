"""Turns the engine's state after an iteration ran into a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from lab.option_observer import OptionObserver
from lab.options import PLAIN, Options
from lab.progress import Progress
from lab.records import Iteration
from lab.workload import Limits

if TYPE_CHECKING:
    from lab.engine import Engine

Value = TypeVar("Value")


def _ids(members: Sequence[Progress]) -> tuple[str, ...]:
    return tuple([member.id for member in members])


def _shared(new: Value, old: Value) -> Value:
    """`old` if it equals `new`: most of a record is as in the iteration before, and is then kept once."""
    return old if new == old else new


class Observer:
    """Makes one record after another. Work and memory are in proportion to the residents."""

    def __init__(self, limits: Limits, options: Options = PLAIN) -> None:
        self.limits = limits
        self._options = None if options == PLAIN else OptionObserver(limits, options)
        self._running: tuple[str, ...] = ()
        self._emitted: tuple[str, ...] = ()
        self._seats: tuple[tuple[str, str] | None, ...] = ()
        self._tokens: dict[str, int] = {}
        self._pages: dict[str, tuple[int, ...]] = {}

    def record(
        self,
        engine: Engine,
        arrived: Sequence[Progress],
        gate: str | None,
        emitted: Sequence[Progress],
        leaving: Sequence[Progress],
    ) -> Iteration:
        """The record of the iteration that `engine` has just run, before anybody leaves at its end."""
        residents = engine.residents
        self._running = _shared(tuple([m.id for m in residents if m.state != "held"]), self._running)
        self._emitted = _shared(_ids(emitted), self._emitted)
        self._seats = _shared(_seats(residents), self._seats)
        self._tokens = _shared({m.id: m.tokens for m in residents if m.tokens}, self._tokens)
        self._pages = _shared({m.id: m.table for m in residents}, self._pages)
        kv = {m.id: m.kv for m in residents}
        pages_used = held = engine.pool.used
        if engine.sharing:  # a shared page is full in every table that has it, so each may count it
            held = sum([len(m.table) for m in residents])
        wasted_slots = held * self.limits.page_size - sum(kv.values())
        return Iteration(
            iteration=engine.clock.iteration,
            arrived=_ids(arrived),
            preempted=_ids(engine.preempted),
            admitted=_ids(engine.admitted),
            running=self._running,
            seats=self._seats,
            max_num_seqs=self.limits.max_num_seqs,
            tokens=self._tokens,
            emitted=self._emitted,
            completed=tuple([m.id for m in emitted if m.finished]),
            released=_ids(leaving),
            waiting=engine.waited,
            gate=gate,
            pages=self._pages,
            kv=kv,
            pages_used=pages_used,
            wasted_slots=wasted_slots,
            options=None if self._options is None else self._options.record(engine, gate, wasted_slots),
        )


def _seats(residents: Sequence[Progress]) -> tuple[tuple[str, str] | None, ...]:
    seats: list[tuple[str, str] | None] = [None] * (1 + max((m.seat for m in residents), default=-1))
    for member in residents:
        seats[member.seat] = (member.id, member.state)
    return tuple(seats)
