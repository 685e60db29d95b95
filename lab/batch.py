"""Forming the batch: which sequences compute what in an iteration. Every decision of the engine is made here."""

from __future__ import annotations

from lab.paging import pages_for
from lab.progress import NO_SEAT, Progress
from lab.state import State


class BatchForming(State):
    """Phase 2 of an iteration. It neither records nor measures.

    Once a trace is screened, no decision looks at an output length, except those of allocations that take all pages
    at once.
    """

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
        for member in self.residents:
            if member.finished or member.seat == NO_SEAT or member.prefilled < member.to_prefill:
                continue
            full = member.kv >= len(member.table) * page_size
            if (full or self.sharing) and not self._grow(member):
                continue
            member.state = "decode"
            member.tokens = 1
            decodes.append(member)
        if self.preempted:
            self.residents = [member for member in self.residents if member.seat != NO_SEAT]
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
        tokens, pages = self._head_needs = self._needs(head)
        if self.budget_left is not None and self._chunk(tokens) == 0:
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
        """Give `newcomer`, whom every gate let pass, the lowest free seat, its pages, and a first chunk or token."""
        tokens, pages = self._head_needs
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
        if not self.preempted:
            self._victims = self._candidates(self.residents)  # nobody joins or grows until all decodes have pages
        victim = self._victims.pop()
        while victim.state == "decode":
            victim = self._victims.pop()
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
