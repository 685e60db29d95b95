"""The figures, from records."""

import json
import random

import pytest
from drive import BY_HAND, trace_of

from lab.metrics import p95, summarize
from lab.replay import run

P95_INDEX = {
    1: 0, 2: 0, 3: 1, 4: 2, 5: 3, 6: 4, 7: 5, 8: 6, 9: 7, 10: 8, 11: 9, 12: 10, 13: 11, 14: 12,
    15: 13, 16: 14, 17: 15, 18: 16, 19: 17, 20: 18, 21: 19,
}  # fmt: skip


@pytest.mark.parametrize(("n", "index"), P95_INDEX.items())
def test_p95_is_the_lower_order_statistic(n, index):
    values = [3 * i + 1 for i in range(n)]
    random.Random(n).shuffle(values)
    assert p95(values) == 3 * index + 1


def test_p95_of_nothing_is_0():
    assert p95([]) == 0


def test_p95_agrees_with_the_formula_for_large_n():
    # 0.95 has no exact float, so the rule is computed in integers: at multiples of 20 floor() is at an edge.
    assert p95(range(2001)) == 1900
    assert p95(range(200001)) == 190000


TRACE = trace_of(("a", 0, 3, 4), ("b", 0, 3, 4), max_num_seqs=2, num_pages=4, page_size=2)


def test_every_figure_of_a_replay_worked_out_by_hand():
    assert run(TRACE, policies=["continuous"]).policies["continuous"].metrics == BY_HAND


def test_idle_iterations_count_in_the_makespan_only():
    trace = trace_of(("a", 0, 1, 2), ("b", 9, 1, 1), max_num_seqs=2, num_pages=4, page_size=4)
    metrics = run(trace, policies=["continuous"]).policies["continuous"].metrics
    assert (metrics["iterations"], metrics["busy_iterations"]) == (10, 3)
    assert metrics["utilization"] == 3 / (2 * 3)
    assert metrics["occupancy"] == 3 / (4 * 3)


def test_wait_counts_from_arrival_to_the_iteration_before_the_start():
    trace = trace_of(("a", 0, 1, 3), ("b", 1, 1, 1), max_num_seqs=1, num_pages=4, page_size=4)
    requests = run(trace, policies=["continuous"]).policies["continuous"].requests
    assert requests["b"] == {"start": 4, "finish": 4, "wait": 2, "latency": 3, "preemptions": 0}


def test_summarize_gives_what_run_gives():
    outcome = run(TRACE, policies=["continuous"]).policies["continuous"]
    again = summarize(outcome.records, TRACE.requests, TRACE.limits)
    assert again == {"metrics": outcome.metrics, "requests": outcome.requests}


def test_figures_are_plain_numbers():
    for outcome in run(TRACE).policies.values():
        for name, value in outcome.metrics.items():
            assert type(value) in (int, float, list), name
    assert {type(outcome.metrics["wait_mean"]) for outcome in run(TRACE).policies.values()} == {float}


def test_figures_are_the_same_without_keeping_records_and_are_watched_in_order():
    seen = []
    kept = run(TRACE)
    lean = run(TRACE, keep_records=False, watch=lambda policy, record: seen.append((policy, record)))
    assert lean.to_json() == kept.to_json()
    assert all(outcome.records == [] for outcome in lean.policies.values())
    assert seen == [(name, record) for name, outcome in kept.policies.items() for record in outcome.records]


def test_the_same_input_gives_the_same_bytes():
    first, second = run(TRACE), run(TRACE)
    assert first.to_json() == second.to_json()
    assert json.dumps(first.to_document()) == json.dumps(second.to_document())
