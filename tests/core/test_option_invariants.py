"""What holds of single options, and of none, on random engines, workloads and options: see lab/RULES.md."""

import json
from dataclasses import replace

import pytest
from drive import printed_in_processes
from option_cases import busy, by_id, on_random_cases, request_of
from option_strategies import replay_of, replayed
from plain_engine import differences as plain_differences
from plain_engine import plain_replay as plain_engine_replay

from lab.options import PLAIN
from lab.replay import run
from lab.workload import Trace


@on_random_cases(when=lambda case: case.options != PLAIN)
def test_the_waste_of_held_pages_is_reserved_or_internal(case, replay, policy):
    size = case.limits.page_size
    for row in busy(replay):
        assert min(row["reserved_slots"], row["internal_slots"], row["external_slots"]) >= 0
        assert row["wasted_slots"] == row["reserved_slots"] + row["internal_slots"]
        assert row["wasted_slots"] == sum(len(t) * size - row["kv"][name] for name, t in row["pages"].items())
        held = [page for table in row["pages"].values() for page in table]
        stored = {(p, s) for name, t in row["pages"].items() for i, p in enumerate(t) for s in range(size)
                  if i * size + s < row["kv"][name]}  # fmt: skip
        assert row["wasted_slots"] == len(set(held)) * size - len(stored)
        if case.options.allocation != "slab":
            assert row["external_slots"] == 0 and not row["fragmented"]


@on_random_cases(when=lambda case: case.options.preemption == "swap")
def test_host_memory_holds_what_was_swapped_out_and_not_more_than_it_may(case, replay, policy):
    options = case.options
    host = {}
    for row in busy(replay):
        for name, pages in row["swapped_out"].items():
            assert name in row["preempted"] and pages >= 1
            host[name] = pages
        for name, pages in row["swapped_in"].items():
            assert name in row["admitted"] and name in row["tokens"]
            assert host.pop(name) == pages
        host = {name: pages for name, pages in host.items() if name in row["waiting"]}  # less the cancelled
        lost = set(row.get("cancelled", []))
        assert row["host_pages"] == sum(pages for name, pages in host.items() if request_of(name) not in lost)
        host = {name: pages for name, pages in host.items() if request_of(name) not in lost}
        assert options.swap_pages is None or row["host_pages"] <= options.swap_pages
        for moved in (row["swapped_out"], row["swapped_in"]):
            assert options.swap_pages_per_step is None or sum(moved.values()) <= options.swap_pages_per_step


@on_random_cases()
def test_chunks_are_multiples_or_finish_and_the_budget_holds(case, replay, policy):
    budget = case.limits.max_num_batched_tokens if policy == "continuous" else None
    for row in busy(replay):
        assert budget is None or sum(row["tokens"].values()) <= budget
        for name, count in row["tokens"].items():
            assert count >= 1
            assert name in row["emitted"] or count % case.options.chunk_multiple == 0


@on_random_cases()
def test_only_prefill_first_and_chunks_let_a_resident_stall(case, replay, policy):
    for row in busy(replay):
        stalled = [seat["id"] for seat in row["seats"] if seat and seat["state"] == "stalled"]
        assert not set(stalled) & {*row["tokens"], *row["emitted"]} and set(stalled) <= set(row["running"])
        if stalled:
            assert policy == "continuous" and case.limits.max_num_batched_tokens is not None
            assert case.options.prefill_first or case.limits.chunked_prefill


@on_random_cases(every=3)
def test_without_a_budget_prefill_first_changes_nothing(case, replay, policy):
    free = replace(case.limits, max_num_batched_tokens=None)
    # Another option is on in both, so that both have the same keys.
    first, last = (
        replayed(replace(case, limits=free, options=replace(case.options, figures=True, prefill_first=on)), policy)
        for on in (True, False)
    )
    assert first == last


@on_random_cases(when=lambda case: case.options.cancellation == "honoured")
def test_whoever_left_and_is_honoured_is_never_seen_again(case, replay, policy):
    gone = set()
    for row in busy(replay):
        assert row["left"] == row["cancelled"]
        seen = {*row["running"], *row["waiting"], *row["tokens"], *row["emitted"], *row["preempted"], *row["arrived"]}
        assert not gone & {request_of(name) for name in seen}
        gone |= set(row["cancelled"])


