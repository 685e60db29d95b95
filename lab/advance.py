# cython: wraparound=False, cdivision=True, annotation_typing=False
"""A replay that keeps figures only: the engine's plain rules on columns of 64-bit integers.

It makes no object an iteration. What is decided one iteration at a time is in `Advance._step`; what lies between two
decisions is passed in closed form by `Advance._span`. lab/RULES.md says why both come to the same. This file is plain
Python; where a C compiler is there, it is compiled with the types of advance.pxd, and then nothing here may become
negative before a division, or pass 2**62: `lab.figures` sees to that before it starts.
"""

from __future__ import annotations

from array import array
from typing import Any

NOBODY = -1
NO_BUDGET = 1 << 62
SPILL = 1 << 61
"""A sum that gets here goes on in a Python integer."""

NONE, SEATS, TOKENS, PAGES, BATCH = 0, 1, 2, 3, 4
"""Gates: why the head of the queue waits."""

GATES = {"seats": 1, "tokens": 2, "pages": 3, "batch": 4}
"""The same for who reads the outcome."""

ENDED, TOO_LONG, MORE = "ended", "too long", "more"


class Heap:
    """Requests by the time of something that happens to each, the earliest first. Work is the logarithm of the size.

    places: where each request is in the heap, NOBODY if it is not; as long as there are requests
    """

    def __init__(self, requests: int, most: int) -> None:
        """For `requests` requests, of which at most `most` are in the heap at once."""
        self.size: int = 0
        self.times = array("q", bytes(8 * most))
        self.ranks = array("q", bytes(8 * most))
        self.places = array("q", [NOBODY]) * requests

    def push(self, rank: int, time: int) -> int:
        """Put in `rank`, which is not in it."""
        self.size += 1
        self._rise(self.size - 1, rank, time)
        return 0

    def remove(self, rank: int) -> int:
        """Take out `rank`, which is in it."""
        hole = self.places[rank]
        self.places[rank] = NOBODY
        self.size -= 1
        if hole < self.size:
            moved, time = self.ranks[self.size], self.times[self.size]
            if hole > 0 and self.times[(hole - 1) >> 1] > time:
                self._rise(hole, moved, time)
            else:
                self._sink(hole, moved, time)
        return 0

    def postpone(self, time: int) -> int:
        """Let what is first happen at `time`, not before, instead."""
        self._sink(0, self.ranks[0], time)
        return 0

    def _rise(self, hole: int, rank: int, time: int) -> int:
        while hole > 0:
            above = (hole - 1) >> 1
            if self.times[above] <= time:
                break
            self._put(hole, self.ranks[above], self.times[above])
            hole = above
        self._put(hole, rank, time)
        return 0

    def _sink(self, hole: int, rank: int, time: int) -> int:
        while True:
            below = 2 * hole + 1
            if below >= self.size:
                break
            if below + 1 < self.size and self.times[below + 1] < self.times[below]:
                below += 1
            if self.times[below] >= time:
                break
            self._put(hole, self.ranks[below], self.times[below])
            hole = below
        self._put(hole, rank, time)
        return 0

    def _put(self, place: int, rank: int, time: int) -> int:
        self.times[place] = time
        self.ranks[place] = rank
        self.places[rank] = place
        return 0


