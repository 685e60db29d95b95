"""Traces at the edge of what makes sense, which must not break a replay."""

import json
from dataclasses import replace

import pytest
from drive import COURSE, trace_of

from lab.errors import InputError
from lab.formats.trace_json import read_trace, trace_sha256
from lab.metrics import Tally
from lab.options import Options
from lab.replay import run
from lab.workload import Limits, Request, Trace

BOTH = ("static", "continuous")
ROOMY = {"max_num_seqs": 3, "num_pages": 32, "page_size": 16}


def test_no_requests():
    replay = run(Trace("none", Limits(**ROOMY), ()))
    for outcome in replay.policies.values():
        assert outcome.records == []
        assert outcome.requests == {}
        assert outcome.metrics.pop("rejected") == []
        assert set(outcome.metrics.values()) == {0}
    assert json.loads(replay.to_json())["trace"]["requests"] == 0


def test_one_request():
    for outcome in run(trace_of(("only", 0, 5, 3), **ROOMY)).policies.values():
        assert outcome.requests["only"] == {
            "start": 1,
            "finish": 3,
            "wait": 0,
            "latency": 3,
            "preemptions": 0,
        }
        assert outcome.metrics["utilization"] == 3 / (3 * 3)


def test_an_output_of_one_token_is_one_iteration():
    for outcome in run(trace_of(("a", 0, 5, 1), ("b", 0, 5, 1), **ROOMY)).policies.values():
        (row,) = [record.to_row() for record in outcome.records]
        assert row["admitted"] == row["emitted"] == row["completed"] == row["released"] == ["a", "b"]


