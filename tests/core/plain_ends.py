"""Phases 5 and 6 of an iteration: tokens appear, prompts fork, sequences end. Shares nothing with ``lab``."""

from plain_memory import Sequence


class Ends:
    """What an iteration brings."""

    def run(self):
        """Whoever got tokens and has no prefill left emits one; returns those, in admission order."""
        emitted = []
        for sequence in list(self.residents):
            if sequence.id in self.tokens and not sequence.prefilling():
                emitted += self.fork(sequence) if sequence.to_fork > 1 else [sequence]
        for sequence in emitted:
            sequence.generated += 1
            self.emissions.append((0, self.client(sequence)))
            if self.options.admission == "vtc":
                self.counters[self.client(sequence)] += self.options.output_weight
        return emitted

    def fork(self, parent):
        """The sequences that ``parent`` becomes, itself the first; each has the page of its first token."""
        request, n, size = parent.request, parent.to_fork, self.limits.page_size
        shared = parent.table[: request.prompt_tokens // size]
        rest = parent.table[len(shared) :]
        if request.prompt_tokens % size:
            self.cow += rest[1:]
        rest = rest[1:] + rest[:1]  # the last writes in place, or takes the page that was there first
        assert len(rest) == n
        family = [parent]
        for sample in range(2, n + 1):
            child = Sequence(request, parent.order[0], 1, sample)
            child.seat = parent.kept_seats[sample - 2]
            child.to_prefill, child.prefilled = parent.to_prefill, parent.prefilled
            child.ever_admitted = True
            for page in shared:
                self.pool.share(page)
            self.states[child.id] = self.states[parent.id]
            self.filled_before[child.id] = self.filled_before[parent.id]
            family.append(child)
        parent.to_fork, parent.kept_seats = 1, []
        for sequence, page in zip(family, rest, strict=True):
            sequence.table = [*shared, page]
        place = self.residents.index(parent)
        self.residents[place : place + 1] = family
        self.visits[parent.order[0]].sequences = family
        self.forked[parent.id] = [child.id for child in family[1:]]
        return family

    def register(self, before):
        """The pages that this iteration has filled get their keys, and its tokens their time."""
        now = self.clock if self.on_clock else self.t
        self.emissions = [(time or now, client) for time, client in self.emissions]
        if not self.options.prefix_caching:
            return
        size = self.limits.page_size
        for sequence in self.residents:
            if sequence.id in self.tokens or sequence.id not in before:
                full = sequence.kv() // size
                keys = sequence.keys(full, size)
                for i in range(self.filled_before[sequence.id] // size, full):
                    self.pool.register(sequence.table[i], keys[i])

    def complete(self, emitted):
        completed = [s for s in emitted if s.finished()]
        for visit in self.visits:
            family = visit.sequences
            if visit.fate is None and family and all(s.finished() for s in family) and family[0].to_fork == 1:
                visit.fate, visit.finish = "completed", self.t
        if self.options.cancellation != "off":
            gone = []
            for sequence in emitted:
                visit = self.visits[sequence.order[0]]
                reached = sequence.generated == visit.request.cancel_after_tokens
                if reached and visit.fate is None and not visit.left and visit not in gone:
                    gone.append(visit)
            self.client_leaves(gone)
        cancelled = self.of_cancelled(self.residents)
        over = self.policy == "continuous" or all(s.finished() or s in cancelled for s in self.residents)
        released = [s for s in self.residents if s in cancelled or (s.finished() and over)]
        for sequence in released:
            self.residents.remove(sequence)
            self.free(sequence)
        return completed, released
