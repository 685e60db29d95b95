"""The invariants of lab/RULES.md, one named test each, on random engines and workloads.

Every test reads the engine's own records (the rows of the document), so it says nothing about how the engine
works inside. ``SERVING_LAB_EXAMPLES=3000 pytest tests/core/test_properties.py`` looks longer.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from drive import printed_in_processes
from figure_ways import apart
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plain_engine import differences, pages_for, plain_replay, plain_screen
from strategies import case as case_of
from strategies import cases, replay_of, replayed

from lab.engine import replay as engine_replay
from lab.engine import screen
from lab.metrics import summarize
from lab.workload import Limits

# The same examples in every run: a red test is red for everyone.
PROFILE = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=int(os.environ.get("SERVING_LAB_EXAMPLES", "40" if sys.platform == "emscripten" else "100")),
)
HERE = Path(__file__).resolve().parent
both_policies = pytest.mark.parametrize("policy", ["static", "continuous"])


def busy(replay):
    """The rows of the iterations in which there was work."""
    return [row for row in replay["rows"] if "idle" not in row]


def steps(replay):
    """Each busy row with the busy row before it; before the first, one in which nothing is resident."""
    before = {"pages": {}, "kv": {}, "released": [], "waiting": []}
    for row in busy(replay):
        yield before, row
        before = row


def residents_after(row):
    """Who still holds pages once the row's iteration is over, in admission order."""
    return [name for name in row["pages"] if name not in row["released"]]


def in_order(case):
    """Every request's place in the order of (arrival, position in the file)."""
    ordered = sorted(case.requests, key=lambda request: request.arrival)
    return {request.id: place for place, request in enumerate(ordered)}


def by_id(case):
    return {request.id: request for request in case.requests}


@both_policies
@PROFILE
@given(case=cases())
def test_rows_and_metrics_equal_the_plain_engine(policy, case):
    found = differences(replayed(case, policy), plain_replay(case.requests, case.limits, policy))
    assert not found, "\n".join(found[:10])


@both_policies
@PROFILE
@given(case=cases())
def test_injected_is_completed_plus_rejected(policy, case):
    replay = replayed(case, policy)
    completed = [name for row in busy(replay) for name in row["completed"]]
    rejected = [row["id"] for row in replay["metrics"]["rejected"]]
    assert sorted(completed + rejected) == sorted(request.id for request in case.requests)
    assert replay["metrics"]["completed"] == len(completed)
    assert set(replay["requests"]) == set(completed)


@both_policies
@PROFILE
@given(case=cases())
def test_rejected_requests_are_those_that_could_never_run(policy, case):
    replay = replayed(case, policy)
    assert replay["metrics"]["rejected"] == plain_screen(case.requests, case.limits, policy)[1]


@both_policies
@PROFILE
@given(case=cases())
def test_records_do_not_change_once_made_and_screening_twice_changes_nothing(policy, case):
    at_once = [record.to_row() for record in engine_replay(case.requests, case.limits, policy)]
    servable, rejected = screen(case.requests, case.limits, policy)
    kept = list(engine_replay(servable, case.limits, policy))
    assert [record.to_row() for record in kept] == at_once
    replay = replayed(case, policy)
    assert replay["rows"] == at_once
    summary = summarize(kept, servable, case.limits, rejected)
    assert summary == {"metrics": replay["metrics"], "requests": replay["requests"]}


@PROFILE
@given(case=cases())
def test_figures_without_records_are_those_of_the_records(case):
    assert apart(case) == []


@both_policies
def test_no_requests_give_no_rows(policy):
    assert list(engine_replay([], Limits(2, 4, 4), policy)) == []


@both_policies
def test_with_nothing_servable_every_figure_is_zero(policy):
    replay = replayed(case_of([(3, 9, 8)], seqs=2, pages=4, size=4), policy)
    assert replay["metrics"].pop("rejected") == [{"id": "a", "reason": "pages"}]
    assert len(replay["metrics"]) == 14
    assert set(replay["metrics"].values()) == {0}
    assert (replay["rows"], replay["requests"]) == ([], {})


@both_policies
@PROFILE
@given(case=cases())
def test_rejected_requests_leave_no_trace(policy, case):
    replay = replayed(case, policy)
    servable = [request for request in case.requests if request.id in replay["requests"]]
    assume(servable)
    alone = replayed(replace(case, requests=tuple(servable)), policy)
    assert alone["rows"] == replay["rows"]
    assert alone["requests"] == replay["requests"]
    assert alone["metrics"] == replay["metrics"] | {"rejected": []}


