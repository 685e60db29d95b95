"""Phase 2 of an iteration: the pages of the decodes, and preemption. Shares nothing with ``lab``."""

from plain_memory import pages_for


class Decodes:
    """Pages for what runs."""

    def pages_for(self, tokens):
        return pages_for(tokens, self.limits.page_size)

    def writes_to_shared(self, sequence):
        page = sequence.kv() // self.limits.page_size
        return page < len(sequence.table) and self.pool.count[sequence.table[page]] > 1

    def decode_pages(self):
        """Give each decode the pages of its next token; returns the decodes that have them."""
        ready = []
        for sequence in [s for s in self.residents if not s.finished() and not s.prefilling()]:
            while sequence not in self.preempted:
                more = max(0, self.pages_for(sequence.kv() + 1) - len(sequence.table))
                wanted = more + self.writes_to_shared(sequence)
                if wanted <= len(self.pool.free):
                    break
                assert self.options.allocation == "on-demand"
                self.preempt(self.victim(ready))
            if sequence not in self.preempted:
                if self.writes_to_shared(sequence):
                    self.seen.add("copy on write by a decode")
                    self.copy(sequence, sequence.kv() // self.limits.page_size, self.pool.take(1)[0])
                sequence.table += self.pool.take(more)
                ready.append(sequence)
        return ready

    def copy(self, sequence, place, page):
        """Let ``sequence`` hold a copy, in ``page``, of the page at ``place`` of its table."""
        self.pool.give_back([sequence.table[place]])
        sequence.table[place] = page
        self.cow.append(page)

    def victim(self, ready):
        candidates = [s for s in self.residents if not s.finished() and s not in ready]
        if self.options.victim == "newest":
            return candidates[-1]
        largest = max(s.kv() for s in candidates)
        return [s for s in candidates if s.kv() == largest][-1]

    def preempt(self, victim):
        kv = victim.kv()
        if victim.to_fork > 1:
            self.seen.add("a fork to come preempted")
        if victim.prefilling():
            self.seen.add("a prefill under way preempted")
        if self.preempted:
            self.seen.add("several victims")
        if self.rows and victim.id in self.rows[-1].get("admitted", []):
            self.seen.add("victim just admitted")
        if victim is not [s for s in self.residents if not s.finished()][-1]:
            self.seen.add("victim not the newest")
        stored = self.pages_for(kv)
        self.residents.remove(victim)
        self.free(victim)
        victim.was_preempted = True
        self.visits[victim.order[0]].preemptions += 1
        if self.options.preemption == "swap" and stored and self.host_has_room(stored):
            victim.on_host = stored
            self.swapped_out[victim.id] = stored
        else:
            if self.options.preemption == "swap":
                self.seen.add("swap fallback")
            self.lost += kv
            self.recomputed += 1
            victim.to_prefill = victim.prefilled = 0
        # Among those that were preempted before, in order; in front of all that never ran.
        before = sorted([victim, *(s for s in self.waiting if s.was_preempted)], key=lambda s: s.order)
        self.waiting = before + [s for s in self.waiting if not s.was_preempted]
        self.preempted.append(victim)

    def host_pages(self):
        return sum(s.on_host for s in self.waiting)

    def host_has_room(self, pages):
        room, a_step = self.options.swap_pages, self.options.swap_pages_per_step
        return (room is None or self.host_pages() + pages <= room) and (
            a_step is None or sum(self.swapped_out.values()) + pages <= a_step
        )

    def free(self, sequence):
        self.pool.give_back(sequence.table)
        sequence.table = []
        sequence.seat = None
        sequence.kept_seats = []
