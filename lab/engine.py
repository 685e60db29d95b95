"""The iteration loop: one engine for every policy and option.

An iteration has four phases: arrive, form the batch, run, complete. The second is where every decision is made, and
has a file of its own, lab/batch.py; the state that all work on is in lab/state.py. The rules are those of lab/RULES.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.batch import BatchForming
from lab.blocks import BlockManager
from lab.cancellation import Departures
from lab.forks import fork
from lab.observer import Observer
from lab.options import PLAIN, Options
from lab.policies import policy_named
from lab.progress import NO_SEAT, Progress
from lab.records import Idle, Iteration
from lab.screening import check_sequence_names, samples_of, screen
from lab.workload import Limits, Request, check_requests

__all__ = ["Engine", "replay", "screen"]


def replay(
    requests: Sequence[Request],
    limits: Limits,
    policy: str,
    options: Options = PLAIN,
    time_unit: str = "iteration",
) -> Iterator[Iteration | Idle]:
    """Replay `requests` under `policy`; yields a record an iteration or idle span.

    time_unit: of arrivals; ms and s need the options' step_time

    Requests that can never be served are screened out. Ends when the last one has finished.
    Raises InputError for ids that repeat or are names of forked sequences, arrivals that do not fit the time unit,
    an unknown policy, and options that do not go with the limits.
    """
    check_requests(requests, time_unit)
    check_sequence_names(requests, options)
    options.check_with(limits)
    servable, _ = screen(requests, limits, policy, options)
    return Engine(servable, limits, policy_named(policy), options, time_unit).replay()


class Engine(BatchForming):
    """One replay: the loop, and its phases but the second, which is the batch's."""

    def replay(self) -> Iterator[Iteration | Idle]:
        """Yield a record for each busy iteration and each idle span, until everything has finished."""
        observer = Observer(self.limits, self.options)
        plain = self.options == PLAIN
        while True:
            if not self.residents and not self.waiting:
                if self.next_arrival == len(self.upcoming):
                    return
                idle = self.clock.skip_to(self.moments[self.next_arrival])
                if idle is not None:
                    yield idle
            self.clock.start()
            if not plain:
                self._start_counting()
            arrived = self.arrive()
            gate = self.form_batch()
            emitted = self.run()
            leaving = self.complete(emitted)
            yield observer.record(self, arrived, gate, emitted, leaving)
            for member in leaving:
                self._vacate(member)
            if leaving:
                self.residents = [member for member in self.residents if member.seat != NO_SEAT]

    # Phase 1

    def arrive(self) -> list[Progress]:
        """Requests that are due join `waiting`, or are refused; returns them. Then clients that are due leave."""
        now = self.clock.now
        arrived: list[Progress] = []
        while self.next_arrival < len(self.upcoming) and self.moments[self.next_arrival] <= now:
            newcomer = self._newcomer(self.next_arrival)
            self.next_arrival += 1
            arrived.append(newcomer)
            if self.limit is not None and not self.limit.accepts(newcomer, now):
                self.refused.append(newcomer)
                continue
            self.waiting.arrive(newcomer)
            if self.departures is not None:
                self.departures.join(newcomer)
        if self.departures is not None:
            self._leave_at_start(self.departures, now)
        return arrived

    def _newcomer(self, rank: int) -> Progress:
        request = self.upcoming[rank]
        newcomer = Progress(request, rank)
        if self.forks_into is not None:
            newcomer.samples = samples_of(request, self.options)
        if self.prefixes is not None:
            newcomer.keys = self.prefixes.keys_of(request)
        return newcomer

    def _leave_at_start(self, departures: Departures, now: int) -> None:
        self.left = departures.at_start(now)
        if self.options.cancellation != "honoured" or not self.left:
            return
        order = {member: place for place, member in enumerate(self.residents)}
        for rank in self.left:
            ended = departures.end(rank)
            for member in ended:
                if member.seat == NO_SEAT:
                    self._give_up_waiting(member)
            for member in sorted([one for one in ended if one in order], key=order.__getitem__):
                self._vacate(member)
        self.residents = [member for member in self.residents if member.seat != NO_SEAT]

    # Phase 3

    def run(self) -> list[Progress]:
        """Compute what is scheduled; returns the sequences that emitted a token."""
        if self.clock.timed:
            self._take_time()
        emitted: list[Progress] = []
        for member in self.residents:
            if member.state == "prefill":
                member.prefilled += member.tokens
                if member.prefilled < member.to_prefill:
                    continue
            elif member.state != "decode":
                continue
            member.generated += 1
            emitted.append(member)
        if self.forks_into is not None:
            emitted = self._fork(emitted, self.forks_into)
        if self.prefixes is not None:
            for member in self.residents:
                self.prefixes.publish(member)
        if self.limit is not None:
            self.limit.emitted(emitted, self.clock.end)
        if self.fair is not None:
            self.fair.emitted(emitted)
        return emitted

    def _take_time(self) -> None:
        tokens = read = 0
        for member in self.residents:
            if member.tokens:
                tokens += member.tokens
                read += member.kv if member.state == "decode" else member.prefilled + member.tokens
        self.clock.ran(tokens, read, 0 if self.host is None else self.host.moved)

    def _fork(self, emitted: list[Progress], pool: BlockManager) -> list[Progress]:
        """Fork those of `emitted` that are to; returns all who emitted a token, in admission order."""
        if all(member.samples == 1 for member in emitted):
            return emitted
        family: dict[str, list[Progress]] = {}
        for member in emitted:
            if member.samples > 1:
                children, copies = fork(member, self.upcoming[member.rank], pool)
                family[member.id] = children
                self.copied_pages += copies
                self.forked[member.id] = tuple([child.id for child in children])
                if self.departures is not None:
                    for child in children:
                        self.departures.join(child)
        self.residents = [one for member in self.residents for one in (member, *family.get(member.id, ()))]
        return [one for member in emitted for one in (member, *family.get(member.id, ()))]

    # Phase 4

    def complete(self, emitted: Sequence[Progress]) -> list[Progress]:
        """Finish sequences that have all their tokens; returns who leaves at the end of this iteration."""
        for member in self.residents:
            if member.generated == member.output_tokens:
                member.finished = True
        if self.departures is not None:
            return self._leave_at_end(self.departures, emitted)
        return self.policy.leaving(self.residents)

    def _leave_at_end(self, departures: Departures, emitted: Sequence[Progress]) -> list[Progress]:
        """The same with clients that leave now: their sequences end if that is honoured, else they are wasted."""
        for member in emitted:
            if member.finished:
                departures.finish(member)
        if self.options.cancellation == "ignored":
            self.wasted_tokens = sum(member.rank in departures.left for member in emitted)
            self.wasted_kv = sum(member.kv for member in self.residents if member.rank in departures.left)
        leaving = departures.at_end(emitted)
        self.left += leaving
        if self.options.cancellation == "ignored":
            return self.policy.leaving(self.residents)
        gone: set[Progress] = set()
        for rank in leaving:
            for member in departures.end(rank):
                if member.seat == NO_SEAT:
                    self._give_up_waiting(member)
                else:
                    gone.add(member)
        gone.update(self.policy.leaving([member for member in self.residents if member not in gone]))
        return [member for member in self.residents if member in gone]
