"""What a trace is like: its arrivals, its lengths, what it asks of the pool. No replay is run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import count, pairwise
from typing import Any

from lab.distribution import percentile
from lab.engine import screen
from lab.errors import InputError
from lab.formats.trace_json import REQUEST_OPTIONAL, trace_sha256
from lab.paging import pages_for
from lab.policies import POLICIES
from lab.workload import Trace

PERCENTILES = (5, 25, 50, 75, 95, 99)
PERCENTILE_RULE = "lower order statistic: pQ = sorted[floor(Q / 100 * (n - 1))]"

MOST_BARS = 40
"""Bars of a histogram with equal steps."""

LONG_TAIL = 50
"""A largest value so many times the median is drawn in steps that double: equal ones would show one bar and a line."""

Number = int | float


def distribution(values: Sequence[Number]) -> dict[str, Number]:
    """``{"n", "min", "p5", …, "p99", "max", "mean", "sum"}`` of `values`, all 0 for none.

    Percentiles are by PERCENTILE_RULE, in integer arithmetic on the rank.
    """
    ordered = sorted(values)
    n = len(ordered)
    if not n:
        return dict.fromkeys(("n", "min", *(f"p{q}" for q in PERCENTILES), "max", "mean", "sum"), 0)
    total = sum(ordered)
    return {
        "n": n,
        "min": ordered[0],
        **{f"p{q}": percentile(ordered, 10 * q) for q in PERCENTILES},
        "max": ordered[-1],
        "mean": total / n,
        "sum": total,
    }


def trace_stats(trace: Trace) -> dict[str, Any]:
    """Plain JSON data on `trace`; times in its own unit, lengths in tokens, pages of its own limits.

    ``arrivals``:  ``first``, ``last``, ``most_at_once`` (requests with the same arrival), and ``gaps``, the
                   distribution of the times from one arrival to the next
    ``prompt_tokens``, ``output_tokens``, ``total_tokens`` (both), ``pages`` (that a request holds at its end):
                   distributions, as of `distribution`
    ``rejected``:  per policy, how many requests the trace's limits and options could never serve
    ``fields``:    how many requests have each optional field
    """
    requests, limits = trace.requests, trace.limits
    arrivals = sorted(request.arrival for request in requests)
    same: dict[Number, int] = {}
    for arrival in arrivals:
        same[arrival] = same.get(arrival, 0) + 1
    totals = [request.prompt_tokens + request.output_tokens for request in requests]
    used = {name: sum(getattr(request, name) is not None for request in requests) for name in REQUEST_OPTIONAL}
    return {
        "name": trace.name,
        "sha256": trace_sha256(trace),
        "requests": len(requests),
        "time_unit": trace.time_unit,
        "limits": {name: getattr(limits, name) for name in ("max_num_seqs", "num_pages", "page_size")},
        "percentiles": PERCENTILE_RULE,
        "arrivals": {
            "first": arrivals[0] if arrivals else 0,
            "last": arrivals[-1] if arrivals else 0,
            "most_at_once": max(same.values(), default=0),
            "gaps": distribution([later - earlier for earlier, later in pairwise(arrivals)]),
        },
        "prompt_tokens": distribution([request.prompt_tokens for request in requests]),
        "output_tokens": distribution([request.output_tokens for request in requests]),
        "total_tokens": distribution(totals),
        "pages": distribution([pages_for(tokens, limits.page_size) for tokens in totals]),
        "rejected": {policy: len(screen(requests, limits, policy, trace.options)[1]) for policy in POLICIES},
        "fields": {name: n for name, n in used.items() if n},
    }


def histogram(values: Sequence[Number]) -> dict[str, Any]:
    """``{"edges": [e0, …, en], "counts": [n of values in e0 <= v < e1, …], "doubling": bool}`` of values >= 0.

    At most MOST_BARS bars of equal width, a tidy number each; with a long tail (see LONG_TAIL) the edges are 0 and
    powers of two instead, each bar but the first twice as wide as the one before.
    """
    if not values:
        return {"edges": [0, 1], "counts": [0], "doubling": False}
    ordered = sorted(values)
    if ordered[0] < 0:
        raise InputError(f"must be at least 0 to be counted in a histogram, not {ordered[0]}", field="values")
    median = ordered[(len(ordered) - 1) // 2]
    whole = all(type(value) is int for value in ordered)
    doubling = ordered[-1] > LONG_TAIL * (max(1, median) if whole else median) > 0
    edges = _doubling(ordered, whole) if doubling else _equal(ordered[0], ordered[-1], whole)
    counts = [0] * (len(edges) - 1)
    bar = 0
    for value in ordered:
        while bar < len(counts) - 1 and value >= edges[bar + 1]:
            bar += 1
        counts[bar] += 1
    return {"edges": edges, "counts": counts, "doubling": doubling}


def _doubling(ordered: Sequence[Number], whole: bool) -> list[Number]:
    """0 and the powers of two from just below the low values to beyond the largest."""
    low = next(value for value in ordered[(len(ordered) - 1) // 20 :] if value > 0)
    exponent = max(0, math.frexp(low)[1] - 1) if whole else math.frexp(low)[1] - 1
    edges: list[Number] = [0]
    while edges[-1] <= ordered[-1]:
        edges.append(2**exponent if exponent >= 0 else 2.0**exponent)
        exponent += 1
    return edges


def _equal(low: Number, high: Number, whole: bool) -> list[Number]:
    """Edges in steps of 1, 2 or 5 times a power of ten, whole ones for whole numbers, from `low` to beyond `high`."""
    span = Fraction(high) - Fraction(low)
    power = Fraction(1) if whole else Fraction(1, 10**6)
    step = next(
        factor * power * 10**n
        for n in count()
        for factor in (1, 2, 5)
        if span < factor * power * 10**n * (MOST_BARS - 1)
    )
    first = Fraction(low) // step
    bars = int(Fraction(high) // step - first) + 1
    exact = [(first + i) * step for i in range(bars + 1)]
    return [int(edge) if whole else float(edge) for edge in exact]
