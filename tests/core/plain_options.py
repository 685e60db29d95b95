"""All of lab/RULES.md once more, its options too, as plainly as it can be written.

This module and its two halves, ``plain_memory`` and ``plain_time``, share nothing with ``lab``: they exist to be
compared with it. They are slow on purpose: lists everywhere, and whatever can be worked out again is worked out
again. Requests, limits and options are any objects with the attributes of ``lab.workload`` and ``lab.options``.
"""

from plain_admission import Admission
from plain_arrivals import Arrivals
from plain_decodes import Decodes
from plain_ends import Ends
from plain_memory import Pool, Visit, pages_for, samples_of
from plain_rows import Rows
from plain_time import gpu_ns, idle_iteration_ns, in_units, kv_bytes, step_ns


def plain_screen(requests, limits, policy, options):
    """Split ``requests`` into those that run and ``{"id", "reason"}`` for those that never could."""
    servable, rejected = [], []
    for request in requests:
        reason = reason_to_reject(request, limits, policy, options)
        if reason is None:
            servable.append(request)
        else:
            rejected.append({"id": request.id, "reason": reason})
    return servable, rejected


def reason_to_reject(request, limits, policy, options):
    whole = request.prompt_tokens + request.output_tokens
    budget = limits.max_num_batched_tokens
    if pages_for(whole, limits.page_size) > limits.num_pages:
        return "pages"
    if policy == "continuous" and budget is not None and not limits.chunked_prefill and whole - 1 > budget:
        return "tokens"
    if options.allocation == "slab" and options.slab_tokens is not None:
        if whole > options.slab_tokens:
            return "length"
        if pages_for(options.slab_tokens, limits.page_size) > limits.num_pages:
            return "pages"
    samples = samples_of(request, options)
    if samples > limits.max_num_seqs:
        return "seats"
    if pages_for(request.prompt_tokens + 1, limits.page_size) + samples - 1 > limits.num_pages:
        return "pages"
    return None


class Engine(Arrivals, Decodes, Admission, Ends, Rows):
    """A replay under way. ``rows`` grows by one a busy iteration, and by ``{"idle": [first, last]}``."""

    def __init__(self, requests, limits, policy, options, unit):
        assert policy in ("static", "continuous")
        self.limits, self.policy, self.options = limits, policy, options
        self.unit = unit
        self.timed = options.step_time is not None
        self.on_clock = self.timed and unit != "iteration"
        servable, self.rejected = plain_screen(requests, limits, policy, options)
        self.requests, self.servable = requests, servable
        # sorted() is stable, so equal arrivals stay in the order of the file.
        self.visits = [Visit(r, n) for n, r in enumerate(sorted(servable, key=lambda r: self.arrival(r)))]
        self.coming = list(self.visits)
        self.waiting = []
        self.residents = []  # in admission order; under static also the finished that keep their seat
        self.pool = Pool(limits.num_pages, options.prefix_caching, options.allocation == "slab")
        self.counters = {visit.client: 0 for visit in self.visits}
        self.last_to_leave = None  # the client whose sequence left ``waiting`` last
        self.accepted = []  # (time, client, prompt tokens), and (time, client) for each token emitted
        self.emissions = []
        self.t = 0
        self.clock = 0
        self.idle_ns = 0
        self.rows = []
        self.facts = []  # a row's figures that are no part of it
        self.seen = set()  # rare states that the replay went through, for tests of the random cases

    # The clock.

    def arrival(self, request):
        return in_units(request.arrival, self.unit, self.options)

    def leaves_at(self, request):
        at = getattr(request, "cancel_at", None)
        return None if at is None else in_units(at, self.unit, self.options)

    def now(self):
        """The start of iteration ``t`` in the unit in which arrivals are counted."""
        return self.clock if self.on_clock else self.t - 1

    def replay(self):
        while self.coming or self.waiting or self.residents:
            if not self.waiting and not self.residents:
                self.jump(self.arrival(self.coming[0].request))
            self.t += 1
            self.iterate()
            assert self.t < 10**7, "the replay does not end"
            assert len(self.rows) < 20_000, "the replay does not end"

    def jump(self, arrival):
        if self.on_clock and arrival > self.clock:
            self.idle_ns += arrival - self.clock
            self.clock = arrival
        elif not self.on_clock and arrival > self.t:
            row = {"idle": [self.t + 1, arrival]}
            if self.timed:
                lasts = (arrival - self.t) * idle_iteration_ns(self.options)
                self.idle_ns += lasts
                self.clock += lasts
            self.rows.append(row)
            self.t = arrival

    # One iteration.

    def iterate(self):
        self.tokens = {}  # sequence id -> tokens computed for it in this iteration
        self.kv_read = 0
        self.cow = []  # pages copied
        self.lost = self.recomputed = 0
        self.swapped_out, self.swapped_in, self.cached, self.forked = {}, {}, {}, {}
        self.preempted, self.admitted, self.left, self.cancelled = [], [], [], []
        self.states = {s.id: "held" if s.finished() else "stalled" for s in self.residents}
        self.filled_before = {s.id: s.kv() for s in self.residents}
        start = self.clock
        arrived, refused = self.arrive()
        self.leave_at_start()
        ready = self.decode_pages()
        if not self.options.prefill_first or self.policy == "static":
            self.schedule(ready)
        for sequence in self.residents:
            if sequence.prefilling():
                self.prefill(sequence)
        gate, head = self.admit()
        self.schedule([s for s in ready if s.id not in self.tokens])
        before = {s.id: s.kv() for s in self.residents}
        emitted = self.run()
        gpu = 0
        if self.timed:
            moved = sum(self.swapped_out.values()) + sum(self.swapped_in.values())
            bytes_moved = moved * self.limits.page_size * kv_bytes(self.options)
            gpu = gpu_ns(self.options, sum(self.tokens.values()), self.kv_read, bytes_moved)
            self.clock += step_ns(self.options, gpu)
        for sequence in emitted:
            sequence.times.append(self.clock)
        self.register(before)
        row = self.picture(arrived, gate, emitted)
        facts = self.measure(gate, head)
        completed, released = self.complete(emitted)
        row["completed"] = [s.id for s in completed]
        row["released"] = [s.id for s in released]
        row |= self.option_keys(start, gpu, refused, head, facts)
        self.pool.check([s.table for s in self.residents])
        self.rows.append(row)
        self.facts.append(facts)
