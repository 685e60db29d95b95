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
CHECKS = "checks"
"""The sections; what is in the last one is run for its answer alone."""

PLAIN_WORKLOADS = {"steady": 1200, "preempting": 400}
"""Of these so many requests: one with room for all, and one whose pool is too small."""

CORNER_WORKLOADS = (
    *("at_once", "long_queue", "backwards", "preempting", "storm", "long_pages", "held", "chunked", "sparse"),
    *("refused", "vast", "endless"),
)
CLOSED_FORM = ("vast", "endless")
"""Those that only the closed form can do."""

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
    """Cases that take turns, `rounds` times, after one round to get warm, which is not counted."""

    title: str
    cases: tuple[Case, ...]
    rounds: int
    warm_up: bool = True


def groups(quick: bool) -> list[Group]:
    """All that is measured. `quick`: less of it, fewer times."""
    return [
        _tokens(quick),
        _records(quick),
        _small(quick),
        _plain(quick),
        _conversation(quick),
        *_sizes(quick),
        *_corners(quick),
        *([] if quick else [_conversation_records()]),
        _checks(quick),
    ]


TOKEN_REQUESTS = {False: 1000, True: 250}
"""By `quick`: requests of the long answers on which a token is timed."""


def _tokens(quick: bool) -> Group:
    cases = [
        Case(TOKENS, workload, TOKEN_REQUESTS[quick], "continuous", way, WORKERS)
        for workload, way in product(("roomy", "starved"), FIGURES)
    ]
    return Group("time a simulated token", tuple(cases), 2 if quick else 5)


def _records(quick: bool) -> Group:
    """The same with a record of every iteration, which takes so long that once is enough."""
    cases = [
        Case(TOKENS, workload, TOKEN_REQUESTS[quick], "continuous", "records", HERE, at_least=0)
        for workload in ("roomy", "starved")
    ]
    return Group("the same with records", tuple(cases), 1, warm_up=False)


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


def _conversation_records() -> Group:
    """The same with a record of every iteration, once: that it comes to the same, and how long it takes."""
    cases = [
        Case(CONVERSATION, "conversation", CONVERSATION_REQUESTS, policy, "records", (PURE,), at_least=0)
        for policy in POLICIES
    ]
    return Group("the conversation workload with records", tuple(cases), 1, warm_up=False)


def _checks(quick: bool) -> Group:
    """What was measured at the smallest size, with records: all else is compared with them."""
    sizes = {"steady": 1000, **dict.fromkeys(CORNER_WORKLOADS, CORNER_REQUESTS[quick])}
    cases = [
        Case(CHECKS, workload, n, policy, "records", (PURE,), at_least=0)
        for (workload, n), policy in product(sizes.items(), POLICIES)
        if workload != "vast"  # which has iterations by the billion
    ]
    return Group("the same answers from the record loop", tuple(cases), 1, warm_up=False)


def _sizes(quick: bool) -> list[Group]:
    """Small sizes more often: they are over in no time, and are what the large ones are divided by."""
    sizes = [(1000, 5), (10_000, 5), (100_000, 3)] + ([] if quick else [(1_000_000, 2)])
    return [
        Group(
            f"{n:,} requests",
            tuple(
                Case(SIZES, "steady", n, policy, "spans", (worker,), fresh=True)
                for policy, worker in (*product(POLICIES, HERE), ("continuous", NODE_COMPILED))
                if worker == COMPILED or n < 1_000_000
            ),
            1 if quick else rounds,
            warm_up=False,
        )
        for n, rounds in sizes
    ] + ([] if quick else [_slowest()])


def _slowest() -> Group:
    case = Case(SIZES, "steady", 1_000_000, "continuous", "spans", (PURE, NODE_COMPILED), fresh=True)
    return Group("1,000,000 requests where they take long", (case,), 1, warm_up=False)


CORNER_REQUESTS = {False: 1000, True: 250}
"""By `quick`: the smallest size of a corner."""


def _corners(quick: bool) -> list[Group]:
    least = CORNER_REQUESTS[quick]
    return [
        Group(
            f"corner: {workload}",
            tuple(
                Case(CORNERS, workload, least * step, policy, way, HERE, at_least=0.02)
                for policy, way, step in product(POLICIES, FIGURES, STEPS)
                if workload not in CLOSED_FORM or way == "spans"
            ),
            2 if quick else 3,
        )
        for workload in CORNER_WORKLOADS
    ]
