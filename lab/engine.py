"""The iteration loop: one engine for every policy.

An iteration has four phases: arrive, form the batch, run, complete. Forming the batch is where every decision
is made; it neither records nor measures. Once a trace is screened, no decision looks at an output length.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from lab.observer import Observer
from lab.paging import PagePool, pages_for
from lab.policies import Continuous, policy_named
from lab.progress import NO_SEAT, Progress
from lab.records import Idle, Iteration, Rejected
from lab.waiting import WaitingQueue
from lab.workload import Limits, Request, check_requests


def screen(requests: Sequence[Request], limits: Limits, policy: str) -> tuple[list[Request], list[Rejected]]:
    """Part `requests` into those that can be served and those that never could, both in file order.

    Rejected for `pages`: pages_for(prompt + output) > num_pages. Rejected for `tokens`: prompt + output - 1,
    the longest prefill that it could need after a preemption, exceeds the budget, and prefill is not chunked.
    """
    budget = policy_named(policy).budget(limits)
    longest_prefill = None if limits.chunked_prefill else budget
    servable: list[Request] = []
    rejected: list[Rejected] = []
    for request in requests:
        tokens = request.prompt_tokens + request.output_tokens
        if pages_for(tokens, limits.page_size) > limits.num_pages:
            rejected.append(Rejected(request.id, "pages"))
        elif longest_prefill is not None and tokens - 1 > longest_prefill:
            rejected.append(Rejected(request.id, "tokens"))
        else:
            servable.append(request)
    return servable, rejected


def replay(requests: Sequence[Request], limits: Limits, policy: str) -> Iterator[Iteration | Idle]:
    """Replay `requests` (arrivals in iterations) under `policy`; yields a record an iteration or idle span.

    Requests that can never be served are screened out. Ends when the last one has finished.
    Raises InputError for ids that repeat, arrivals that are no integers, and an unknown policy.
    """
    check_requests(requests)
    servable, _ = screen(requests, limits, policy)
    return Engine(servable, limits, policy_named(policy)).replay()


class Engine:
    """The state of one replay. `residents` are all who hold a seat, in admission order."""

    def __init__(self, requests: Sequence[Request], limits: Limits, policy: Continuous) -> None:
        self.limits = limits
        self.policy = policy
        self.pool = PagePool(limits.num_pages)
        self.residents: list[Progress] = []
        self.waiting: WaitingQueue[Progress] = WaitingQueue()
        self.upcoming: list[Request] = sorted(requests, key=_arrival)  # stable: ties stay in file order
        self.next_arrival: int = 0  # index in `upcoming` of the first that has not arrived
        self.clock: int = 0  # the last iteration that ran or was skipped
        self.budget_left: int | None = None
        self.preempted: list[Progress] = []
        self.admitted: list[Progress] = []
        self._seats_given_back: list[int] = []  # a heap; all below `_seats_used`
        self._seats_used: int = 0  # seats that were ever taken

    def replay(self) -> Iterator[Iteration | Idle]:
        """Yield a record for each busy iteration and each idle span, until everything has finished."""
        observer = Observer(self.limits)
        while True:
            if not self.residents and not self.waiting:
                if self.next_arrival == len(self.upcoming):
                    return
                skipped_to = int(self.upcoming[self.next_arrival].arrival)
                if skipped_to > self.clock:
                    yield Idle(self.clock + 1, skipped_to)
                    self.clock = skipped_to
            self.clock += 1
            arrived = self.arrive()
            gate = self.form_batch()
            emitted = self.run()
            leaving = self.complete()
            yield observer.record(self, arrived, gate, emitted, leaving)
            for member in leaving:
                self.residents.remove(member)
                self._vacate(member)

    # Phase 1

    def arrive(self) -> list[Progress]:
        """Requests whose arrival is before this iteration join `waiting`; returns them."""
        arrived: list[Progress] = []
        while self.next_arrival < len(self.upcoming):
            request = self.upcoming[self.next_arrival]
            if request.arrival >= self.clock:
                break
            self.next_arrival += 1
            newcomer = Progress(request)
            self.waiting.arrive(newcomer)
            arrived.append(newcomer)
        return arrived

    # Phase 2

    def form_batch(self) -> str | None:
        """Decide what each request computes in this iteration; returns why the head waits, or None."""
        self.budget_left = self.policy.budget(self.limits)
        self.preempted = []
        self.admitted = []
        for member in self.residents:
            member.tokens = 0
            member.state = "held" if member.finished else "stalled"
        self._schedule_decodes()
        self._continue_prefills()
        return self._admit()

    def _schedule_decodes(self) -> None:
        for member in self.residents.copy():  # a copy, since victims leave `residents` on the way
            if member.finished or member.seat == NO_SEAT or member.prefilled < member.to_prefill:
                continue
            missing = pages_for(member.kv + 1, self.limits.page_size) - len(member.table)
            while missing > self.pool.free and member.seat != NO_SEAT:
                self._preempt_newest()
            if member.seat == NO_SEAT:
                continue
            if missing > 0:
                member.table += tuple(self.pool.allocate(missing))
            self._schedule(member, "decode", 1)

    def _continue_prefills(self) -> None:
        for member in self.residents:
            if member.prefilled < member.to_prefill:
                self._schedule_prefill(member)

    def _admit(self) -> str | None:
        """Admit from the head of `waiting` until a gate holds it back; returns that gate."""
        if not self.waiting:
            return None
        if self.preempted:
            return "pages"
        gate = self.policy.closed(self.residents)
        while gate is None and self.waiting:
            gate = self._gate(self.waiting.head)
            if gate is None:
                self._seat(self.waiting.take())
        # Whichever gate ended the filling of a static batch: now that it is resident, that is why the head waits.
        return gate and (self.policy.closed(self.residents) or gate)

    def _gate(self, head: Progress) -> str | None:
        """The first gate that does not let `head` pass, or None."""
        if len(self.residents) >= self.limits.max_num_seqs:
            return "seats"
        prefill = head.prompt_tokens + head.generated
        if self.budget_left is not None:
            first_chunk = 1 if self.limits.chunked_prefill else prefill
            if first_chunk > self.budget_left:
                return "tokens"
        if pages_for(prefill + 1, self.limits.page_size) > self.pool.free:
            return "pages"
        return None

    def _seat(self, newcomer: Progress) -> None:
        """Give `newcomer` the lowest free seat, pages for its prefill and first token, and a first chunk."""
        newcomer.to_prefill = newcomer.prompt_tokens + newcomer.generated
        pages = pages_for(newcomer.to_prefill + 1, self.limits.page_size)
        newcomer.table = tuple(self.pool.allocate(pages))
        if self._seats_given_back:
            newcomer.seat = heapq.heappop(self._seats_given_back)
        else:
            newcomer.seat = self._seats_used
            self._seats_used += 1
        self.residents.append(newcomer)
        self.admitted.append(newcomer)
        self._schedule_prefill(newcomer)

    def _schedule_prefill(self, member: Progress) -> None:
        chunk = member.to_prefill - member.prefilled
        if self.budget_left is not None:
            chunk = min(chunk, self.budget_left)
        if chunk > 0:
            self._schedule(member, "prefill", chunk)

    def _schedule(self, member: Progress, state: str, tokens: int) -> None:
        member.state = state
        member.tokens = tokens
        if self.budget_left is not None:
            self.budget_left -= tokens

    def _preempt_newest(self) -> None:
        """Take the last admitted unfinished resident off its seat, back to the head of `waiting`."""
        newest = len(self.residents) - 1
        while self.residents[newest].finished:
            newest -= 1
        victim = self.residents.pop(newest)
        self._vacate(victim)
        victim.prefilled = 0
        self.waiting.put_back(victim)
        self.preempted.append(victim)

    def _vacate(self, member: Progress) -> None:
        self.pool.release(member.table)
        member.table = ()
        heapq.heappush(self._seats_given_back, member.seat)
        member.seat = NO_SEAT

    # Phase 3

    def run(self) -> list[Progress]:
        """Compute what is scheduled; returns the requests that emitted a token."""
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
        return emitted

    # Phase 4

    def complete(self) -> list[Progress]:
        """Finish requests that have all their tokens; returns who leaves at the end of this iteration."""
        for member in self.residents:
            if member.generated == member.output_tokens:
                member.finished = True
        return self.policy.leaving(self.residents)


def _arrival(request: Request) -> int | float:
    return request.arrival
