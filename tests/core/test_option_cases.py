"""The random cases do reach the states that the options are about, seen from the plain implementation."""

from collections import Counter
from functools import cache

import pytest
from option_strategies import seeded_case
from plain_options import Engine

SEEDS = range(600)
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
    "gate: pages": 100,
    "preempted": 100,
    "several victims": 15,
    "victim just admitted": 30,
    "victim not the newest": 20,
    "swapped_out": 40,
    "swapped_in": 40,
    "swap fallback": 30,
    "fork with copies": 40,
    "fork of a full page": 30,
    "a preempted child comes back": 30,
    "shared pages": 60,
    "hit on a free page": 50,
    "hit on a held page": 10,
    "all cached, last token computed again": 20,
    "a victim finds its own pages": 30,
    "filled twice": 8,
    "cancelled": 40,
    "left": 80,
    "left while decoding": 60,
    "left while waiting and new": 25,
    "left while waiting and preempted": 2,
    "left while swapped out": 1,
    "cancelled twice": 50,
    "cancelled when completed": 10,
    "cancelled when limit": 1,
    "refused": 20,
    "lifted to the least active": 20,
    "lifted to the last to leave": 20,
    "the head is not the first": 10,
    "nothing runs": 15,
    "on the clock": 40,
    "rejected: pages": 40,
    "rejected: seats": 20,
    "rejected: length": 5,
    "rejected: limit": 20,
}
CONTINUOUS = {
    "gate: seats": 100,
    "gate: tokens": 60,
    "gate: swap": 2,
    "seat: stalled": 20,
    "chunk rounded to 0": 15,
    "a prefill under way preempted": 8,
    "a fork to come preempted": 1,
    "swapped in while prefilling": 2,
    "left while prefilling": 2,
    "fragmented": 5,
    "own hits are the free pages it needs": 20,
    "rejected: tokens": 8,
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("state", EITHER)
def test_the_state_occurs_under_either_policy(state, policy):
    assert sample(policy)[state] >= EITHER[state]


@pytest.mark.parametrize("state", CONTINUOUS)
def test_the_state_occurs_under_continuous_batching(state):
    assert sample("continuous")[state] >= CONTINUOUS[state]


def test_a_batch_is_held_and_waited_for_under_static_batching():
    assert sample("static")["gate: batch"] >= 200
    assert sample("static")["seat: held"] >= 100


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
    assert {pair for pair in pairs if together[pair] < 5} == apart