@both_policies
@PROFILE
@given(case=cases())
def test_every_request_emits_exactly_its_output(policy, case):
    replay = replayed(case, policy)
    emitted = [name for row in busy(replay) for name in row["emitted"]]
    assert all(len(row["emitted"]) == len(set(row["emitted"])) for row in busy(replay))
    assert replay["metrics"]["decoded_tokens"] == len(emitted)
    for name in replay["requests"]:
        assert emitted.count(name) == by_id(case)[name].output_tokens


@both_policies
@PROFILE
@given(case=cases())
def test_used_and_free_pages_are_all_pages_and_no_page_has_two_owners(policy, case):
    for row in busy(replayed(case, policy)):
        held = [page for table in row["pages"].values() for page in table]
        assert len(held) == len(set(held)) == row["pages_used"]
        assert set(held) <= set(range(case.limits.num_pages))


@both_policies
@PROFILE
@given(case=cases())
def test_free_pages_are_a_first_in_first_out_queue_and_none_is_lost(policy, case):
    free = list(range(case.limits.num_pages))
    for before, row in steps(replayed(case, policy)):
        tables = {name: before["pages"][name] for name in residents_after(before)} if before["pages"] else {}
        # Pages are taken at the head and come back at the tail, so the pages taken in one iteration are the
        # first of the queue followed by what its victims gave back, however the two alternate.
        for name in row["preempted"]:
            free += tables.pop(name)
        taken = []
        for name, table in row["pages"].items():
            kept = tables.get(name, [])
            assert table[: len(kept)] == kept
            taken += table[len(kept) :]
        assert taken == free[: len(taken)]
        free = free[len(taken) :]
        held = [page for table in row["pages"].values() for page in table]
        assert sorted(free + held) == list(range(case.limits.num_pages))
        for name in row["released"]:
            free += row["pages"][name]


@both_policies
@PROFILE
@given(case=cases())
def test_a_table_has_the_pages_that_its_tokens_need(policy, case):
    size = case.limits.page_size
    for row in busy(replayed(case, policy)):
        for name, table in row["pages"].items():
            if name in row["emitted"] or name not in row["running"]:
                assert len(table) == pages_for(row["kv"][name], size)
            else:  # a prefill under way holds the pages of its whole prefill and one token from the start
                assert len(table) >= pages_for(row["kv"][name] + 1, size)


@both_policies
@PROFILE
@given(case=cases())
def test_arrival_is_before_start_and_start_is_not_after_finish(policy, case):
    replay = replayed(case, policy)
    for name, figures in replay["requests"].items():
        arrival = by_id(case)[name].arrival
        assert arrival < figures["start"] <= figures["finish"]
        assert figures["wait"] == figures["start"] - 1 - arrival
        assert figures["latency"] == figures["finish"] - arrival
        ran = [row["iteration"] for row in busy(replay) if name in row["tokens"]]
        assert (figures["start"], figures["finish"]) == (ran[0], ran[-1])


@both_policies
@PROFILE
@given(case=cases())
def test_the_clock_never_goes_back_and_skips_nothing(policy, case):
    replay = replayed(case, policy)
    clock = 0
    for row in replay["rows"]:
        first, last = row["idle"] if "idle" in row else (row["iteration"], row["iteration"])
        assert clock + 1 == first <= last
        clock = last
    assert clock == replay["metrics"]["iterations"]
    assert len(busy(replay)) == replay["metrics"]["busy_iterations"]


@both_policies
@PROFILE
@given(case=cases())
def test_idle_means_that_nothing_has_arrived_and_nobody_is_left(policy, case):
    replay = replayed(case, policy)
    idle = {t for row in replay["rows"] if "idle" in row for t in range(row["idle"][0], row["idle"][1] + 1)}
    for name, figures in replay["requests"].items():
        there = range(by_id(case)[name].arrival + 1, figures["finish"] + 1)
        assert not idle & set(there)
    for row in busy(replay):
        assert row["running"] or row["waiting"]


@both_policies
@PROFILE
@given(case=cases())
def test_requests_arrive_in_the_iteration_after_their_arrival(policy, case):
    replay = replayed(case, policy)
    arrived = {name: row["iteration"] for row in busy(replay) for name in row["arrived"]}
    assert arrived == {name: by_id(case)[name].arrival + 1 for name in replay["requests"]}


@PROFILE
@given(case=cases())
def test_continuous_runs_something_in_every_busy_iteration(case):
    for row in busy(replayed(case, "continuous")):
        assert row["tokens"]


@both_policies
@PROFILE
@given(case=cases())
def test_a_victim_was_never_scheduled_earlier_in_the_same_iteration(policy, case):
    for before, row in steps(replayed(case, policy)):
        victims = row["preempted"]
        assert not set(victims) & {*row["tokens"], *row["emitted"], *row["running"], *row["pages"]}
        # The victims are the newest of the unfinished, newest first.
        unfinished = [name for name in residents_after(before) if name not in finished_in(before)]
        assert victims == unfinished[::-1][: len(victims)]
        # Nobody is admitted beside a preemption.
        assert not (victims and row["admitted"])