def test_all_arriving_at_once_are_served_in_file_order():
    names = [f"r{i:02}" for i in range(20, 0, -1)]
    trace = trace_of(*((name, 0, 5, 2) for name in names), **ROOMY)
    for outcome in run(trace).policies.values():
        starts = [outcome.requests[name]["start"] for name in names]
        assert starts == sorted(starts) == [1 + 2 * (i // 3) for i in range(20)]


def test_file_order_of_different_arrivals_does_not_matter():
    course = read_trace(COURSE)
    backwards = Trace(course.name, course.limits, course.requests[:3] + course.requests[:2:-1])
    for policy in BOTH:
        expected = run(course, policies=[policy]).policies[policy]
        got = run(backwards, policies=[policy]).policies[policy]
        assert got.requests == expected.requests
        assert list(got.requests) == [request.id for request in backwards.requests]


def test_ids_that_repeat_are_refused_wherever_they_enter():
    twice = [Request("a", 0, 1, 1), Request("a", 3, 1, 1)]
    with pytest.raises(InputError, match="repeats the id"):
        Trace("t", Limits(**ROOMY), tuple(twice))


def test_a_prompt_that_never_fits_and_its_neighbours():
    trace = trace_of(("a", 0, 5, 3), ("huge", 0, 600, 1), ("b", 2, 5, 3), **ROOMY)
    for outcome in run(trace).policies.values():
        assert list(outcome.requests) == ["a", "b"]
        assert outcome.metrics["rejected"] == [{"id": "huge", "reason": "pages"}]
        assert outcome.metrics["completed"] == 2


def test_a_pool_of_one_page():
    trace = trace_of(("a", 0, 5, 3), ("b", 0, 5, 3), max_num_seqs=3, num_pages=1, page_size=8)
    for outcome in run(trace).policies.values():
        assert [outcome.requests[name]["start"] for name in "ab"] == [1, 4]
        assert outcome.metrics["peak_pages"] == 1
        assert all(row.pages[row.running[0]] == (0,) for row in outcome.records)
    too_long = trace_of(("a", 0, 5, 4), max_num_seqs=3, num_pages=1, page_size=8)
    for outcome in run(too_long).policies.values():
        assert outcome.metrics["rejected"] == [{"id": "a", "reason": "pages"}]


def test_pages_of_one_token():
    trace = trace_of(("a", 0, 5, 3), max_num_seqs=1, num_pages=8, page_size=1)
    for outcome in run(trace).policies.values():
        assert [row.pages_used for row in outcome.records] == [6, 7, 8]
        assert outcome.metrics["wasted_slots_peak"] == 0


def test_a_prompt_of_a_million_tokens():
    trace = trace_of(("m", 0, 1_000_000, 40), ("b", 0, 16, 2), max_num_seqs=2, num_pages=70_000, page_size=16)
    for outcome in run(trace).policies.values():
        assert outcome.requests["m"]["finish"] == 40
        # 62501 pages while it prefills (one token more than 62500 hold), 62503 for all 1,000,040 tokens.
        assert len(outcome.records[0].pages["m"]) == 62_501
        assert len(outcome.records[-1].pages["m"]) == 62_503
        assert outcome.records[3].pages["m"] is outcome.records[4].pages["m"]  # kept once, not per iteration


def test_the_largest_numbers():
    huge = 2**53 - 1
    limits = {"max_num_seqs": huge, "num_pages": huge, "page_size": huge}
    for outcome in run(trace_of(("a", 0, huge, 3), ("b", huge, 1, 1), **limits)).policies.values():
        assert outcome.requests["a"]["finish"] == 3
        assert outcome.requests["b"]["finish"] == huge + 1
        assert 0 < outcome.metrics["utilization"] < 1e-15


def test_rows_are_refused_for_more_seats_than_anybody_can_see_and_figures_are_not():
    replay = run(trace_of(("a", 0, 1, 1), max_num_seqs=65_537, num_pages=1, page_size=16))
    assert json.loads(replay.to_json())["policies"]["static"]["completed"] == 1
    with pytest.raises(InputError) as caught:
        replay.to_document()
    assert caught.value.field == "max_num_seqs"
    at_bound = run(trace_of(("a", 0, 1, 1), max_num_seqs=65_536, num_pages=1, page_size=16))
    row = at_bound.to_document()["policies"]["static"]["rows"][0]
    assert len(row["seats"]) == 65_536


def test_a_record_does_not_copy_a_long_queue():
    trace = trace_of(*((f"r{i}", 0, 1, 1) for i in range(3000)), max_num_seqs=1, num_pages=9, page_size=16)
    records = run(trace, policies=["continuous"]).policies["continuous"].records
    assert [len(record.waiting) for record in records] == list(range(2999, -1, -1))
    assert records[0].waiting._log is records[-1].waiting._log
    assert list(records[2990].waiting) == [f"r{i}" for i in range(2991, 3000)]


def test_records_share_what_does_not_change():
    records = run(trace_of(("a", 0, 16, 9), **ROOMY), policies=["static"]).policies["static"].records
    assert records[3].pages is records[5].pages
    assert records[3].seats is records[5].seats
    assert records[3].kv != records[5].kv


def test_a_trace_in_time_is_brought_to_iterations():
    trace = Trace("t", Limits(**ROOMY), (Request("a", 60.25, 1, 2), Request("b", 0, 1, 1)), time_unit="ms")
    replay = run(trace)
    assert [request.arrival for request in replay.trace.requests] == [4, 0]
    assert replay.sha256 == trace_sha256(trace)
    assert replay.policies["static"].requests["a"]["start"] == 5
    longer = run(trace, options=Options(iteration_ms=60.25))
    assert [request.arrival for request in longer.trace.requests] == [1, 0]


@pytest.mark.parametrize("policies", [["fifo"], ["static", "fifo"], ["static", "static"], [""], [None]])
def test_policies_that_there_are_none_of(policies):
    with pytest.raises(InputError) as caught:
        run(read_trace(COURSE), policies=policies)
    assert caught.value.field == "policy"


def test_policies_keep_the_order_in_which_they_were_asked_for():
    assert list(run(read_trace(COURSE), policies=["continuous", "static"]).policies) == ["continuous", "static"]
    assert list(run(read_trace(COURSE), policies=[]).policies) == []


def test_options_that_the_engine_does_not_use_change_nothing():
    bare = trace_of(("a", 0, 5, 9), ("b", 1, 5, 9), **ROOMY)
    full = Trace(
        bare.name,
        bare.limits,
        tuple(
            replace(r, client="c", cancel_after_tokens=2, cancel_at=3, samples=3, prefix=("p",)) for r in bare.requests
        ),
    )
    for policy in BOTH:
        assert run(full).policies[policy].records == run(bare).policies[policy].records


def test_a_tally_of_nothing():
    assert Tally([], Limits(**ROOMY)).metrics()["busy_iterations"] == 0
