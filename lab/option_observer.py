"""Turns what the options did in an iteration into their part of its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.clock import TimedIterations
from lab.option_records import Leaving, OptionRecord, Queueing, Sharing, StepTimes, Swapping, Waste
from lab.options import Options
from lab.slabs import SlabPool
from lab.workload import Limits

if TYPE_CHECKING:
    from lab.engine import Engine


class OptionObserver:
    """Makes the options' part of one record after another. Work is in proportion to the residents."""

    def __init__(self, limits: Limits, options: Options) -> None:
        self._page_size = limits.page_size
        self._options = options

    def record(self, engine: Engine, gate: str | None, wasted_slots: int) -> OptionRecord:
        """What the options did in the iteration that `engine` has just run.

        gate, wasted_slots: as in the iteration's own record
        """
        options, host = self._options, engine.host
        return OptionRecord(
            waste=self._waste(engine, gate, wasted_slots),
            time=self._time(engine),
            sharing=self._sharing(engine),
            swapping=None if host is None else Swapping(host.moved_out, host.moved_in, host.used),
            leaving=None if options.cancellation == "off" else self._leaving(engine),
            queueing=None if options.admission == "fcfs" else self._queueing(engine),
            recomputed=engine.recomputed,
            wasted_tokens=engine.wasted_tokens,
            wasted_kv=engine.wasted_kv,
        )

    def _waste(self, engine: Engine, gate: str | None, wasted_slots: int) -> Waste:
        reserved = 0
        for member in engine.residents:
            if not member.finished:
                capacity = len(member.table) * self._page_size
                reserved += min(capacity, member.prompt_tokens + member.output_tokens) - member.kv
        pool = engine.pool
        return Waste(
            reserved_slots=reserved,
            internal_slots=wasted_slots - reserved,
            external_slots=(pool.free - pool.longest) * self._page_size if isinstance(pool, SlabPool) else 0,
            fragmented=gate == "pages" and engine.fragmented,
            lost_tokens=engine.lost_tokens,
        )

    def _time(self, engine: Engine) -> StepTimes | None:
        clock = engine.clock
        if not isinstance(clock, TimedIterations):
            return None
        return StepTimes(clock.start_ns, clock.duration_ns, clock.gpu_ns)

    def _sharing(self, engine: Engine) -> Sharing | None:
        if isinstance(engine.pool, SlabPool) or not engine.sharing:
            return None
        return Sharing(
            cached=engine.cached,
            copied_pages=engine.copied_pages,
            shared_pages=engine.pool.shared,
            cached_free=engine.pool.cached_free,
            forked=engine.forked,
        )

    def _leaving(self, engine: Engine) -> Leaving:
        left = tuple([engine.upcoming[rank].id for rank in engine.left])
        return Leaving(cancelled=left if self._options.cancellation == "honoured" else (), left=left)

    def _queueing(self, engine: Engine) -> Queueing:
        return Queueing(
            refused=tuple([member.id for member in engine.refused]),
            head=engine.asked_next,
            counters={} if engine.fair is None else dict(engine.fair.counters),
        )