def finished_in(row):
    """Residents of the row with no tokens left to come: those finishing in it, and the held."""
    done = [seat["id"] for seat in row.get("seats", []) if seat and seat["state"] == "held"]
    return {*done, *row.get("completed", [])}


@both_policies
@PROFILE
@given(case=cases())
def test_a_victim_loses_everything_but_what_it_has_generated(policy, case):
    replay = replayed(case, policy)
    generated = dict.fromkeys(by_id(case), 0)
    left = {}  # id -> tokens that its prefill still has to compute
    for row in busy(replay):
        for name in row["preempted"]:
            left.pop(name, None)
        for name in row["admitted"]:
            left[name] = by_id(case)[name].prompt_tokens + generated[name]
        for name, count in row["tokens"].items():
            if name in left:
                left[name] -= count
                assert left[name] >= 0
                assert (name in row["emitted"]) == (left[name] == 0)
                if left[name] == 0:
                    del left[name]
            else:
                assert count == 1 and name in row["emitted"]
        for name in row["emitted"]:
            generated[name] += 1
    preemptions = [name for row in busy(replay) for name in row["preempted"]]
    assert replay["metrics"]["preemptions"] == len(preemptions)
    for name, figures in replay["requests"].items():
        assert figures["preemptions"] == preemptions.count(name)
        admissions = [name for row in busy(replay) for name in row["admitted"]].count(name)
        assert admissions == 1 + figures["preemptions"]


@both_policies
@PROFILE
@given(case=cases())
def test_running_followed_by_waiting_is_in_order_of_arrival_and_position(policy, case):
    order = in_order(case)
    for row in busy(replayed(case, policy)):
        places = [order[name] for name in row["running"] + row["waiting"]]
        assert places == sorted(places)
        assert len(places) == len(set(places))


@both_policies
@PROFILE
@given(case=cases())
def test_the_same_input_gives_the_same_bytes(policy, case):
    copy = replace(case, requests=tuple(replace(r) for r in case.requests), limits=replace(case.limits))
    first, again = replay_of(case, (policy,)), replay_of(copy, (policy,))
    assert first.to_json() == again.to_json()
    assert json.dumps(first.to_document()) == json.dumps(again.to_document())


@pytest.mark.cpython_only("starts a process")
def test_the_same_input_gives_the_same_bytes_in_another_process():
    """Sets of strings come out in another order in each process, unless the hash seed is fixed."""
    printed = printed_in_processes("strategies")
    assert printed[0]
    assert printed[0] == printed[1]


@both_policies
@PROFILE
@given(case=cases(), chosen=st.integers(1, 255), growth=st.lists(st.integers(1, 40), min_size=8, max_size=8))
def test_no_decision_looks_at_an_output_length(policy, case, chosen, growth):
    """Longer answers, still servable, change nothing before the first of them would have finished."""
    replay = replayed(case, policy)
    limits = case.limits
    requests, grown = [], []
    for n, request in enumerate(case.requests):
        most = limits.num_pages * limits.page_size - request.prompt_tokens
        if policy == "continuous" and limits.max_num_batched_tokens and not limits.chunked_prefill:
            most = min(most, limits.max_num_batched_tokens + 1 - request.prompt_tokens)
        longer = min(request.output_tokens + growth[n], most)
        if request.id in replay["requests"] and chosen >> n & 1 and longer > request.output_tokens:
            grown.append(request.id)
            request = replace(request, output_tokens=longer)
        requests.append(request)
    assume(grown)
    changed = replayed(replace(case, requests=tuple(requests)), policy)
    assert changed["metrics"]["rejected"] == replay["metrics"]["rejected"]
    first = min(replay["requests"][name]["finish"] for name in grown)
    for row, other in zip(replay["rows"], changed["rows"], strict=False):
        if row.get("iteration") == first:
            # The decisions of that iteration are still the same; only its end differs.
            end = ("completed", "released")
            assert {k: v for k, v in row.items() if k not in end} == {k: v for k, v in other.items() if k not in end}
            assert set(row["completed"]) - set(other["completed"]) == {
                name for name in grown if replay["requests"][name]["finish"] == first
            }
            return
        assert row == other
    pytest.fail("the replay ended before the first finish")


@both_policies
@PROFILE
@given(case=cases())
def test_a_gate_is_recorded_exactly_when_somebody_waits(policy, case):
    for row in busy(replayed(case, policy)):
        assert (row["gate"] is not None) == bool(row["waiting"])


