"""Phase 1 of an iteration: requests join, clients leave. Shares nothing with ``lab``."""

from fractions import Fraction

from plain_memory import Sequence, samples_of


class Arrivals:
    """Who comes, and who leaves."""

    def arrive(self):
        arrived, refused = [], []
        while self.coming and self.arrival(self.coming[0].request) <= self.now():
            visit = self.coming.pop(0)
            visit.joined = self.t
            visit.arrived_ns = self.arrival(visit.request) if self.on_clock else self.clock
            arrived.append(visit.request.id)
            if self.options.admission == "limit" and not self.within_limit(visit):
                visit.fate = "limit"
                refused.append(visit.request.id)
                self.rejected.append({"id": visit.request.id, "reason": "limit"})
                continue
            if self.options.admission == "vtc":
                self.lift(visit.client)
            sequence = Sequence(visit.request, visit.place, samples_of(visit.request, self.options))
            visit.sequences.append(sequence)
            self.waiting.append(sequence)
        return arrived, refused

    def within_limit(self, visit):
        second = 10**9 if self.on_clock else max(1, int(1000 / Fraction(repr(self.options.iteration_ms))))
        since = self.now() - second
        prompts = sum(n for time, client, n in self.accepted if client == visit.client and time > since)
        tokens = sum(1 for time, client in self.emissions if client == visit.client and time > since)
        if visit.request.prompt_tokens + prompts + tokens > self.options.client_tokens_per_second:
            return False
        self.accepted.append((self.now(), visit.client, visit.request.prompt_tokens))
        return True

    def client(self, sequence):
        return self.visits[sequence.order[0]].client

    def lift(self, client):
        active = [self.client(s) for s in self.waiting]
        if client in active:
            return
        if active:
            least = min(self.counters[other] for other in active)
        elif self.last_to_leave is not None:
            least = self.counters[self.last_to_leave]
        else:
            least = 0
        if least > self.counters[client]:
            self.seen.add("lifted to the least active" if active else "lifted to the last to leave")
        self.counters[client] = max(self.counters[client], least)

    def leave_waiting(self, sequence):
        self.waiting.remove(sequence)
        self.last_to_leave = self.client(sequence)

    def leave_at_start(self):
        if self.options.cancellation == "off":
            return
        gone = []
        for visit in self.visits:
            at = self.leaves_at(visit.request)
            here = visit.joined is not None and visit.fate is None and not visit.left
            if here and at is not None and at <= self.now():
                gone.append(visit)
            elif visit.joined is not None and at is not None and at <= self.now():
                self.seen.add("cancelled twice" if visit.left else f"cancelled when {visit.fate}")
        self.client_leaves(gone)
        for visit in gone:
            for sequence in self.of_cancelled(s for s in self.residents if s in visit.sequences):
                self.residents.remove(sequence)
                self.free(sequence)

    def client_leaves(self, gone):
        """The clients of the visits ``gone`` leave; if that is honoured, what they have in ``waiting`` ends."""
        for visit in gone:
            self.seen |= {f"left while {self.state_of(s)}" for s in visit.sequences}
            visit.left = True
            self.left.append(visit.request.id)
            if self.options.cancellation == "honoured":
                visit.fate = "cancelled"
                self.cancelled.append(visit.request.id)
        for sequence in self.of_cancelled(self.waiting):
            self.leave_waiting(sequence)
            sequence.on_host = 0

    def state_of(self, sequence):
        if sequence in self.waiting:
            kind = "preempted" if sequence.was_preempted else "new"
            return "swapped out" if sequence.on_host else f"waiting and {kind}"
        if sequence.finished():
            return "finished"
        return "prefilling" if sequence.prefilling() else "decoding"

    def of_cancelled(self, sequences):
        """Those of ``sequences`` that end now; one that has finished has ended already."""
        return [s for s in sequences if self.visits[s.order[0]].fate == "cancelled" and not s.finished()]
