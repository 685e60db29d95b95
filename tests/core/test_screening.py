"""Requests that could never be served, at the bound of each reason."""

import pytest
from drive import requests_of, trace_of

from lab.engine import replay, screen
from lab.records import Rejected
from lab.replay import run
from lab.workload import Limits


def reasons(policy, *specs, **limits):
    servable, rejected = screen(requests_of(*specs), Limits(**limits), policy)
    assert len(servable) + len(rejected) == len(specs)
    return {entry.id: entry.reason for entry in rejected}


@pytest.mark.parametrize("policy", ["static", "continuous"])
@pytest.mark.parametrize(("output", "rejected"), [(7, {}), (8, {}), (9, {"a": "pages"})])
def test_pages_hold_prompt_and_output(policy, output, rejected):
    # 3 pages of 4 hold 12 tokens: 4 of the prompt and 8 of the output.
    assert reasons(policy, ("a", 0, 4, output), max_num_seqs=1, num_pages=3, page_size=4) == rejected


@pytest.mark.parametrize(("output", "rejected"), [(2, {}), (3, {}), (4, {"a": "tokens"})])
def test_the_longest_prefill_after_a_preemption_fits_the_budget(output, rejected):
    # With all but one of its tokens generated, it would prefill prompt + output - 1 = 4 + 3 - 1.
    limits = {"max_num_seqs": 1, "num_pages": 99, "page_size": 4, "max_num_batched_tokens": 6}
    assert reasons("continuous", ("a", 0, 4, output), **limits) == rejected
    assert reasons("static", ("a", 0, 4, output), **limits) == {}
    assert reasons("continuous", ("a", 0, 4, output), chunked_prefill=True, **limits) == {}


def test_pages_is_the_reason_when_both_are_short():
    limits = {"max_num_seqs": 1, "num_pages": 1, "page_size": 4, "max_num_batched_tokens": 2}
    assert reasons("continuous", ("a", 0, 4, 4), **limits) == {"a": "pages"}


def test_neighbours_of_a_rejected_request_run_as_if_it_were_not_there():
    limits = {"max_num_seqs": 1, "num_pages": 3, "page_size": 4}
    with_it = trace_of(("a", 0, 1, 2), ("x", 0, 50, 2), ("b", 1, 1, 2), **limits)
    without = trace_of(("a", 0, 1, 2), ("b", 1, 1, 2), **limits)
    for policy in ("static", "continuous"):
        got = run(with_it, policies=[policy]).policies[policy]
        expected = run(without, policies=[policy]).policies[policy]
        assert got.records == expected.records
        assert got.requests == expected.requests
        assert got.metrics == {**expected.metrics, "rejected": [{"id": "x", "reason": "pages"}]}


def test_replay_screens_for_itself():
    limits = Limits(max_num_seqs=1, num_pages=1, page_size=4)
    records = list(replay(requests_of(("x", 0, 50, 1), ("a", 0, 1, 1)), limits, "continuous"))
    assert [record.admitted for record in records] == [("a",)]


def test_order_is_that_of_the_file():
    servable, rejected = screen(
        requests_of(("z", 9, 50, 1), ("b", 5, 1, 1), ("y", 0, 60, 1), ("a", 0, 1, 1)),
        Limits(max_num_seqs=1, num_pages=1, page_size=4),
        "continuous",
    )
    assert [request.id for request in servable] == ["b", "a"]
    assert rejected == [Rejected("z", "pages"), Rejected("y", "pages")]


def test_all_rejected():
    trace = trace_of(("x", 3, 50, 1), max_num_seqs=1, num_pages=1, page_size=4)
    for outcome in run(trace).policies.values():
        assert outcome.records == []
        assert outcome.requests == {}
        rejected = outcome.metrics.pop("rejected")
        assert rejected == [{"id": "x", "reason": "pages"}]
        assert set(outcome.metrics.values()) == {0}
