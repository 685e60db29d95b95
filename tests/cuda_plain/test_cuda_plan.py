"""From the engine's log to slots, tables and lengths; and what a log must not hold."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import pytest
from made_up import COURSE

from lab.cuda import plan as planning
from lab.cuda.plan import Work, kv_lengths, make_plan, padded, plans_of
from lab.errors import InputError
from lab.formats.trace_json import read_trace
from lab.options import Options
from lab.records import Idle, Iteration
from lab.replay import run
from lab.workload import Limits, Request, Trace


def records_of(trace, limits=None, policy="continuous"):
    return run(trace, limits or trace.limits, [policy]).policies[policy].records


def small(requests, **limits):
    limits = Limits(**{"max_num_seqs": 2, "num_pages": 8, "page_size": 4, **limits})
    return Trace("small", limits, tuple(Request(name, *numbers) for name, *numbers in requests))


def test_every_busy_iteration_of_the_course_trace_is_a_step():
    trace = read_trace(COURSE)
    plans = plans_of(trace, ["static", "continuous"])
    assert [len(plan.steps) for plan in plans.values()] == [116, 82]
    for policy, plan in plans.items():
        log = [r for r in records_of(trace, policy=policy) if isinstance(r, Iteration)]
        assert [step.iteration for step in plan.steps] == [record.iteration for record in log]
        assert [step.tokens for step in plan.steps] == [sum(record.tokens.values()) for record in log]
        for step, record in zip(plan.steps, log, strict=True):
            assert {w.id for w in step.decodes + step.prefills} == set(record.tokens)
            assert all(w.table == record.pages[w.id] for w in step.decodes + step.prefills)
    first = plans["static"].steps[0]
    assert [(w.id, w.position, w.tokens) for w in first.prefills] == [("a", 0, 33), ("b", 0, 72), ("c", 0, 40)]


def test_a_decode_writes_the_token_before_and_attends_to_all_up_to_it():
    plan = make_plan("continuous", records_of(small([("a", 0, 4, 3)])), Limits(2, 8, 4))
    prefill, first, second = plan.steps
    assert prefill.prefills[0].slots(4) == [0, 1, 2, 3]
    assert (first.decodes[0].position, first.decodes[0].length, first.decodes[0].slots(4)) == (4, 5, [4])
    assert (second.decodes[0].position, second.decodes[0].length) == (5, 6)
    assert kv_lengths(prefill) == ([], [0])
    assert kv_lengths(second) == ([6], [])


@pytest.mark.parametrize(("position", "slots"), [(15, [3 * 16 + 15]), (16, [7 * 16]), (17, [7 * 16 + 1])])
def test_slots_at_a_page_boundary(position, slots):
    assert Work("a", position, 1, (3, 7)).slots(16) == slots


def test_chunks_go_on_where_the_last_one_ended_and_read_what_it_stored():
    trace = small([("a", 0, 10, 2)], max_num_batched_tokens=4, chunked_prefill=True)
    plan = make_plan("continuous", records_of(trace), trace.limits)
    chunks = [step.prefills[0] for step in plan.steps if step.prefills]
    assert [(chunk.position, chunk.tokens) for chunk in chunks] == [(0, 4), (4, 4), (8, 2)]
    assert kv_lengths(plan.steps[1]) == ([], [4])
    assert (plan.most_tokens, plan.longest_chunk, plan.longest_decode, plan.widest_batch) == (4, 10, 11, 1)


def test_a_preempted_request_computes_all_its_tokens_again():
    trace = small([("a", 0, 4, 9), ("b", 0, 4, 9)], num_pages=4)
    log = records_of(trace)
    assert any(r.preempted for r in log if isinstance(r, Iteration))
    plan = make_plan("continuous", log, trace.limits)
    again = [w for step in plan.steps for w in step.prefills if w.id == "b"]
    assert [(w.position, w.tokens) for w in again] == [(0, 4), (0, 8)]


def test_pages_that_change_hands_are_stale_before_the_next_step_even_if_taken_at_once():
    trace = small([("a", 0, 4, 2), ("b", 0, 4, 2), ("c", 0, 4, 2)], num_pages=4)
    plan = make_plan("continuous", records_of(trace), trace.limits)
    assert [step.stale for step in plan.steps[:2]] == [(), ()]
    assert plan.steps[2].stale == (0, 1, 2, 3)  # a and b left; c has some of them again
    assert plan.steps[2].prefills[0].id == "c"
    held = {}
    for step in plan.steps:  # a page is read only by whoever wrote it, unless it was declared stale in between
        for page in step.stale:
            held.pop(page, None)
        for work in step.decodes + step.prefills:
            for page in work.table:
                assert held.setdefault(page, work.id) == work.id


def test_idle_spans_are_left_out_and_an_empty_trace_is_an_empty_plan():
    trace = small([("a", 0, 1, 1), ("b", 9, 1, 1)])
    log = records_of(trace)
    assert any(isinstance(record, Idle) for record in log)
    assert [step.iteration for step in make_plan("continuous", log, trace.limits).steps] == [1, 10]
    assert make_plan("continuous", [], trace.limits).most_tokens == 0


def broken(record, **changes):
    return replace(record, **changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: {"pages": {**r.pages, "b": r.pages["a"]}}, "page 0 is held twice, by a and b"),
        (lambda r: {"pages": {**r.pages, "b": (0, 1)}}, "held twice"),
        (lambda r: {"pages": {**r.pages, "a": (8, 1)}}, "a holds page 8, which the pool of 8 has not"),
        (lambda r: {"pages": {**r.pages, "a": (-1, 1)}}, "a holds page -1"),
        (lambda r: {"pages_used": r.pages_used + 1}, "5 pages are said to be used, and 4 are in block tables"),
        (lambda r: {"pages": {**r.pages, "a": (0,)}, "pages_used": 3}, "holds only 1 pages"),
        (lambda r: {"kv": {**r.kv, "a": r.kv["a"] + 1}}, "a has 7 KV tokens of which 5 were computed"),
        (lambda r: {"kv": {**r.kv, "a": r.kv["a"] - 1}}, "of which 5 were computed"),
    ],
)
def test_a_log_that_a_gpu_cannot_repeat_is_refused_with_its_iteration(change, said):
    trace = small([("a", 0, 5, 3), ("b", 0, 5, 3)])
    log = records_of(trace)
    log[0] = broken(log[0], **change(log[0]))
    with pytest.raises(InputError, match=said) as caught:
        make_plan("continuous", log, trace.limits)
    assert "continuous, iteration 1" in str(caught.value)


def test_pages_that_vanish_without_a_preemption_are_refused():
    trace = small([("a", 0, 5, 3)])
    log = records_of(trace)
    log[1] = broken(log[1], pages={"a": (5, 6)})
    with pytest.raises(InputError, match="lost pages"):
        make_plan("continuous", log, trace.limits)


@pytest.mark.parametrize("name", ["MOST_STEPS", "MOST_TOKENS", "MOST_TABLE_CELLS"])
def test_a_log_that_is_too_large_is_refused_one_over_the_bound(monkeypatch, name):
    trace = small([("a", 0, 1, 5)])
    log = records_of(trace)  # a prefill, then 4 decodes of 1 or 2 pages
    most = {"MOST_STEPS": 5, "MOST_TOKENS": 5, "MOST_TABLE_CELLS": 6}[name]
    monkeypatch.setattr(planning, name, most)
    make_plan("continuous", log, trace.limits)
    monkeypatch.setattr(planning, name, most - 1)
    with pytest.raises(InputError, match="too large"):
        make_plan("continuous", log, trace.limits)


def test_a_trace_without_end_is_refused_before_it_is_all_replayed(monkeypatch):
    monkeypatch.setattr(planning, "MOST_STEPS", 200)
    trace = small([("a", 0, 1, 2**40)], num_pages=2**40)
    with pytest.raises(InputError, match="too large"):
        plans_of(trace, ["continuous"])


def test_batches_are_padded_to_the_size_of_a_graph():
    assert [padded(n) for n in (1, 2, 3, 7, 8, 9, 16, 17)] == [1, 2, 3, 7, 8, 16, 16, 24]


def test_neither_the_lab_nor_what_runs_beside_a_device_imports_torch_triton_or_numpy():
    code = (
        "import sys, lab.cli, lab.cuda.plan, lab.cuda.job, lab.cuda.running, lab.cuda.detect, lab.measurement.saved, "
        "lab.cuda.document, lab.cuda.child, lab.cuda.memory; "
        "print(sorted({'torch', 'triton', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
    code = "import sys, lab.cli; print([name for name in sys.modules if name.startswith('lab.cuda')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("seed", range(20))
def test_every_token_is_read_from_where_it_was_written_on_random_traces(seed):
    chance = random.Random(seed)
    page_size, seats = chance.choice([1, 2, 4, 7]), chance.randint(1, 4)
    budget = chance.choice([None, seats, 9])
    limits = Limits(seats, chance.randint(-(-33 // page_size), 40), page_size, budget, budget is not None)
    rows = [(n, chance.randint(0, 15), chance.randint(1, 20), chance.randint(1, 12)) for n in range(8)]
    trace = Trace("random", limits, tuple(Request(f"r{n}", *numbers) for n, *numbers in rows))
    for plan in plans_of(trace, ["static", "continuous"]).values():
        memory: dict[int, tuple[str, int]] = {}
        for step in plan.steps:
            for page in step.stale:
                for slot in range(page * page_size, (page + 1) * page_size):
                    memory.pop(slot, None)
            works = step.decodes + step.prefills
            written = [(slot, (w.id, w.position + i)) for w in works for i, slot in enumerate(w.slots(page_size))]
            assert len(dict(written)) == len(written) == step.tokens
            memory.update(written)
            for work in works:
                whole = replace(work, position=0, tokens=work.length)
                assert [memory[slot] for slot in whole.slots(page_size)] == [(work.id, at) for at in range(work.length)]


BESIDE = {"max_num_batched_tokens": 16, "chunked_prefill": True, "num_pages": 14}


@pytest.mark.parametrize(
    "options",
    [
        {"prefill_first": True},
        {"chunk_multiple": 4},
        {"allocation": "final-length"},
        {"allocation": "slab"},
        {"victim": "largest"},
        {"cancellation": "honoured"},
        {"step_time": "llama-3.1-8b-h100", "kv_read": True, "scheduler_us": 500},
        {"figures": True},
    ],
    ids=str,
)
def test_options_that_only_schedule_otherwise_are_repeated_too(options):
    trace = read_trace(COURSE)
    requests = tuple(replace(request, cancel_after_tokens=5) for request in trace.requests)
    trace = replace(trace, requests=requests, limits=replace(trace.limits, **BESIDE), options=Options(**options))
    for policy, plan in plans_of(trace, ["static", "continuous"]).items():
        log = run(trace, policies=[policy]).policies[policy].records
        tokens = [sum(r.tokens.values()) for r in log if isinstance(r, Iteration)]
        assert [step.tokens for step in plan.steps] == [count for count in tokens if count]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"preemption": "swap"}, "turn prefix caching, forked samples and swapping off"),
        ({"prefix_caching": True}, "turn prefix caching"),
        ({"fork_samples": True}, "turn prefix caching and forked samples off"),
    ],
    ids=str,
)
def test_options_that_share_or_move_pages_are_refused(options, said):
    trace = read_trace(COURSE)
    requests = tuple(replace(request, samples=2, prefix=("p", "q")) for request in trace.requests)
    trace = replace(trace, requests=requests, limits=replace(trace.limits, num_pages=12), options=Options(**options))
    with pytest.raises(InputError, match=said):
        plans_of(trace, ["continuous"])
