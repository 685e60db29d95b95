"""What is measured: groups of cases. The cases of a group take turns, so that a busy moment does not hit one alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from lab.bench.workloads import CONVERSATION_REQUESTS

PURE, COMPILED = "cpython pure", "cpython compiled"
NODE_PURE, NODE_COMPILED = "node pure", "node compiled"
CHROMIUM_PURE, CHROMIUM_COMPILED = "chromium pure", "chromium compiled"
HERE = (PURE, COMPILED)
WORKERS = (*HERE, NODE_PURE, NODE_COMPILED, CHROMIUM_PURE, CHROMIUM_COMPILED)
"""Where a case can run: a Python, and the core that it is made to use."""

POLICIES = ("continuous", "static")
FIGURES = ("loop", "spans")
"""The two ways to get figures alone."""

TOKENS, SMALL, PLAIN, CONVERSATION, SIZES, CORNERS = "tokens", "small", "plain", "conversation", "sizes", "corners"

PLAIN_WORKLOADS = {"steady": 1200, "preempting": 400}
"""Of these so many requests: one with room for all, and one whose pool is too small."""

CORNER_WORKLOADS = ("at_once", "long_queue", "preempting", "storm", "held", "chunked", "sparse", "refused", "endless")
STEPS = (1, 4, 16)
"""The sizes of a corner, in multiples of the smallest."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to time, in each of `workers`.

    fresh:    in a process of its own each time, with its memory
    at_least: seconds to spend on one timing, by running it several times
    """

    section: str
    workload: str
    n: int
    policy: str
    way: str
    workers: tuple[str, ...]
    fresh: bool = False
    at_least: float = 0.05


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that take turns, `rounds` times, after one round that is not counted."""

    title: str
    cases: tuple[Case, ...]
    rounds: int


def groups(quick: bool) -> list[Group]:
    """All that is measured. `quick`: less of it, fewer times."""
    return [
        _tokens(quick),
        _small(quick),
        _plain(quick),
        _conversation(quick),
        *_sizes(quick),
        *_corners(quick),
    ]


def _tokens(quick: bool) -> Group:
    n = 250 if quick else 1000
    cases = [
        Case(TOKENS, workload, n, "continuous", way, WORKERS)
        for workload, way in product(("roomy", "starved"), FIGURES)
    ]
    return Group("time a simulated token", tuple(cases), 2 if quick else 5)


def _small(quick: bool) -> Group:
    return Group(
        "one call on nine requests", (Case(SMALL, "steady", 9, "continuous", "spans", WORKERS),), 3 if quick else 5
    )


def _plain(quick: bool) -> Group:
    """Traces that the plain implementation, which works out everything again and again, can do in a second or two."""
    cases = [
        Case(
            PLAIN, workload, n // 4 if quick else n, "continuous", way, (PURE,) if way in ("records", "plain") else HERE
        )
        for (workload, n), way in product(PLAIN_WORKLOADS.items(), ("plain", "records", *FIGURES))
    ]
    return Group("against the plain implementation", tuple(cases), 1 if quick else 3)


def _conversation(quick: bool) -> Group:
    cases = [
        Case(CONVERSATION, "conversation", CONVERSATION_REQUESTS, policy, way, WORKERS)
        for policy, way in product(POLICIES, FIGURES)
    ]
    return Group("the conversation workload", tuple(cases), 1 if quick else 5)


def _sizes(quick: bool) -> list[Group]:
    """Small sizes more often: they are over in no time, and are what the large ones are divided by."""
    sizes = [(1000, 5), (10_000, 5), (100_000, 3)] + ([] if quick else [(1_000_000, 1)])
    return [
        Group(
            f"{n:,} requests",
            tuple(Case(SIZES, "steady", n, policy, "spans", HERE, fresh=True) for policy in POLICIES),
            1 if quick else rounds,
        )
        for n, rounds in sizes
    ]


def _corners(quick: bool) -> list[Group]:
    least = 250 if quick else 1000
    return [
        Group(
            f"corner: {workload}",
            tuple(
                Case(CORNERS, workload, least * step, policy, way, HERE, at_least=0.02)
                for policy, way, step in product(POLICIES, FIGURES, STEPS)
                if (workload, way) != ("endless", "loop")  # there the loop is all of it
            ),
            1 if quick else 2,
        )
        for workload in CORNER_WORKLOADS
    ]