@both_policies
@PROFILE
@given(case=cases())
def test_the_recorded_gate_is_the_first_that_is_closed(policy, case):
    limits = case.limits
    generated = dict.fromkeys(by_id(case), 0)
    for row in busy(replayed(case, policy)):
        if row["waiting"]:
            head = row["waiting"][0]
            size = by_id(case)[head].prompt_tokens + generated[head]
            budget = limits.max_num_batched_tokens if policy == "continuous" else None
            room = float("inf") if budget is None else budget - sum(row["tokens"].values())
            if row["preempted"]:
                expected = "pages"
            elif policy == "static":
                expected = "batch"  # also for those left over when a batch has just been filled
            elif None not in row["seats"]:
                expected = "seats"
            elif size > room and not (limits.chunked_prefill and room >= 1):
                expected = "tokens"
            else:
                expected = "pages"
                free = limits.num_pages - row["pages_used"]
                assert free < pages_for(size + 1, limits.page_size)
            assert row["gate"] == expected
        for name in row["emitted"]:
            generated[name] += 1


@PROFILE
@given(case=cases())
def test_continuous_never_exceeds_the_token_budget(case):
    budget = case.limits.max_num_batched_tokens
    assume(budget is not None)
    for row in busy(replayed(case, "continuous")):
        assert 0 < sum(row["tokens"].values()) <= budget


@PROFILE
@given(case=cases())
def test_static_ignores_the_token_budget(case):
    free = replace(case, limits=replace(case.limits, max_num_batched_tokens=None, chunked_prefill=False))
    assert replayed(case, "static") == replayed(free, "static")


@both_policies
@PROFILE
@given(case=cases())
def test_without_a_budget_chunked_prefill_changes_nothing(policy, case):
    on, off = (
        replace(case, limits=replace(case.limits, max_num_batched_tokens=None, chunked_prefill=chunked))
        for chunked in (True, False)
    )
    assert replayed(on, policy) == replayed(off, policy)


@both_policies
@PROFILE
@given(case=cases())
def test_pages_and_seats_are_released_when_the_policy_says(policy, case):
    for before, row in steps(replayed(case, policy)):
        if policy == "continuous":
            assert row["released"] == row["completed"]
        elif all(name in finished_in(row) for name in row["pages"]):
            assert row["released"] == list(row["pages"])
        else:
            assert row["released"] == []
        # Whoever was resident and not released or preempted still is, in the same order, with its seat.
        stay = [name for name in residents_after(before) if name not in row["preempted"]]
        assert list(row["pages"]) == stay + row["admitted"]
        seats = seats_of(before)
        for name in stay:
            assert seats_of(row)[name] == seats[name]


def seats_of(row):
    return {seat["id"]: number for number, seat in enumerate(row.get("seats", [])) if seat}


@both_policies
@PROFILE
@given(case=cases())
def test_an_admitted_request_takes_the_lowest_free_seat(policy, case):
    for row in busy(replayed(case, policy)):
        seats = seats_of(row)
        assert len(row["seats"]) == case.limits.max_num_seqs
        assert set(seats) == set(row["pages"])
        taken = {seats[name] for name in seats if name not in row["admitted"]}
        for name in row["admitted"]:
            assert seats[name] == min(set(range(case.limits.max_num_seqs)) - taken)
            taken.add(seats[name])


@both_policies
@PROFILE
@given(case=cases())
def test_a_seat_says_what_its_request_does(policy, case):
    done = set()
    for row in busy(replayed(case, policy)):
        for seat in filter(None, row["seats"]):
            name = seat["id"]
            if name in done:
                assert seat["state"] == "held" and policy == "static"
                assert name not in row["running"] and name not in row["tokens"]
            else:
                assert name in row["running"]
                # Under these two policies a resident is preempted rather than stalled.
                assert seat["state"] in ("prefill", "decode") and name in row["tokens"]
        done |= set(row["completed"])


@both_policies
@PROFILE
@given(case=cases())
def test_wasted_slots_are_capacity_less_stored_tokens(policy, case):
    replay = replayed(case, policy)
    generated = dict.fromkeys(by_id(case), 0)
    stored = {}  # id -> tokens of an unfinished prefill
    for row in busy(replay):
        for name in row["preempted"] + row["admitted"]:
            stored[name] = 0
        for name, count in row["tokens"].items():
            if name in row["emitted"]:
                generated[name] += 1
                stored[name] = by_id(case)[name].prompt_tokens + generated[name]
            else:
                stored[name] += count
        assert row["kv"] == {name: stored[name] for name in row["pages"]}
        capacity = sum(len(table) for table in row["pages"].values()) * case.limits.page_size
        assert row["wasted_slots"] == capacity - sum(row["kv"].values())
        assert row["wasted_slots"] >= 0
    rows = busy(replay)
    assert replay["metrics"]["wasted_slots_peak"] == max((row["wasted_slots"] for row in rows), default=0)
    assert replay["metrics"]["peak_pages"] == max((row["pages_used"] for row in rows), default=0)
