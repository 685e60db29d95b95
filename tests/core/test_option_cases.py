"""The random cases do reach the states that the options are about, seen from the plain implementation."""

from collections import Counter
from functools import cache

import pytest
from option_strategies import seeded_case
from plain_options import Engine

SEEDS = range(400)
pytestmark = pytest.mark.cpython_only("takes seconds; the random cases are the same everywhere")
POLICIES = ("static", "continuous")


@cache
def sample(policy):
    """How many cases reach each state, by its name."""
    count = Counter()
    for seed in SEEDS:
        case = seeded_case(seed)
        engine = Engine(case.requests, case.limits, policy, case.options, case.unit)
        engine.replay()
        busy = [row for row in engine.rows if "idle" not in row]
        states = engine.seen | {f"rejected: {row['reason']}" for row in engine.rejected}
        for row in busy:
            states |= states_of(row)
        if engine.pool.twice:
            states.add("filled twice")
        if engine.on_clock:
            states.add("on the clock")
        count.update(states)
    return count


def states_of(row):
    """The names of what a row shows."""
    found = {
        f"gate: {row['gate']}",
        *(f"seat: {seat['state']}" for seat in row["seats"] if seat),
        *(key for key in ("preempted", "cancelled", "left", "refused", "swapped_out", "swapped_in") if row.get(key)),
    }
    if not row["tokens"]:
        found.add("nothing runs")
    if row.get("fragmented"):
        found.add("fragmented")
    if row.get("forked"):
        found.add("fork with copies" if row["copied_pages"] else "fork of a full page")
    if row.get("shared_pages"):
        found.add("shared pages")
    if row.get("head") and row["head"] != row["waiting"][0]:
        found.add("the head is not the first")
    return found


EITHER = {
    "gate: pages": 60,
    "preempted": 60,
    "several victims": 9,
    "victim just admitted": 18,
    "victim not the newest": 12,
    "swapped_out": 24,
    "swapped_in": 24,
    "swap fallback": 18,
    "fork with copies": 24,
    "fork of a full page": 18,
    "a preempted child comes back": 18,
    "shared pages": 36,
    "hit on a free page": 30,
    "hit on a held page": 6,
    "all cached, last token computed again": 12,
    "a victim finds its own pages": 18,
    "filled twice": 4,
    "cancelled": 24,
    "left": 48,
    "left while decoding": 36,
    "left while waiting and new": 15,
    "left while waiting and preempted": 1,
    "left while swapped out": 1,
    "cancelled twice": 30,
    "cancelled when completed": 6,
    "cancelled when limit": 1,
    "refused": 12,
    "lifted to the least active": 12,
    "lifted to the last to leave": 12,
    "the head is not the first": 6,
    "nothing runs": 9,
    "on the clock": 24,
    "rejected: pages": 24,
    "rejected: seats": 12,
    "rejected: length": 3,
    "rejected: limit": 12,
}
CONTINUOUS = {
    "gate: seats": 60,
    "gate: tokens": 36,
    "gate: swap": 1,
    "seat: stalled": 12,
    "chunk rounded to 0": 9,
    "a prefill under way preempted": 4,
    "a fork to come preempted": 1,
    "swapped in while prefilling": 1,
    "left while prefilling": 1,
    "fragmented": 3,
    "own hits are the free pages it needs": 12,
    "rejected: tokens": 4,
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("state", EITHER)
def test_the_state_occurs_under_either_policy(state, policy):
    assert sample(policy)[state] >= EITHER[state]


@pytest.mark.parametrize("state", CONTINUOUS)
def test_the_state_occurs_under_continuous_batching(state):
    assert sample("continuous")[state] >= CONTINUOUS[state]


def test_a_batch_is_held_and_waited_for_under_static_batching():
    assert sample("static")["gate: batch"] >= 130
    assert sample("static")["seat: held"] >= 60


def test_no_decode_ever_has_to_copy():
    """The copies of a fork are made with it, and only full pages are found in the cache: see lab/RULES.md."""
    assert sample("static")["copy on write by a decode"] == sample("continuous")["copy on write by a decode"] == 0


def test_all_options_are_on_together_with_all_that_they_go_with():
    """Every two options that may be on together are so in some case."""
    names = {
        "step_time": None,
        "prefill_first": False,
        "chunk_multiple": 1,
        "allocation": "on-demand",
        "prefix_caching": False,
        "fork_samples": False,
        "preemption": "recompute",
        "victim": "newest",
        "cancellation": "off",
        "admission": "fcfs",
    }
    together = Counter()
    for seed in SEEDS:
        options = seeded_case(seed).options
        on = [name for name, off in names.items() if getattr(options, name) != off]
        together.update((one, other) for one in on for other in on if one < other)
    apart = {("allocation", "fork_samples"), ("allocation", "prefix_caching")}
    pairs = {(one, other) for one in names for other in names if one < other}
    assert {pair for pair in pairs if together[pair] < 3} == apart
