"""The engine against the plain one on a fixed random sample, without hypothesis: also run inside Pyodide."""

from functools import cache
from itertools import pairwise

import pytest
from plain_engine import differences, plain_replay
from strategies import large_case, replayed, seeded_case

SEEDS = range(300)
POLICIES = ("static", "continuous")


@pytest.mark.parametrize("policy", POLICIES)
def test_engine_equals_the_plain_engine_on_every_seed(policy):
    for seed in SEEDS:
        case = seeded_case(seed)
        plain = plain_replay(case.requests, case.limits, policy)
        found = differences(replayed(case, policy), plain)
        assert not found, f"seed {seed}, {policy}, {case}:\n" + "\n".join(found[:10])


@pytest.mark.parametrize("policy", POLICIES)
def test_engine_equals_the_plain_engine_on_large_cases(policy):
    preemptions = 0
    for seed in range(8):
        case = large_case(seed)
        replay = replayed(case, policy)
        found = differences(replay, plain_replay(case.requests, case.limits, policy))
        assert not found, f"large seed {seed}, {policy}, {case}:\n" + "\n".join(found[:10])
        preemptions += replay["metrics"]["preemptions"]
    assert preemptions > 100


def share(policy, happens):
    """The share of the sample in which ``happens(case, replay, busy rows)`` by the engine's own records."""
    count = 0
    for seed in SEEDS:
        case = seeded_case(seed)
        replay = sample_replay(seed, policy)
        count += bool(happens(case, replay, [row for row in replay["rows"] if "idle" not in row]))
    return count / len(SEEDS)


@cache
def sample_replay(seed, policy):
    """The engine's replay of a case of the sample, which many tests look at."""
    return replayed(seeded_case(seed), policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_quarter_of_the_sample_preempts(policy):
    assert share(policy, lambda case, replay, rows: replay["metrics"]["preemptions"]) >= 0.25


@pytest.mark.parametrize("policy", POLICIES)
def test_the_sample_has_several_victims_in_one_iteration(policy):
    assert share(policy, lambda case, replay, rows: any(len(row["preempted"]) > 1 for row in rows)) >= 0.02


@pytest.mark.parametrize(
    ("policy", "gate"),
    [
        ("static", "batch"),
        ("continuous", "seats"),
        ("continuous", "tokens"),
        ("continuous", "pages"),
    ],
)
def test_every_gate_closes_in_the_sample(policy, gate):
    def closes(case, replay, rows):
        # After a preemption the reason is always ``pages``: it says nothing about the gate itself.
        return any(row["gate"] == gate and not row["preempted"] for row in rows)

    assert share(policy, closes) >= 0.1


def test_prefills_are_chunked_in_the_sample():
    def chunked(case, replay, rows):
        return any(set(row["tokens"]) - set(row["emitted"]) for row in rows)

    assert share("continuous", chunked) >= 0.1


def test_a_prefill_under_way_is_preempted_in_the_sample():
    def loses_progress(case, replay, rows):
        return any(
            set(row["preempted"]) & (set(before["tokens"]) - set(before["emitted"])) for before, row in pairwise(rows)
        )

    assert share("continuous", loses_progress) > 0


def test_a_static_iteration_in_which_nothing_runs_is_in_the_sample():
    assert share("static", lambda case, replay, rows: any(not row["tokens"] for row in rows)) >= 0.1


@pytest.mark.parametrize(("policy", "reason"), [("static", "pages"), ("continuous", "pages"), ("continuous", "tokens")])
def test_requests_are_rejected_for_each_reason_in_the_sample(policy, reason):
    def rejects(case, replay, rows):
        metrics = replay["metrics"]
        return metrics["completed"] and reason in [row["reason"] for row in metrics["rejected"]]

    assert share(policy, rejects) >= 0.05


@pytest.mark.parametrize("policy", POLICIES)
def test_the_clock_jumps_and_the_file_is_unsorted_in_the_sample(policy):
    def jumps_midway(case, replay, rows):
        return any("idle" in row for row in replay["rows"][1:])

    def unsorted(case, replay, rows):
        arrivals = [request.arrival for request in case.requests]
        return arrivals != sorted(arrivals)

    assert share(policy, jumps_midway) >= 0.2
    assert share(policy, unsorted) >= 0.05


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_servable_is_in_the_sample(policy):
    assert share(policy, lambda case, replay, rows: not replay["rows"]) > 0
