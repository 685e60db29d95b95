"""Random engines and workloads: one recipe, fed by hypothesis or by a seeded generator.

``build_case(pick)`` makes a case from nothing but ``pick(low, high)``, an integer of ``low..high``. So
``cases()`` (hypothesis, which shrinks towards ``low``) and ``seeded_case(seed)`` (``random.Random``, for
where hypothesis is not installed, such as Pyodide) produce the same kinds of case. Sizes are small: a replay
takes some hundred iterations at most.
"""

import random
from dataclasses import dataclass

from lab.replay import run
from lab.workload import Limits, Request, Trace


@dataclass(frozen=True)
class Case:
    """A workload and the engine that it runs on."""

    requests: tuple[Request, ...]
    limits: Limits

    def __repr__(self):
        """What a reader needs to run the case by hand."""
        limits = self.limits
        rows = ", ".join(f"({r.arrival}, {r.prompt_tokens}, {r.output_tokens})" for r in self.requests)
        return (
            f"case([{rows}], seqs={limits.max_num_seqs}, pages={limits.num_pages}, size={limits.page_size}, "
            f"budget={limits.max_num_batched_tokens}, chunked={limits.chunked_prefill})"
        )


def case(rows, *, seqs, pages, size, budget=None, chunked=False):
    """A case from ``(arrival, prompt_tokens, output_tokens)`` rows; ids are a … z, a1 … in the order given."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [letters[n % 26] + (str(n // 26) if n >= 26 else "") for n in range(len(rows))]
    requests = tuple(Request(name, *row) for name, row in zip(names, rows, strict=True))
    return Case(requests, Limits(seqs, pages, size, budget, chunked))


def replayed(case, policy):
    """What the project's engine makes of ``case``: ``metrics``, ``requests`` and ``rows`` of the document."""
    document = replay_of(case, (policy,)).to_document()
    return document["policies"][policy]


def replay_of(case, policies=("static", "continuous")):
    """The project's replay of ``case`` under ``policies``."""
    return run(Trace("case", case.limits, case.requests), policies=policies)


def build_case(pick):
    """Make one case; ``pick(low, high)`` chooses every integer, both ends included."""
    if pick(0, 7) == 7:
        return crowd(pick)
    rows = build_rows(pick)
    size = (1, 2, 3, 4, 16)[pick(0, 4)]
    seqs = pick(1, 5)
    pages, size = build_pool(pick, rows, size)
    # The longest prefill that can be needed just fits, or misses by one.
    longest = max(prompt + output for _, prompt, output in rows) - 1
    budget = (
        None,
        None,
        seqs,
        seqs + pick(1, 3),
        seqs + pick(4, 12),
        max(seqs, longest - 1 + pick(0, 2)),
        longest + seqs,
    )[pick(0, 6)]
    return case(rows, seqs=seqs, pages=pages, size=size, budget=budget, chunked=pick(0, 1) == 1)


def build_rows(pick):
    """One to eight ``(arrival, prompt_tokens, output_tokens)`` rows."""
    shape = pick(0, 5)
    rows = []
    arrival = 0
    for _ in range(pick(1, 8)):
        # Mostly together or close; now and then so far apart that the engine falls idle.
        arrival += (0, 0, 0, 0, 0, 1, 2, 5, 60)[pick(0, 8)]
        if shape == 5:  # arrivals in no order at all
            arrival = pick(0, 30)
        prompt = pick(1, 4) if shape == 1 else pick(1, 12)  # 1: short prompts, memory fills while decoding
        output = 1 if shape == 2 and pick(0, 1) else pick(1, 14)  # 2: many a request ends as it starts
        rows.append((arrival, prompt, output))
    return rows


def build_pool(pick, rows, size):
    """``(num_pages, page_size)``: the pool decides what a case is about, and more than half starve."""
    needs = sorted(-(-(prompt + output) // size) for _, prompt, output in rows)
    kind = pick(0, 11)
    if kind <= 5:  # the largest request just fits, alone or beside little: running together means preempting
        return needs[-1] + pick(0, 2), size
    if kind <= 7:
        return needs[-1] + needs[0], size
    if kind == 8:  # the largest can never run
        return max(1, needs[-1] - pick(1, 3)), size
    if kind == 9:  # up to half of them can never run
        return needs[len(needs) // 2], size
    if kind == 10:
        return 1, (1, 16, 16)[pick(0, 2)]
    return sum(needs), size


def crowd(pick):
    """Equal short prompts that grow in step on as many pages: several victims in one iteration."""
    seqs = pick(3, 5)
    prompt = pick(1, 3)
    rows = [(pick(0, 3) // 3, prompt, pick(4, 14)) for _ in range(pick(seqs, 8))]
    size = pick(prompt + 1, 5)
    most = max(-(-(prompt + output) // size) for _, _, output in rows)
    pages = max(most, seqs + pick(0, 1))
    budget = (None, seqs, seqs * prompt, 16 + prompt)[pick(0, 3)]
    return case(rows, seqs=seqs, pages=pages, size=size, budget=budget, chunked=pick(0, 1) == 1)


def large_case(seed):
    """A case with some eighty requests and up to thirty seats, starved or not, for what small ones miss."""
    pick = random.Random(seed).randint
    rows = [(pick(0, 12) ** 2, pick(1, 60), pick(1, 50)) for _ in range(pick(60, 100))]
    seqs = pick(8, 30)
    size = (1, 4, 8, 16)[pick(0, 3)]
    needs = sorted(-(-(prompt + output) // size) for _, prompt, output in rows)
    pages = needs[-1] * pick(1, 6) - (pick(1, 3) if pick(0, 3) == 0 else 0)
    budget = (None, seqs, seqs + pick(10, 40), 128)[pick(0, 3)]
    return case(rows, seqs=seqs, pages=pages, size=size, budget=budget, chunked=pick(0, 3) > 0)


def seeded_case(seed):
    """The case of ``seed``, the same under every Python."""
    return build_case(random.Random(seed).randint)


def cases():
    """The hypothesis strategy for cases."""
    from hypothesis import strategies as st

    @st.composite
    def composed(draw):
        return build_case(lambda low, high: draw(st.integers(low, high)))

    return composed()
