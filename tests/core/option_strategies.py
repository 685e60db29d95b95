"""Random engines, options and workloads for them, from seeds, so that they are the same under every Python.

As in ``strategies``: ``build_case(pick)`` makes a case from nothing but ``pick(low, high)``. Each case has a theme,
whose option is on and for which pool and trace are made so that its rare states do occur; every other option is on
now and then, so that they meet in all combinations.
"""

import random
from dataclasses import dataclass, replace

from lab.options import Options
from lab.replay import run
from lab.workload import Limits, Request, Trace

THEMES = ("mixed", "starved", "swap", "share", "fork", "slab", "clients", "cancel", "clock", "chunk", "chunk")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Case:
    """A workload, the engine that it runs on, and the options that are on."""

    requests: tuple[Request, ...]
    limits: Limits
    options: Options
    unit: str = "iteration"

    def __repr__(self):
        """What a reader needs to run the case by hand."""
        fields = ("client", "cancel_after_tokens", "cancel_at", "samples", "prefix")
        rows = []
        for r in self.requests:
            more = {name: getattr(r, name) for name in fields if getattr(r, name) is not None}
            rows.append((r.id, r.arrival, r.prompt_tokens, r.output_tokens, *([more] if more else [])))
        return f"{self.unit}: {rows}, {self.limits}, {self.options.changes()}"

    def trace(self):
        return Trace("case", self.limits, self.requests, time_unit=self.unit, options=self.options)


def replay_of(case, policies=("static", "continuous")):
    """The project's replay of ``case`` under ``policies``."""
    return run(case.trace(), policies=policies)


def replayed(case, policy):
    """What the project's engine makes of ``case``: ``metrics``, ``requests`` and ``rows`` of the document."""
    return replay_of(case, (policy,)).to_document()["policies"][policy]


def build_case(pick):
    """Make one case; ``pick(low, high)`` chooses every integer, both ends included."""
    theme = THEMES[pick(0, len(THEMES) - 1)]
    size = pick(1, 3) if theme in ("share", "slab", "chunk") else (1, 2, 3, 4, 8)[pick(0, 4)]
    seqs = pick(4 if theme == "slab" else 3 if theme == "swap" else 2 if theme in ("fork", "chunk") else 1, 5)
    rows = build_rows(pick, theme, size)
    pages = build_pool(pick, rows, size, theme, seqs)
    longest = max(row["prompt_tokens"] + row["output_tokens"] for row in rows) - 1
    chunked = pick(0, 2) > 0 or theme == "chunk"
    small = (seqs, seqs + pick(1, 4), seqs + pick(4, 12))[pick(0, 2 if theme != "chunk" else 1)]
    whole = max(seqs, longest - 1 + pick(0, 2))  # the longest prefill just fits, or misses by one
    budget = (None, small if chunked else whole, whole + seqs)[
        pick(0, 2) if theme not in ("chunk", "slab") else 1 if theme == "chunk" else 0
    ]
    limits = Limits(seqs, pages, size, budget, chunked)
    unit = ("ms", "s", "ms", "iteration")[pick(0, 3)] if theme == "clock" or pick(0, 5) == 5 else "iteration"
    options = build_options(pick, theme, rows, limits)
    return Case(tuple(Request(**in_unit(pick, row, unit, options)) for row in rows), limits, options, unit)


def build_rows(pick, theme, size):
    """One to nine requests as keyword arguments, times in iterations."""
    crowded = theme in ("starved", "swap") or pick(0, 4) == 0
    rows, arrival = [], 0
    for n in range(pick(3, 9) if crowded or theme in ("slab", "chunk") else pick(1, 8)):
        arrival += (0, 0, 0, 0, 1, 1, 2, 5, 40)[pick(0, 6 if crowded else 8)]
        row = {
            "id": LETTERS[n],
            "arrival": pick(0, 20) if pick(0, 11) == 11 else arrival,
            "prompt_tokens": pick(1, 3) if crowded and pick(0, 3) else pick(1, 12),
            "output_tokens": pick(4, 14) if crowded or theme == "chunk" else pick(1, 12),
        }
        if theme in ("chunk", "slab") and pick(0, 1):
            row["prompt_tokens"] += 8
        if pick(0, 1) or theme == "clients":
            row["client"] = ("u", "v", "w", None)[pick(0, 3)]
        if theme == "share" or pick(0, 3) == 3:
            add_prefix(pick, row, size)
        if theme in ("fork", "chunk") or pick(0, 3) == 3:
            row["samples"] = pick(1, 3 if pick(0, 3) else 6)
        if theme == "swap" and pick(0, 1):  # while it is swapped out, with luck
            row["cancel_at"] = row["arrival"] + pick(4, 16)
        elif theme == "cancel" or pick(0, 3) == 3:
            add_cancel(pick, row)
        rows.append(row)
    return rows


def add_prefix(pick, row, size):
    """A prompt that begins like others do; mostly of whole pages, which are found again as a whole."""
    family = pick(0, 2)
    if pick(0, 2):
        row["prompt_tokens"] = size * pick(1, 4) + (pick(0, 2) if pick(0, 1) else 0)
    given = [family * 10 + i for i in range(pick(1, 6))]
    if pick(0, 3) == 3:
        given[pick(0, len(given) - 1)] = (str(family * 10), "x")[pick(0, 1)]  # text is another id than the number
    row["prefix"] = tuple(given)


def add_cancel(pick, row):
    kind = pick(0, 3)
    if kind != 1:
        row["cancel_at"] = row["arrival"] + pick(0, 14)
    if kind != 2:
        row["cancel_after_tokens"] = max(1, row["output_tokens"] - pick(-1, 8))