@on_random_cases(every=3)
def test_ignored_cancellation_changes_no_decision(case, replay, policy):
    options = replace(case.options, figures=True)
    ignored, off = (
        replayed(replace(case, options=replace(options, cancellation=kind)), policy) for kind in ("ignored", "off")
    )
    for row in busy(ignored):
        assert row.pop("cancelled") == []
        row.pop("left")
    ignored["metrics"].pop("cancellation")
    assert ignored == off


@on_random_cases(when=lambda case: case.options.admission == "vtc")
def test_counters_grow_by_what_is_admitted_and_emitted_and_are_only_ever_lifted(case, replay, policy):
    options, clients = case.options, {r.id: r.client or "" for r in case.requests}
    before, met = {}, set()
    for row in busy(replay):
        grown = dict.fromkeys(row["counters"], 0)
        for name in row["admitted"]:
            if name not in met:
                grown[clients[request_of(name)]] += options.input_weight * by_id(case)[request_of(name)].prompt_tokens
        met |= {*row["admitted"], *(child for family in row.get("forked", {}).values() for child in family)}
        for name in row["emitted"]:
            grown[clients[request_of(name)]] += options.output_weight
        joined = {clients[name] for name in row["arrived"]}
        for client, counter in row["counters"].items():
            least = before.get(client, 0) + grown[client]
            assert counter >= least and (counter == least or client in joined)
        before = row["counters"]
        assert row["refused"] == []


@on_random_cases(when=lambda case: case.unit == "iteration", every=3)
def test_options_that_are_off_change_nothing_whatever_the_trace_holds(case, replay, policy):
    """Equal to the first plain engine, which knows of no option, and byte for byte to the bare requests."""
    plain = replace(case, options=PLAIN)
    fields = {"client": None, "cancel_after_tokens": None, "cancel_at": None, "samples": None, "prefix": None}
    bare = replace(plain, requests=tuple(replace(request, **fields) for request in case.requests))
    replay = replay_of(plain, (policy,))
    assert not plain_differences(
        replay.to_document()["policies"][policy], plain_engine_replay(case.requests, case.limits, policy)
    )
    without = run(Trace("case", case.limits, bare.requests), policies=(policy,), sha256=replay.sha256)
    assert replay.to_json() == without.to_json()
    assert json.dumps(replay.to_document()) == json.dumps(without.to_document())
    assert "options" not in replay.to_dict() and "options" not in replay.to_document()


@on_random_cases(every=3)
def test_the_same_input_gives_the_same_bytes(case, replay, policy):
    copy = replace(case, requests=tuple(replace(r) for r in case.requests), options=replace(case.options))
    first, again = replay_of(case, (policy,)), replay_of(copy, (policy,))
    assert first.to_json() == again.to_json()
    assert json.dumps(first.to_document()) == json.dumps(again.to_document())


@on_random_cases(every=3)
def test_figures_without_records_are_those_with_them(case, replay, policy):
    figures = run(case.trace(), policies=(policy,), keep_records=False).to_dict()["policies"][policy]
    assert figures == {**replay["metrics"], "requests": replay["requests"]}


@on_random_cases(every=3)
def test_requests_that_were_screened_out_leave_no_trace(case, replay, policy):
    out = {row["id"] for row in replay["metrics"]["rejected"] if row["reason"] != "limit"}
    if out and len(out) < len(case.requests):
        alone = replace(case, requests=tuple(request for request in case.requests if request.id not in out))
        again = replayed(alone, policy)
        assert again["rows"] == replay["rows"] and again["requests"] == replay["requests"]


@pytest.mark.cpython_only("starts a process")
def test_the_same_input_gives_the_same_bytes_in_another_process():
    """Sets come out in another order in each process, unless the hash seed is fixed."""
    printed = printed_in_processes("option_strategies")
    assert printed[0]
    assert printed[0] == printed[1]
