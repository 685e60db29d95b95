"""Phases 2 to 4 of an iteration: tokens from the budget, and admission. Shares nothing with ``lab``."""


class Admission:
    """Tokens, and who is let in."""

    def budget_left(self):
        if self.policy == "static" or self.limits.max_num_batched_tokens is None:
            return float("inf")
        return self.limits.max_num_batched_tokens - sum(self.tokens.values())

    def schedule(self, decodes):
        for sequence in decodes:
            if self.budget_left() >= 1:
                self.decode(sequence)

    def decode(self, sequence):
        self.tokens[sequence.id] = 1
        self.states[sequence.id] = "decode"
        self.kv_read += sequence.kv()

    def chunk(self, left):
        """Tokens of a prefill of which ``left`` are left that can be computed now."""
        if left <= self.budget_left():
            return left
        if not self.limits.chunked_prefill:
            return 0
        if self.budget_left() >= 1 and self.budget_left() < self.options.chunk_multiple:
            self.seen.add("chunk rounded to 0")
        return self.budget_left() // self.options.chunk_multiple * self.options.chunk_multiple

    def prefill(self, sequence):
        chunk = self.chunk(sequence.to_prefill - sequence.prefilled)
        if chunk:
            sequence.prefilled += chunk
            self.tokens[sequence.id] = chunk
            self.states[sequence.id] = "prefill"
            self.kv_read += sequence.prefilled
            visit = self.visits[sequence.order[0]]
            if visit.start is None:
                visit.start = self.t

    def next_head(self):
        """The sequence that is asked next, or None."""
        first = self.waiting[:1]
        if self.options.admission != "vtc" or not first or first[0].was_preempted:
            return first[0] if first else None
        # min() takes the first of equals, and ``waiting`` is in order.
        return min(self.waiting, key=lambda s: self.counters[self.client(s)])

    def admit(self):
        """Admit whom the gates let pass; returns why the next one waits, and that one."""
        if self.preempted:
            gate = "pages"
        elif self.policy == "static" and self.residents:
            gate = "batch"
        else:
            gate = None
            while self.waiting and gate is None:
                head = self.next_head()
                gate = self.closed_gate(head)
                if gate is None:
                    self.let_in(head)
            if self.policy == "static" and self.residents:
                gate = "batch"
        return (gate, self.next_head()) if self.waiting else (None, None)

    def empty_seats(self):
        taken = [seat for s in self.residents for seat in (s.seat, *s.kept_seats)]
        return [seat for seat in range(self.limits.max_num_seqs) if seat not in taken]

    def hits(self, head):
        """The pages that ``head`` finds in the cache."""
        if not self.options.prefix_caching or head.on_host:
            return []
        tokens = head.request.prompt_tokens + head.generated
        return self.pool.hits(head.keys(tokens // self.limits.page_size, self.limits.page_size))

    def left_to_prefill(self, head):
        """``(whole prefill, of which is there already)`` if ``head`` is admitted now."""
        if head.on_host:
            return head.to_prefill, head.prefilled
        whole = head.request.prompt_tokens + head.generated
        return whole, min(len(self.hits(head)) * self.limits.page_size, whole - 1)

    def wanted_pages(self, head):
        """Pages that ``head`` needs in all, those that it shares counted."""
        request = head.request
        if self.options.allocation == "final-length":
            return self.pages_for(request.prompt_tokens + request.output_tokens)
        if self.options.allocation == "slab":
            return self.pages_for(self.options.slab_tokens or request.prompt_tokens + request.output_tokens)
        whole, done = self.left_to_prefill(head)
        if head.on_host and whole == done:
            return self.pages_for(head.kv() + 1)
        return self.pages_for(whole + 1) + head.to_fork - 1

    def closed_gate(self, head):
        """The first gate that does not let ``head`` pass, or None."""
        if len(self.empty_seats()) < head.to_fork:
            return "seats"
        whole, done = self.left_to_prefill(head)
        if self.budget_left() < 1 if whole == done else not self.chunk(whole - done):
            return "tokens"
        if not self.enough_pages(head):
            return "pages"
        a_step = self.options.swap_pages_per_step
        if head.on_host and a_step is not None and sum(self.swapped_in.values()) + head.on_host > a_step:
            return "swap"
        return None

    def enough_pages(self, head):
        wanted = self.wanted_pages(head)
        if self.options.allocation == "slab":
            return self.pool.run_of(wanted) is not None
        hits = self.hits(head)
        if len(self.pool.free) >= wanted - len(hits) > len([page for page in self.pool.free if page not in hits]):
            self.seen.add("own hits are the free pages it needs")
        return wanted - len(hits) <= len([page for page in self.pool.free if page not in hits])

    def let_in(self, head):
        wanted = self.wanted_pages(head)
        hits = self.hits(head)
        seats = self.empty_seats()
        whole, done = self.left_to_prefill(head)
        if self.options.allocation == "slab":
            head.table = self.pool.take_run(wanted)
        else:
            for page in hits:
                self.seen.add("hit on a held page" if self.pool.count[page] else "hit on a free page")
                self.pool.share(page)
            head.table = hits + self.pool.take(wanted - len(hits))
        head.seat, head.kept_seats = seats[0], seats[1 : head.to_fork]
        if len(hits) * self.limits.page_size == whole:
            self.seen.add("all cached, last token computed again")
        if head.was_preempted and hits:
            self.seen.add("a victim finds its own pages")
        if head.on_host and whole > done:
            self.seen.add("swapped in while prefilling")
        if head.order[1] > 1:
            self.seen.add("a preempted child comes back")
        self.leave_waiting(head)
        self.residents.append(head)
        self.admitted.append(head)
        if self.options.admission == "vtc" and not head.ever_admitted:
            self.counters[self.client(head)] += self.options.input_weight * head.request.prompt_tokens
        head.ever_admitted = True
        self.filled_before[head.id] = head.kv() if head.on_host else done
        if head.on_host:
            self.swapped_in[head.id] = head.on_host
            head.on_host = 0
        elif hits:
            self.cached[head.id] = done
        head.to_prefill, head.prefilled = whole, done
        if whole == done:
            self.decode(head)
        else:
            self.prefill(head)
