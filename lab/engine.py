"""The iteration loop: one engine for every policy and option.

An iteration has four phases: arrive, form the batch, run, complete. Forming the batch is where every decision
is made; it neither records nor measures. Once a trace is screened, no decision looks at an output length, except
those of allocations that take all pages at once. The rules are those of lab/RULES.md; what an option needs is in a
module of its own, and is None here when the option is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.blocks import BlockManager
from lab.cancellation import Departures
from lab.clients import ClientLimit, FairQueue
from lab.clock import Clock, clock_for, moments_of
from lab.forks import fork
from lab.observer import Observer
from lab.options import PLAIN, Options
from lab.paging import pages_for
from lab.policies import Continuous, policy_named
from lab.prefixes import PrefixCache
from lab.progress import NO_SEAT, Progress
from lab.records import Idle, Iteration
from lab.screening import check_sequence_names, samples_of, screen
from lab.seats import Seats
from lab.slabs import SlabPool
from lab.swap import HostMemory
from lab.victims import VICTIMS
from lab.waiting import WaitingQueue, WaitingView
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


class Engine:
    """The state of one replay. `residents` are all who hold a seat, in admission order."""

    def __init__(
        self,
        requests: Sequence[Request],
        limits: Limits,
        policy: Continuous,
        options: Options = PLAIN,
        time_unit: str = "iteration",
    ) -> None:
        self.limits = limits
        self.policy = policy
        self.options = options
        self.clock: Clock = clock_for(options, limits, time_unit)
        self.seats = Seats(limits.max_num_seqs)
        self.residents: list[Progress] = []
        moments = moments_of(requests, self.clock)
        order = sorted(range(len(requests)), key=moments.__getitem__)  # stable: ties stay in file order
        self.upcoming: list[Request] = [requests[i] for i in order]
        self.moments: list[int] = [moments[i] for i in order]  # when each arrives, in the unit of the clock
        self.next_arrival: int = 0  # index in `upcoming` of the first that has not arrived
        self.budget_left: int | None = None
        self.preempted: list[Progress] = []
        self.admitted: list[Progress] = []
        self.waiting: WaitingQueue[Progress] = WaitingQueue()
        self.waited: WaitingView = self.waiting.view()  # who waits after admission
        self._equip()

    def _equip(self) -> None:
        """What the options need, and what they do in one iteration."""
        options, limits = self.options, self.limits
        slabs = options.allocation == "slab"
        blocks = BlockManager(limits.num_pages, limits.page_size, reverse=options.prefix_caching)
        self.pool: BlockManager | SlabPool = SlabPool(limits.num_pages) if slabs else blocks
        self.prefixes = PrefixCache(blocks) if options.prefix_caching else None
        self.forks_into: BlockManager | None = blocks if options.fork_samples else None
        self.host = None
        if options.preemption == "swap":
            self.host = HostMemory(options.swap_pages, options.swap_pages_per_step)
        self.departures = None
        if options.cancellation != "off":
            self.departures = Departures(self.upcoming, self.clock)
        self.limit = None
        if options.admission == "limit":
            self.limit = ClientLimit(options.client_tokens_per_second or 0, self.clock.second)
        self.fair = None
        if options.admission == "vtc":
            clients = [request.client or "" for request in self.upcoming]
            self.waiting = self.fair = FairQueue(clients, options.input_weight, options.output_weight)
        self.sharing: bool = options.prefix_caching or options.fork_samples
        self._choose_victim = VICTIMS[options.victim]
        self._hits: list[int] = []  # known pages that the head of `waiting` begins with
        self._start_counting()

    def _start_counting(self) -> None:
        """An iteration starts: nothing has happened in it that options count."""
        self.fragmented: bool = False  # the head's pages are free, but not in a row
        self.lost_tokens: int = 0
        self.recomputed: int = 0
        self.copied_pages: int = 0
        self.cached: dict[str, int] = {}
        self.forked: dict[str, tuple[str, ...]] = {}
        self.refused: list[Progress] = []
        self.asked_next: str | None = None  # who is the head of `waiting` after admission
        self.left: list[int] = []  # ranks of requests whose client leaves
        self.wasted_tokens: int = 0
        self.wasted_kv: int = 0
        if self.host is not None:
            self.host.start()

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
        if self.options.cancellation != "honoured":
            return
        for rank in self.left:
            ended = departures.end(rank)
            for member in ended:
                if member.seat == NO_SEAT:
                    self._give_up_waiting(member)
            for member in [resident for resident in self.residents if resident in ended]:
                self.residents.remove(member)
                self._vacate(member)

    # Phase 2

    def form_batch(self) -> str | None:
        """Decide what each request computes in this iteration; returns why the head waits, or None."""
        self.budget_left = self.policy.budget(self.limits)
        self.preempted = []
        self.admitted = []
        for member in self.residents:
            member.tokens = 0
            member.state = "held" if member.finished else "stalled"
        decodes = self._schedule_decodes()
        if self.budget_left is not None and not self.options.prefill_first:
            self.budget_left -= len(decodes)  # a budget has a token for each seat
        self._continue_prefills()
        gate = self._admit()
        if self.budget_left is not None and self.options.prefill_first:
            for member in decodes[self.budget_left :]:
                member.tokens = 0
                member.state = "stalled"
        self.waited = self.waiting.view()
        if self.options.admission != "fcfs":
            self.asked_next = self.waiting.head.id if self.waiting else None
        return gate

    def _schedule_decodes(self) -> list[Progress]:
        """Give everyone who decodes a page for its next token where it needs one; returns them."""
        decodes: list[Progress] = []
        page_size = self.limits.page_size
        for member in self.residents.copy():  # a copy, since victims leave `residents` on the way
            if member.finished or member.seat == NO_SEAT or member.prefilled < member.to_prefill:
                continue
            full = member.kv >= len(member.table) * page_size
            if (full or self.sharing) and not self._grow(member):
                continue
            member.state = "decode"
            member.tokens = 1
            decodes.append(member)
        return decodes

    def _grow(self, member: Progress) -> bool:
        """Make room for one more token of `member`, preempting for it; False if that took its own seat."""
        while self.pool.growth(member.table, member.kv) > self.pool.free:
            self._preempt()
            if member.seat == NO_SEAT:
                return False
        table = member.table
        member.table = self.pool.append(table, member.kv)
        if member.table is not table and len(member.table) == len(table):
            self.copied_pages += 1
        return True

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
        if self.seats.free < head.samples:
            return "seats"
        if self.prefixes is not None:
            self._hits = [] if head.host_pages else self.prefixes.hits(head)
        tokens, pages = self._needs(head)
        if self._chunk(tokens) == 0:
            return "tokens"
        if self.prefixes is not None:
            pages += self.prefixes.free_among(self._hits)
        if not self.pool.fits(pages):
            self.fragmented = pages <= self.pool.free
            return "pages"
        if self.host is not None and not self.host.gives(head.host_pages):
            return "swap"
        return None

    def _needs(self, head: Progress) -> tuple[int, int]:
        """Tokens that `head` has to compute before it emits, one or more, and pages that it takes beside its hits."""
        limits, options = self.limits, self.options
        if head.host_pages and head.prefilled == head.to_prefill:
            return 1, pages_for(head.kv + 1, limits.page_size)
        if head.host_pages:
            prefill, done = head.to_prefill, head.prefilled
        else:
            prefill = head.prompt_tokens + head.generated
            done = min(len(self._hits) * limits.page_size, prefill - 1)
        if options.allocation == "on-demand":
            pages = pages_for(prefill + 1, limits.page_size) + head.samples - 1 - len(self._hits)
        elif options.allocation == "slab" and options.slab_tokens is not None:
            pages = pages_for(options.slab_tokens, limits.page_size)
        else:
            pages = pages_for(head.prompt_tokens + head.output_tokens, limits.page_size)
        return prefill - done, pages

    def _seat(self, newcomer: Progress) -> None:
        """Give `newcomer` the lowest free seat, the pages that it needs, and a first chunk or token."""
        tokens, pages = self._needs(newcomer)
        if newcomer.host_pages:
            self._bring_back(newcomer)
        else:
            newcomer.to_prefill = newcomer.prompt_tokens + newcomer.generated
            newcomer.prefilled = newcomer.to_prefill - tokens
            newcomer.keyed = len(self._hits)
        if self.prefixes is not None and self._hits:
            self.prefixes.share(self._hits)
            self.cached[newcomer.id] = newcomer.prefilled
        newcomer.table = (*self._hits, *self.pool.allocate(pages))
        newcomer.seat = self.seats.take()
        if newcomer.samples > 1:
            newcomer.kept_seats = tuple([self.seats.take() for _ in range(newcomer.samples - 1)])
        self.residents.append(newcomer)
        self.admitted.append(newcomer)
        if not newcomer.ran:
            newcomer.ran = True
            if self.fair is not None:
                self.fair.admitted(newcomer)
        if newcomer.prefilled < newcomer.to_prefill:
            self._schedule_prefill(newcomer)
        else:
            self._schedule(newcomer, "decode", 1)

    def _bring_back(self, swapped: Progress) -> None:
        assert self.host is not None
        self.host.move_in(swapped.id, swapped.host_pages)
        swapped.host_pages = 0
        swapped.keyed = swapped.kv // self.limits.page_size

    def _chunk(self, tokens: int) -> int:
        """How many of `tokens`, which are left to compute, fit into this iteration."""
        budget = self.budget_left
        if budget is None or tokens <= budget:
            return tokens
        return budget - budget % self.options.chunk_multiple if self.limits.chunked_prefill else 0

    def _schedule_prefill(self, member: Progress) -> None:
        chunk = self._chunk(member.to_prefill - member.prefilled)
        if chunk > 0:
            self._schedule(member, "prefill", chunk)

    def _schedule(self, member: Progress, state: str, tokens: int) -> None:
        member.state = state
        member.tokens = tokens
        if self.budget_left is not None:
            self.budget_left -= tokens

    def _preempt(self) -> None:
        """Take an unfinished resident off its seat, back to `waiting`, with its progress in host memory or lost."""
        victim = self.residents.pop(self._choose_victim(self.residents))
        stored = victim.kv
        pages = pages_for(stored, self.limits.page_size)
        if self.host is not None and stored and self.host.takes(pages):
            self.host.move_out(victim.id, pages)
            victim.host_pages = pages
        else:
            self.lost_tokens += stored
            self.recomputed += 1
            victim.prefilled = 0
        self._vacate(victim)
        self.waiting.put_back(victim)
        self.preempted.append(victim)

    def _vacate(self, member: Progress) -> None:
        self.pool.release(member.table)
        member.table = ()
        self.seats.give_back(member.seat)
        member.seat = NO_SEAT
        for seat in member.kept_seats:
            self.seats.give_back(seat)
        member.kept_seats = ()

    def _give_up_waiting(self, member: Progress) -> None:
        """`member`, which waits, has ended."""
        self.waiting.remove(member)
        if member.host_pages and self.host is not None:
            self.host.drop(member.host_pages)

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