class Advance:
    """One replay. Requests are named by rank: their place in the order of (arrival, position in the file).

    A decoding request computes one token in every iteration, so that the iteration in which it finishes, and those in
    which it needs a page, are known when its prefill is complete.

    Who has been admitted and is not finished is in a ring, in order of rank, with `requests` itself as its joint: first
    those that run, then from `newest` on those that were preempted. Behind the ring come those from `fresh` on, who
    never ran. So preempting and admitting again move nothing but `newest`.

    iteration:  the last one that ran or was skipped
    busy, decoded, preempted: iterations that were not idle, tokens emitted, and preemptions
    peak_pages, peak_wasted: the most in one iteration
    """

    def __init__(
        self,
        arrival: array[int],
        prompt: array[int],
        output: array[int],
        start: array[int],
        finish: array[int],
        preemptions: array[int],
        seats: int,
        pages: int,
        page_size: int,
        budget: int,
        chunked: bool,
        static: bool,
        spans: bool,
        bucketed: bool,
    ) -> None:
        """Columns with an entry a request: of the first six, three are read and three written.

        budget:   tokens an iteration, 0 for no budget
        spans:    whether quiet spans are passed in closed form
        bucketed: whether for that there is a bucket for each place in a page; else who needs a page is kept in a heap
        """
        self.arrival = arrival
        self.prompt = prompt
        self.output = output
        self.start = start
        self.finish = finish
        self.preemptions = preemptions
        requests = len(arrival)
        most = min(requests, seats, pages)  # who runs has a seat, and a page at least
        self.requests: int = requests
        self.seats: int = seats
        self.page_size: int = page_size
        self.budget: int = NO_BUDGET if budget == 0 else budget
        self.chunked: bool = chunked
        self.static: bool = static
        self.spans: bool = spans
        self.left = array("q", output)  # tokens to emit, of who does not decode
        self.grows = array("q", [NOBODY]) * requests  # when a decoding request needs its next page
        self.newer = array("q", [requests]) * (requests + 1)
        self.older = array("q", [requests]) * (requests + 1)
        self.budget_left: int = 0  # of the present iteration
        self.newest: int = requests  # the last admitted of those that run
        self.fresh: int = 0  # the first that never ran
        self.running: int = 0
        self.decoding: int = 0
        self.resident: int = 0  # seats taken: finished members of a static batch keep theirs
        self.free: int = pages
        self.pages: int = 0
        self.kv: int = 0  # KV tokens stored
        self.chunking: int = NOBODY  # whose prefill is under way: at most one, and then the newest
        self.to_prefill: int = 0  # what is left of it
        self.chunking_pages: int = 0
        self.chunking_kv: int = 0
        self.held_wasted: int = 0  # slots of finished members that nothing is stored in
        self.bucketed: bool = bucketed
        self.due = array("q", bytes(8 * page_size if bucketed else 0))  # how many need a page, by bucket
        self.growths = Heap(0 if bucketed or not spans else requests, most)
        self.ends = Heap(requests if spans else 0, most)
        self.ending = array("q", bytes(0 if spans else 8 * most))  # who finishes in this iteration
        self.ending_count: int = 0
        self.changed: int = 0  # the last iteration in which somebody started or stopped decoding
        self.passed: int = 0  # iterations passed in whole turns, by which the times in `growths` are behind
        self.iteration: int = 0
        self.busy: int = 0
        self.decoded: int = 0
        self.preempted: int = 0
        self.held: int = 0
        self.spilled: Any = 0  # what of `held` is above 64 bits
        self.peak_pages: int = 0
        self.peak_wasted: int = 0
        self.gates = array("q", [0, 0, 0, 0, 0])

    def replay(self, last: int, steps: int) -> str:
        """Go on for `steps` steps, each of which is an iteration and perhaps a span before it; returns how far that is.

        ENDED; TOO_LONG if it takes more than `last` iterations; or MORE, and then call it again. Who waits for a long
        replay can interrupt it between two calls.
        """
        while self.iteration <= last:
            if steps == 0:
                return MORE
            steps -= 1
            if self.running == 0 and not self._waits(self.iteration):
                if self.fresh == self.requests:
                    return ENDED
                if self.arrival[self.fresh] > self.iteration:
                    self.iteration = self.arrival[self.fresh]
            elif self.spans and self.running > 0:
                self._span()
            self._step()
        return TOO_LONG

    # One iteration, with every decision in it

    def _step(self) -> int:
        t = self.iteration = self.iteration + 1
        self.busy += 1
        needed = self._due(t) if self.spans else self._touch(t)
        victims = 0
        while needed > self.free:
            needed -= self._preempt(t)
            victims += 1
        self.pages += needed
        self.free -= needed
        self.kv += self.decoding
        self.budget_left = self.budget - self.decoding  # a budget has a token for each seat
        if self.chunking != NOBODY:
            self._continue_prefill(t)
        if victims == 0:
            gate = self._admit(t)
        else:
            gate = PAGES
            self.preempted += victims
        self.gates[gate] += 1
        self.decoded += self.decoding
        self.held += self.pages
        if self.held >= SPILL:
            self._spill()
        if self.pages > self.peak_pages:
            self.peak_pages = self.pages
        wasted = self.pages * self.page_size - self.kv
        if wasted > self.peak_wasted:
            self.peak_wasted = wasted
        return self._complete(t)

    def _waits(self, now: int) -> bool:
        """Whether anybody waits who arrived at `now` or before."""
        return self.newer[self.newest] != self.requests or (
            self.fresh < self.requests and self.arrival[self.fresh] <= now
        )

    def _touch(self, t: int) -> int:
        """One token for each decoding request: how many of them need a page. Notes who finishes."""
        newer, grows, finish = self.newer, self.grows, self.finish
        needed = 0
        rank = newer[self.requests]
        stop = newer[self.newest]
        while rank != stop:
            if grows[rank] == t:
                grows[rank] = t + self.page_size
                needed += 1
            if finish[rank] == t:
                self.ending[self.ending_count] = rank
                self.ending_count += 1
            rank = newer[rank]
        return needed

    def _due(self, t: int) -> int:
        """How many decoding requests need a page, without touching those that do not."""
        if self.bucketed:
            return self.due[t % self.page_size]
        turn = t - self.passed
        needed = 0
        growths = self.growths
        while growths.size > 0 and growths.times[0] == turn:
            growths.postpone(turn + self.page_size)
            needed += 1
        return needed

    def _preempt(self, t: int) -> int:
        """Take the newest off its seat; returns the pages that it needed: 1 or 0."""
        rank = self.newest
        self.newest = self.older[rank]
        self.running -= 1
        self.resident -= 1
        self.preemptions[rank] += 1
        self.changed = t
        if rank == self.chunking:
            self.chunking = NOBODY
            self._give_back(self.chunking_pages, self.chunking_kv)
            self.chunking_pages = self.chunking_kv = 0
            return 0
        left = self.left[rank] = self.finish[rank] - t + 1
        stored = self.prompt[rank] + self.output[rank] - left
        pages = (stored + self.page_size - 1) // self.page_size
        self._give_back(pages, stored)
        self._stop_decoding(rank)
        if not self.spans and left == 1:
            self.ending_count -= 1  # noted in order of rank, so it is the last
        return 1 if stored == pages * self.page_size else 0

    def _give_back(self, pages: int, stored: int) -> int:
        self.free += pages
        self.pages -= pages
        self.kv -= stored
        return 0

    def _continue_prefill(self, t: int) -> int:
        """The prefill under way takes what it can of the budget: at least one token."""
        chunk = min(self.to_prefill, self.budget_left)
        self.budget_left -= chunk
        self.to_prefill -= chunk
        self.kv += chunk
        if self.to_prefill == 0:
            rank = self.chunking
            self.chunking = NOBODY
            self.chunking_pages = self.chunking_kv = 0
            self._start_decoding(rank, t)
        else:
            self.chunking_kv += chunk
        return 0

    def _admit(self, t: int) -> int:
        """Admit from the head of the queue; returns the gate that holds the next one back, or NONE."""
        if not self._waits(t - 1):
            return NONE
        if self.static and self.resident > 0:
            return BATCH
        while True:
            gate = self._gate(self.budget_left)
            if gate != NONE:
                return BATCH if self.static else gate  # what filled a batch is no reason once it is resident
            self._seat(t)
            if not self._waits(t - 1):
                return NONE

    def _head(self) -> int:
        """Who is first of those that wait; somebody must."""
        rank = self.newer[self.newest]
        return self.fresh if rank == self.requests else rank

    def _gate(self, left: int) -> int:
        """The first gate that does not let the head pass with `left` tokens, or NONE."""
        if self.resident >= self.seats:
            return SEATS
        rank = self._head()
        prefill = self.prompt[rank] + self.output[rank] - self.left[rank]
        if prefill > left and (left == 0 or not self.chunked):
            return TOKENS
        if prefill // self.page_size >= self.free:  # pages_for(prefill + 1) is one more
            return PAGES
        return NONE

    def _seat(self, t: int) -> int:
        """Admit the head, which every gate let pass; its first chunk takes what it can of the budget."""
        requests = self.requests
        rank = self.newer[self.newest]
        if rank == requests:
            rank = self.fresh
            self.fresh += 1
            self.start[rank] = t
            self.older[rank] = self.newest
            self.newer[rank] = requests
            self.newer[self.newest] = self.older[requests] = rank
        self.newest = rank
        self.running += 1
        self.resident += 1
        prefill = self.prompt[rank] + self.output[rank] - self.left[rank]
        pages = prefill // self.page_size + 1
        self.free -= pages
        self.pages += pages
        if prefill <= self.budget_left:
            self.budget_left -= prefill
            self.kv += prefill
            return self._start_decoding(rank, t)
        self.kv += self.budget_left
        self.chunking = rank
        self.chunking_pages = pages
        self.chunking_kv = self.budget_left
        self.to_prefill = prefill - self.budget_left
        self.budget_left = 0
        self.grows[rank] = self.finish[rank] = NOBODY  # neither happens before its prefill is complete
        self.changed = t
        return 0

    def _start_decoding(self, rank: int, t: int) -> int:
        """The prefill of `rank` is complete: it emits a token in this iteration, and one in each from now on."""
        self.decoding += 1
        self.kv += 1
        self.changed = t
        left = self.left[rank]
        finish = self.finish[rank] = t + left - 1
        # Its pages have room for prefill + 1 tokens, and for these ones more.
        room = self.page_size - 1 - (self.prompt[rank] + self.output[rank] - left) % self.page_size
        grows = t + 1 + room
        if not self.spans:
            self.grows[rank] = grows
            if left == 1:
                self.ending[self.ending_count] = rank
                self.ending_count += 1
            return 0
        self.ends.push(rank, finish)
        if self.bucketed:
            self.grows[rank] = grows % self.page_size
            self.due[self.grows[rank]] += 1
        elif grows <= finish:
            self.growths.push(rank, grows - self.passed)
        return 0

    def _stop_decoding(self, rank: int) -> int:
        self.decoding -= 1
        if self.spans:
            self.ends.remove(rank)
            if self.bucketed:
                self.due[self.grows[rank]] -= 1
            elif self.growths.places[rank] != NOBODY:
                self.growths.remove(rank)
        return 0

    def _complete(self, t: int) -> int:
        """Whoever has all tokens finishes; gives back what is free then."""
        if self.spans:
            while self.ends.size > 0 and self.ends.times[0] == t:
                self._finish(self.ends.ranks[0], t)
        else:
            while self.ending_count > 0:
                self.ending_count -= 1
                self._finish(self.ending[self.ending_count], t)
        if self.static and self.running == 0:
            self._give_back(self.pages, self.kv)
            self.resident = 0
            self.held_wasted = 0
        return 0

    def _finish(self, rank: int, t: int) -> int:
        older, newer = self.older[rank], self.newer[rank]
        self.newer[older] = newer
        self.older[newer] = older
        if rank == self.newest:
            self.newest = older
        self.running -= 1
        self.changed = t
        self._stop_decoding(rank)
        stored = self.prompt[rank] + self.output[rank]
        pages = (stored + self.page_size - 1) // self.page_size
        if self.static:
            self.held_wasted += pages * self.page_size - stored
        else:
            self._give_back(pages, stored)
            self.resident -= 1
        return 0

    # Iterations in which nothing is decided

    def _span(self) -> int:
        """Pass the iterations after this one in which nothing can happen but that tokens are computed."""
        t = self.iteration
        chunk = self.budget - self.decoding if self.chunking != NOBODY else 0
        # Whatever arrives, nobody is admitted
        if self.static:
            shut = BATCH
        elif self.resident >= self.seats:
            shut = SEATS
        else:
            shut = NONE if chunk == 0 else TOKENS
        last = NO_BUDGET
        gate = shut
        waits = self._waits(t)
        if shut == NONE and waits:
            gate = self._gate(self.budget - self.decoding)
            if gate == NONE:
                return 0
        elif shut == NONE and self.fresh < self.requests:
            last = self.arrival[self.fresh]
        if self.decoding > 0:
            last = min(last, self.ends.times[0] - 1)
        if chunk > 0:
            last = min(last, t + (self.to_prefill - 1) // chunk)
        if last > t:
            self._pass(last, chunk)
            joined = t if waits else self.arrival[self.fresh] if self.fresh < self.requests else last
            if self.iteration > joined:
                self.gates[gate] += self.iteration - joined
        return 0

    def _pass(self, last: int, chunk: int) -> int:
        """Pass iterations up to `last`, if pages do not run short before.

        chunk: tokens that each of them adds to the prefill under way
        """
        size = self.page_size
        turned = self.changed + size  # by then each decoding request has needed a page once
        if self.bucketed and turned <= last - size:
            self._walk(turned, chunk)
        if turned <= self.iteration <= last - size:
            self._turn((last - self.iteration) // size, chunk)
        self._walk(last, chunk)
        if self.pages > self.peak_pages:
            self.peak_pages = self.pages
        return 0

    def _walk(self, last: int, chunk: int) -> int:
        """Pass iterations up to `last`, or to before pages are short, or without buckets to before one is needed.

        More is wasted than before only in an iteration in which somebody needs a page.
        """
        if not self.bucketed:
            if self.growths.size > 0:
                last = min(last, self.growths.times[0] + self.passed - 1)
            if last > self.iteration:
                self.spilled += held_in(1, last - self.iteration, self.pages, 0, 0)
                self._count(last - self.iteration, chunk)
            return 0
        due = self.due
        size, free, pages, kv, held, peak = self.page_size, self.free, self.pages, self.kv, self.held, self.peak_wasted
        more = self.decoding + chunk
        t = self.iteration
        place = t % size
        while t < last:
            place += 1
            if place == size:
                place = 0
            needed = due[place]
            if needed > free:
                break
            free -= needed
            pages += needed
            kv += more
            held += pages
            t += 1
            if needed > 0 and pages * size - kv > peak:
                peak = pages * size - kv
        self.free, self.pages, self.held, self.peak_wasted = free, pages, held, peak
        if held >= SPILL:
            self._spill()
        return self._count(t - self.iteration, chunk)

    def _turn(self, turns: int, chunk: int) -> int:
        """Pass `turns` times as many iterations as a page has tokens, or fewer if pages do not last.

        In each such turn everybody who decodes needs one page. Nothing has changed for one turn at least, and what is
        wasted comes back after each, so that no new peak of that is reached.
        """
        size, decoding = self.page_size, self.decoding
        if decoding > 0:
            turns = min(turns, self.free // decoding)
        if turns == 0:
            return 0
        wasted = self.pages * size - self.kv - self.held_wasted - (self.chunking_pages * size - self.chunking_kv)
        # One has room for cap - kv tokens more, and needs a page in the iteration after these.
        self.spilled += held_in(turns, size, self.pages, decoding, wasted + decoding)
        self.pages += turns * decoding
        self.free -= turns * decoding
        self.passed += turns * size
        return self._count(turns * size, chunk)

    def _count(self, iterations: int, chunk: int) -> int:
        self.iteration += iterations
        self.busy += iterations
        self.decoded += iterations * self.decoding
        self.kv += iterations * (self.decoding + chunk)
        self.to_prefill -= iterations * chunk
        self.chunking_kv += iterations * chunk
        return 0

    def _spill(self) -> int:
        self.spilled += self.held
        self.held = 0
        return 0

    @property
    def pages_held(self) -> int:
        """Pages held, summed over busy iterations: a Python integer, since 64 bits may not do."""
        return self.spilled + self.held

    @property
    def gated(self) -> dict[str, int]:
        """Iterations in which the head of the queue waited for each gate."""
        return {name: self.gates[number] for name, number in GATES.items()}


def held_in(turns: int, size: int, pages: int, growing: int, offsets: int) -> int:
    """Pages held, summed over `turns` times `size` iterations.

    pages:   held before the first of them
    growing: requests of which each needs one page in each turn
    offsets: summed over these, in which iteration of a turn, from 1, that is

    In Python integers, since 64 bits may not do: with o the offset of one of them, it adds size - o + 1 to the first
    turn, and `size` more to each that follows.
    """
    return turns * (size * pages + growing * (size + 1) - offsets) + growing * size * (turns * (turns - 1) // 2)