def build_pool(pick, rows, size, theme, seqs):
    """Pages: more than half of the pools are too small for what would run together."""
    needs = sorted(-(-(row["prompt_tokens"] + row["output_tokens"]) // size) for row in rows)
    kind = pick(0, 9)
    if theme == "slab":  # room for a few, so that holes of different widths come about
        return max(needs[-1] + pick(0, 4), sum(needs) * pick(2, 4) // len(needs))
    if theme == "chunk" and kind <= 6:  # filled by a long prompt beside short ones, which then grow
        return needs[-1] + pick(0, 9)
    if kind <= 4:
        most = needs[-1] + pick(0, 3)
        return max(most, seqs + pick(0, 2)) if theme in ("starved", "swap") else most
    if kind <= 6:
        return needs[-1] + needs[0] + pick(0, 4)
    if kind == 7:  # the largest can never run
        return max(1, needs[-1] - pick(1, 3))
    if kind == 8:
        return needs[len(needs) // 2] + pick(0, 2)
    return sum(needs) + 6


def build_options(pick, theme, rows, limits):
    """The theme's options, and every other now and then."""
    kv = (1, 1000, None)[pick(0, 2)]
    chosen = {"kv_bytes_per_token": kv, "figures": pick(0, 3) == 3}

    def on(*themes):
        return theme in themes or pick(0, 3) == 3 or (theme == "chunk" and pick(0, 2) == 2)

    if on("clock"):
        chosen |= {"step_time": ("llama-3.1-8b-h100", "llama-3.1-8b-a100")[pick(0, 1)], "kv_read": pick(0, 1) == 1}
        if pick(0, 1):  # 10 ms a step at least, 1 ms a token, so that tokens count
            chosen |= {"weight_bytes": 10_000, "memory_bandwidth": 1_000_000, "token_ns": (1_000_000, 7)[pick(0, 1)]}
        chosen |= {"scheduler_us": (0, 0, 2000, 9000)[pick(0, 3)], "async_scheduling": pick(0, 1) == 1}
        chosen["stall_ms"] = (50, 10, 4.9, 12.5)[pick(0, 3)]
    if pick(0, 1):
        chosen["iteration_ms"] = (20, 100, 400, 7.5, 1500)[pick(0, 4)]
    if on("mixed"):
        chosen["prefill_first"] = True
    if on("mixed"):
        budget = limits.max_num_batched_tokens or 4
        chosen["chunk_multiple"] = min(budget, pick(1, 4)) if pick(0, 3) else budget
    sharing = (False, False) if theme == "slab" else (on("share"), on("fork"))
    if on("slab") and theme != "chunk" and not any(sharing):
        chosen["allocation"] = ("slab", "slab", "slab", "final-length")[pick(0, 3)]
        if pick(0, 3) == 3:
            whole = sorted(row["prompt_tokens"] + row["output_tokens"] for row in rows)
            chosen["slab_tokens"] = max(1, whole[pick(0, len(whole) - 1)] + pick(-1, 2))
    chosen["prefix_caching"], chosen["fork_samples"] = sharing
    if on("swap"):
        chosen["preemption"] = "swap"
        chosen["swap_pages"] = (None, None, pick(0, 4), pick(2, 9))[pick(0, 3)]
        chosen["swap_pages_per_step"] = (None, pick(1, 3), pick(2, 6))[pick(0, 2)]
        chosen["swap_bandwidth"] = (None, 3_000, 25_000_000_000)[pick(0, 2)]
    if on("starved"):
        chosen["victim"] = "largest"
    if on("cancel") or (theme == "swap" and pick(0, 1)):
        chosen["cancellation"] = ("honoured", "ignored")[pick(0, 1)]
    if on("clients"):
        chosen["admission"] = ("vtc", "limit")[pick(0, 1)]
        chosen["client_tokens_per_second"] = pick(4, 40)
        chosen["input_weight"], chosen["output_weight"] = pick(1, 2), pick(1, 3)
    return Options(**chosen)


def in_unit(pick, row, unit, options):
    """``row`` with its times in ``unit``: around the moments at which iterations may begin."""
    if unit == "iteration":
        return row
    step = options.iteration_ms if options.step_time is None else (5, 4.794186, 10, 12.5)[pick(0, 3)]
    late = (0, 0, 0.25, 3)[pick(0, 3)]

    def moment(iterations):
        ms = iterations * step + late
        return ms if unit == "ms" else round(ms / 1000, 6)

    timed = {name: moment(row[name]) for name in ("arrival", "cancel_at") if name in row}
    return row | timed


def seeded_case(seed):
    """The case of ``seed``, the same under every Python."""
    return build_case(random.Random(seed).randint)


def large_case(seed):
    """A theme's case with some fifty requests of all its kinds on more seats, for what small ones miss."""
    pick = random.Random(seed).randint
    small = [build_case(pick) for _ in range(14)]
    options = small[0].options
    rows = [replace(r, id=f"{r.id}{n}") for n, c in enumerate(small) if c.unit == "iteration" for r in c.requests]
    need = max(r.prompt_tokens + r.output_tokens for r in rows)
    size = small[0].limits.page_size
    pages = -(-need // size) * pick(1, 5) + pick(0, 3)
    budget = (None, 12, 30, 60)[pick(0, 3)]
    return Case(tuple(rows), Limits(pick(3, 12), pages, size, budget, pick(0, 3) > 0), fitting(options))


def fitting(options):
    return options if options.chunk_multiple <= 12 else replace(options, chunk_multiple=5)
