"""What there is to see of an iteration: its row. Shares nothing with ``lab``."""


class Rows:
    """A row's parts."""

    def picture(self, arrived, gate, emitted):
        """The row without its options and without what is told at the end of the iteration."""
        row = {
            "iteration": self.t,
            "arrived": arrived,
            "preempted": [s.id for s in self.preempted],
            "admitted": [s.id for s in self.admitted],
            "running": [s.id for s in self.residents if not s.finished() or s in emitted],
            "seats": [None] * self.limits.max_num_seqs,
            "tokens": self.tokens,
            "waiting": [s.id for s in self.waiting],
            "gate": gate,
            "pages": {s.id: list(s.table) for s in self.residents},
            "emitted": [s.id for s in emitted],
            "kv": {s.id: s.kv() for s in self.residents},
            "pages_used": sum(1 for count in self.pool.count if count),
        }
        for sequence in self.residents:
            row["seats"][sequence.seat] = {"id": sequence.id, "state": self.states[sequence.id]}
        row["wasted_slots"] = sum(self.unfilled(s) for s in self.residents)
        return row

    def unfilled(self, sequence):
        return len(sequence.table) * self.limits.page_size - sequence.kv()

    def measure(self, gate, head):
        """Figures of the pool while the iteration runs, its tokens stored."""
        size = self.limits.page_size
        later = 0
        for s in self.residents:
            if not s.finished():
                most = s.request.prompt_tokens + s.request.output_tokens
                later += min(len(s.table) * size, most) - s.kv()
        slab = self.options.allocation == "slab"
        free = len(self.pool.free)
        ignored = self.options.cancellation == "ignored"
        gone = [s for s in self.residents if ignored and self.visits[s.order[0]].left]
        return {
            "reserved_slots": later,
            "internal_slots": sum(self.unfilled(s) for s in self.residents) - later,
            "external_slots": (free - self.pool.longest_run()) * size if slab else 0,
            "fragmented": slab and gate == "pages" and free >= self.wanted_pages(head),
            "lost_tokens": self.lost,
            "shared_pages": sum(1 for count in self.pool.count if count > 1),
            "cached_free": sum(1 for page in self.pool.free if page in self.pool.known.values()),
            "recomputed": self.recomputed,
            "prefill_tokens": sum(n for name, n in self.tokens.items() if self.states[name] == "prefill"),
            "kv_of_the_gone": sum(s.kv() for s in gone),
            "gone": {s.id for visit in self.visits if visit.left for s in visit.sequences},
        }

    def option_keys(self, start, gpu, refused, head, facts):
        """What the options add to a row."""
        options, keys = self.options, {}
        if self.timed:
            keys |= {"start_ns": start, "duration_ns": self.clock - start, "gpu_ns": gpu}
        if options != type(options)():
            names = ("reserved_slots", "internal_slots", "external_slots", "fragmented", "lost_tokens")
            keys |= {name: facts[name] for name in names}
        if options.prefix_caching or options.fork_samples:
            keys |= {
                "cached": self.cached,
                "copied_pages": len(self.cow),
                "shared_pages": facts["shared_pages"],
                "cached_free": facts["cached_free"],
                "forked": self.forked,
            }
        if options.preemption == "swap":
            keys |= {
                "swapped_out": self.swapped_out,
                "swapped_in": self.swapped_in,
                "host_pages": self.host_pages(),
            }
        if options.cancellation != "off":
            keys |= {"cancelled": self.cancelled, "left": self.left}
        if options.admission != "fcfs":
            keys |= {
                "refused": refused,
                "head": head.id if head else None,
                "counters": dict(self.counters) if options.admission == "vtc" else {},
            }
        return keys
