"""The table at the end of lab/RULES.md, one named test a line, on random engines, workloads and options.

Every test reads the engine's own records (the rows of the document). ``SERVING_LAB_EXAMPLES=3000 pytest
tests/core/test_option_properties.py`` looks longer.
"""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from option_cases import EXAMPLES, POLICIES, busy, by_id, on_random_cases, place_of, request_of, sharing
from option_strategies import large_case, replayed
from plain_figures import differences, plain_replay
from plain_memory import pages_for


@on_random_cases()
def test_rows_and_metrics_equal_the_plain_implementation(case, replay, policy):
    plain = plain_replay(case.requests, case.limits, policy, case.options, case.unit)
    found = differences(replay, plain)
    assert not found, "\n".join(found[:10])


@pytest.mark.parametrize("policy", POLICIES)
def test_rows_and_metrics_of_large_cases_equal_the_plain_implementation(policy):
    for seed in range(max(8, EXAMPLES // 60)):
        case = large_case(seed)
        plain = plain_replay(case.requests, case.limits, policy, case.options, case.unit)
        found = differences(replayed(case, policy), plain)
        assert not found, f"large seed {seed}, {policy}, {case}:\n" + "\n".join(found[:10])


@on_random_cases()
def test_injected_is_completed_plus_rejected_plus_cancelled(case, replay, policy):
    ended = [name for row in busy(replay) for name in row.get("cancelled", [])]
    rejected = [row["id"] for row in replay["metrics"]["rejected"]]
    completed = list(replay["requests"])
    assert sorted(completed + rejected + ended) == sorted(request.id for request in case.requests)
    assert replay["metrics"]["completed"] == len(completed)
    if case.options.cancellation != "off":
        assert replay["metrics"]["cancellation"]["cancelled"] == len(ended)
    if case.options.cancellation != "honoured":
        assert not ended


@on_random_cases()
def test_no_page_has_two_owners_unless_shared_and_then_it_is_counted_once(case, replay, policy):
    for row in busy(replay):
        held = [page for table in row["pages"].values() for page in table]
        assert all(0 <= page < case.limits.num_pages for page in held)
        assert row["pages_used"] == len(set(held)) <= case.limits.num_pages
        assert all(len(set(table)) == len(table) for table in row["pages"].values())
        if sharing(case):
            assert row["shared_pages"] == sum(1 for page in set(held) if held.count(page) > 1)
        else:
            assert len(held) == len(set(held))


@on_random_cases(when=lambda case: sharing(case))
def test_a_shared_page_is_full_and_stands_at_one_place_behind_equal_pages(case, replay, policy):
    size = case.limits.page_size
    for row in busy(replay):
        first = {}
        for name, table in row["pages"].items():
            for i, page in enumerate(table):
                other = first.setdefault(page, (name, table[: i + 1]))
                assert other[1] == table[: i + 1]
                if other[0] != name:
                    assert min(row["kv"][name], row["kv"][other[0]]) >= (i + 1) * size


@on_random_cases()
def test_arrival_is_before_start_and_start_is_not_after_finish(case, replay, policy):
    starts = {row["iteration"]: row.get("start_ns") for row in busy(replay)}
    for name, figures in replay["requests"].items():
        assert figures["start"] <= figures["finish"]
        arrival = by_id(case)[name].arrival
        if case.unit == "iteration":
            assert arrival < figures["start"]
        elif case.options.step_time is not None:
            assert arrival * {"ms": 10**6, "s": 10**9}[case.unit] < starts[figures["start"]] + 0.5
        joined = [row["iteration"] for row in busy(replay) if name in row["arrived"]]
        assert [figures["wait"]] == [figures["start"] - t for t in joined]
        assert [figures["latency"]] == [figures["finish"] - t + 1 for t in joined]


@on_random_cases()
def test_the_clock_never_goes_back_and_skips_nothing(case, replay, policy):
    clock, ns = 0, 0
    for row in replay["rows"]:
        first, last = row["idle"] if "idle" in row else (row["iteration"], row["iteration"])
        assert clock + 1 == first <= last
        clock = last
        if "start_ns" in row:
            assert ns <= row["start_ns"] and row["duration_ns"] >= row["gpu_ns"] >= 0
            ns = row["start_ns"] + row["duration_ns"]
    for before, row in pairwise(replay["rows"]):
        if "start_ns" in row and "start_ns" in before and row["start_ns"] > before["start_ns"] + before["duration_ns"]:
            # Only an engine with nothing to do lets time pass.
            ended = {*before["completed"], *before.get("cancelled", [])}
            left = [n for n in before["running"] + before["waiting"] if not {n, request_of(n)} & ended]
            assert case.unit != "iteration" and not left


@on_random_cases(policies=["continuous"])
def test_continuous_runs_something_unless_emptied_by_cancellation_or_by_the_limit(case, replay, policy):
    for row in busy(replay):
        if not row["tokens"]:
            assert row.get("cancelled") or row.get("refused")
            assert not row["running"] and not row["waiting"] and not row["pages"]


@on_random_cases()
def test_a_victim_was_never_scheduled_earlier_in_the_same_iteration(case, replay, policy):
    for row in busy(replay):
        victims = row["preempted"]
        assert len(victims) == len(set(victims))
        assert not set(victims) & {*row["tokens"], *row["emitted"], *row["running"], *row["pages"]}
        # Nobody is admitted beside a preemption, and nobody is preempted who has all the pages that it will need.
        assert not (victims and row["admitted"])
        assert not (victims and case.options.allocation != "on-demand")


@on_random_cases()
def test_running_then_waiting_is_in_order_except_with_victim_largest_and_vtc(case, replay, policy):
    place = place_of(case)
    for row in busy(replay):
        running, waiting = map(place, row["running"]), list(map(place, row["waiting"]))
        if case.options.admission != "vtc":
            assert waiting == sorted(waiting)
            if case.options.victim != "largest":
                both = [*running, *waiting]
                assert both == sorted(both)
        assert not set(row["running"]) & set(row["waiting"])


@on_random_cases(when=lambda case: case.options.allocation == "on-demand", every=2)
def test_no_decision_looks_at_an_output_length_except_final_length_and_slab(case, replay, policy):
    """Longer answers, still servable, change nothing before the first of them would have finished."""
    pick = Random(len(replay["rows"])).randint
    limits = case.limits
    requests, grown = [], []
    for request in case.requests:
        most = limits.num_pages * limits.page_size - request.prompt_tokens
        if policy == "continuous" and limits.max_num_batched_tokens and not limits.chunked_prefill:
            most = min(most, limits.max_num_batched_tokens + 1 - request.prompt_tokens)
        longer = min(request.output_tokens + pick(1, 40), most)
        if request.id in replay["requests"] and pick(0, 2) and longer > request.output_tokens:
            grown.append(request.id)
            request = replace(request, output_tokens=longer)
        requests.append(request)
    if not grown:
        return
    changed = replayed(replace(case, requests=tuple(requests)), policy)
    # With samples, the first sequence may finish before its request does.
    first = min(row["iteration"] for row in busy(replay) if {request_of(n) for n in row["completed"]} & {*grown})
    figures = {"reserved_slots", "internal_slots"}  # no decisions: they say what will be
    end = figures | {"completed", "released", "cancelled", "left", "host_pages", "cached_free"}
    for row, other in zip(replay["rows"], changed["rows"], strict=False):
        hidden = end if row.get("iteration") == first else figures
        assert {k: v for k, v in row.items() if k not in hidden} == {k: v for k, v in other.items() if k not in hidden}
        if row.get("iteration") == first:
            return
    pytest.fail("the replay ended before the first finish")


@on_random_cases(when=lambda case: case.options.allocation == "on-demand")
def test_released_tables_join_the_queue_in_order_and_with_prefix_caching_in_reverse(case, replay, policy):
    """Play the free queue from the rows: every page that is taken was at its head."""
    caching = case.options.prefix_caching
    if caching and case.limits.page_size == 1:
        return  # ``cached`` does not tell how many pages were found then
    queue, tables = list(range(case.limits.num_pages)), {}

    def give_back(name):
        table = tables.pop(name)
        still = {page for other in tables.values() for page in other}
        queue.extend(page for page in (reversed(table) if caching else table) if page not in still)

    for row in busy(replay):
        # Who was there and is no more, but was not preempted, was cancelled as the iteration began.
        for name in [name for name in tables if name not in row["pages"] and name not in row["preempted"]]:
            assert request_of(name) in row["cancelled"]
            give_back(name)
        for name in row["preempted"]:
            give_back(name)
        if row.get("forked"):
            return  # a fork takes its pages before it is a fork: see the directed tests
        fresh = []
        for name, table in row["pages"].items():
            kept = tables.get(name, [])
            assert table[: len(kept)] == kept
            # Of a prompt that is cached whole, the last token is not among ``cached``.
            hits = -(-row.get("cached", {}).get(name, 0) // case.limits.page_size)
            for page in table[:hits]:
                if page in queue:
                    queue.remove(page)
            fresh += table[max(hits, len(kept)) :]
        # Pages are taken at the head and come back at the tail, so those of one iteration are the first of the
        # queue, with what its victims gave back behind.
        assert fresh == queue[: len(fresh)]
        del queue[: len(fresh)]
        tables = {name: list(table) for name, table in row["pages"].items()}
        for name in row["released"]:
            give_back(name)
        held = {page for table in tables.values() for page in table}
        assert sorted([*queue, *held]) == list(range(case.limits.num_pages))


@on_random_cases(when=lambda case: case.options.allocation == "slab")
def test_a_slab_is_the_lowest_free_run_that_is_long_enough(case, replay, policy):
    tables = {}
    for row in busy(replay):
        tables = {name: table for name, table in tables.items() if name in row["pages"]}
        for name in row["admitted"]:
            table = row["pages"][name]
            request = by_id(case)[name]
            tokens = case.options.slab_tokens or request.prompt_tokens + request.output_tokens
            held = {page for other in tables.values() for page in other}
            wanted = pages_for(tokens, case.limits.page_size)
            assert table == list(range(table[0], table[0] + wanted))
            assert not held & set(table)
            assert all(held & set(range(first, first + wanted)) for first in range(table[0]))
            tables[name] = table
        assert tables == row["pages"]
        tables = {name: table for name, table in tables.items() if name not in row["released"]}


@on_random_cases()
def test_decoded_tokens_are_the_outputs_of_the_completed_times_samples_except_when_cancelled(case, replay, policy):
    outputs = 0
    for name in replay["requests"]:
        request = by_id(case)[name]
        outputs += request.output_tokens * ((request.samples or 1) if case.options.fork_samples else 1)
    decoded = replay["metrics"]["decoded_tokens"]
    assert decoded == sum(len(row["emitted"]) for row in busy(replay))
    if any(row.get("cancelled") for row in busy(replay)):
        assert decoded >= outputs
    else:
        assert decoded == outputs
