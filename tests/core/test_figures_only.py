"""Figures without records are those of the records, to the last digit, on every way there is to make them."""

import io
import json
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest
from drive import BY_HAND, COURSE, GOLDEN, requests_of, trace_of
from figure_ways import WAYS, apart, from_records, outcome
from plain_engine import compare_dicts, plain_replay
from strategies import Case, case, large_case, seeded_case

from lab.advance import Advance
from lab.engine import replay
from lab.errors import InputError
from lab.figures import CLOSED_FORM, MOST, Columns, TooLongError, figures, too_large, uncovered
from lab.formats.trace_json import read_trace
from lab.options import PLAIN, Options
from lab.replay import run
from lab.terminal import ReplayProgress
from lab.workload import Limits, Request, Trace

BOTH = ("static", "continuous")
LARGEST = 2**53 - 1


def test_on_every_seed():
    for seed in range(150):
        assert apart(seeded_case(seed)) == [], f"seed {seed}"


def test_on_large_cases():
    preempted = 0
    for seed in range(4):
        sample = large_case(seed)
        assert apart(sample) == [], f"large seed {seed}"
        preempted += sum(outcome(sample, policy, "buckets")[0]["preemptions"] for policy in BOTH)
    assert preempted > 50


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("way", WAYS)
def test_against_the_plain_engine(policy, way):
    for seed in range(50):
        sample = seeded_case(seed)
        metrics, by_request, _ = outcome(sample, policy, way)
        plain = plain_replay(sample.requests, sample.limits, policy)
        assert by_request == plain["requests"]
        assert compare_dicts("metrics", metrics, plain["metrics"]) == []


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("way", WAYS)
def test_the_course_trace(policy, way):
    course = read_trace(COURSE)
    metrics, by_request, _ = outcome(course, policy, way)
    assert (metrics, by_request) == from_records(course, policy)[:2]
    members = json.loads(GOLDEN.read_text("utf-8"))[policy]
    assert metrics["busy_iterations"] == len(members["member_iterations"])
    assert metrics["peak_pages"] == max(pages for _, pages, _ in members["members"])


@pytest.mark.parametrize("way", WAYS)
def test_every_figure_worked_out_by_hand(way):
    by_hand = case([(0, 3, 4), (0, 3, 4)], seqs=2, pages=4, size=2)
    metrics, by_request, gates = outcome(by_hand, "continuous", way)
    assert metrics == BY_HAND
    assert by_request["b"] == {"start": 1, "finish": 7, "wait": 0, "latency": 7, "preemptions": 1}
    assert gates == {"seats": 0, "tokens": 0, "pages": 3, "batch": 0}


def test_no_requests_and_none_that_can_be_served():
    for sample in (case([], seqs=1, pages=1, size=4), case([(5, 9, 9)], seqs=1, pages=1, size=4)):
        assert apart(sample) == []
        metrics, by_request, _ = outcome(sample, "static", "buckets")
        assert by_request == {}
        assert {value for name, value in metrics.items() if name != "rejected"} == {0}


def test_requests_are_told_in_file_order_whenever_they_arrive():
    sample = case([(9, 1, 3), (0, 2, 4), (9, 3, 1), (4, 1, 1)], seqs=2, pages=9, size=4)
    assert list(figures(sample.requests, sample.limits, "static").requests()) == ["a", "b", "c", "d"]
    assert apart(sample) == []


def test_figures_are_plain_numbers():
    found = figures(requests_of(("a", 0, 3, 4)), Limits(2, 4, 2), "static")
    assert {type(value) for value in found.metrics.values()} == {int, float, list}
    assert {type(value) for value in found.requests()["a"].values()} == {int}


def test_what_is_wrong_is_refused_as_by_the_engine():
    limits = Limits(2, 4, 2)
    for wrong, policy in (
        ([Request("a", 0, 1, 1), Request("b", 0, 1, 1), Request("a", 3, 1, 1)], "static"),
        ([Request("a", 0.5, 1, 1)], "static"),
        ([Request("a", 0, 1, 1, cancel_at=0.5)], "continuous"),
        ([Request("a", 0, 1, 1), {"id": "b"}], "static"),
        ([Request("a", 0, 1, 1)], "fifo"),
    ):
        with pytest.raises(InputError) as told:
            figures(wrong, limits, policy)
        with pytest.raises(InputError) as by_engine:
            list(replay(wrong, limits, policy))
        assert str(told.value) == str(by_engine.value)


OTHERWISE = {
    "step_time": "llama-3.1-8b-h100",
    "allocation": "slab",
    "model": "opt-13b",
    "kv_dtype": "fp8",
    "preemption": "swap",
    "victim": "largest",
    "cancellation": "ignored",
    "admission": "vtc",
}


@pytest.mark.parametrize("name", [field.name for field in fields(Options)])
def test_what_an_option_changes_is_counted_from_records_and_said(name):
    default = getattr(PLAIN, name)
    value = OTHERWISE.get(name, True if default is False else 3)
    why = f"{name} is on" if value is True else f"{name} is {value}"
    options = Options(**{name: value})
    assert uncovered(options, "iteration") == why
    sample = seeded_case(4)
    found = figures(sample.requests, sample.limits, "continuous", options=options)
    kept = run(Trace("t", sample.limits, sample.requests, options=options)).policies["continuous"]
    assert (found.way, found.metrics, found.requests()) == (f"loop: {why}", kept.metrics, kept.requests)
    assert "memory" in found.metrics


def test_without_options_nothing_stands_in_the_way_but_time():
    assert uncovered(PLAIN, "iteration") is None
    assert uncovered(PLAIN, "ms") == "arrivals are in ms"
    assert uncovered(Options(kv_read=True, figures=True), "s") == "kv_read is on"


def test_a_replay_without_records_makes_none_and_says_so(monkeypatch):
    course = read_trace(COURSE)
    kept = run(course)
    assert {outcome.way for outcome in kept.policies.values()} == {"loop: each iteration is kept"}
    watched = run(course, keep_records=False, watch=lambda policy, record: None)
    assert {outcome.way for outcome in watched.policies.values()} == {"loop: each iteration is asked for"}
    options = run(course, keep_records=False, options=Options(prefix_caching=True))
    assert {outcome.way for outcome in options.policies.values()} == {"loop: prefix_caching is on"}
    monkeypatch.setattr("lab.observer.Observer.record", None)  # nothing may call it
    lean = run(course, keep_records=False)
    assert {outcome.way for outcome in lean.policies.values()} == {CLOSED_FORM}
    assert lean.to_json() == kept.to_json()


def test_times_are_brought_to_iterations_first():
    trace = Trace("t", Limits(1, 9, 4), (Request("a", 60.25, 1, 2), Request("b", 0, 1, 1)), time_unit="ms")
    lean, kept = run(trace, keep_records=False), run(trace)
    assert lean.to_json() == kept.to_json()
    assert lean.policies["static"].way == CLOSED_FORM


def test_figures_of_requests_are_made_when_they_are_asked_for_and_once(monkeypatch):
    calls = []
    made = Columns.by_request
    monkeypatch.setattr(Columns, "by_request", lambda columns: calls.append(1) or made(columns))
    trace = trace_of(("a", 0, 1, 2), max_num_seqs=1, num_pages=9, page_size=4)
    played = run(trace, policies=["static"], keep_records=False).policies["static"]
    assert calls == []
    assert played.requests is played.requests
    assert calls == [1]


@pytest.mark.parametrize("way", WAYS)
def test_a_bound_on_the_iterations(way):
    for row, last in (((0, 1, 50), 50), ((49, 1, 1), 50), ((3, 5, 7), 10)):
        sample = case([row], seqs=1, pages=99, size=4)
        assert outcome(sample, "continuous", way, most=last)[0]["iterations"] == last
        with pytest.raises(TooLongError):
            outcome(sample, "continuous", way, most=last - 1)


@pytest.mark.parametrize("way", WAYS)
def test_a_replay_goes_on_after_each_look_at_interrupts(way, monkeypatch):
    sample = large_case(1)
    looks = []
    monkeypatch.setattr("lab.figures.Advance", lambda *given: Looked(looks, *given))
    for a_while in (1, 7, 10**6):
        monkeypatch.setattr("lab.figures.A_WHILE", a_while)
        assert outcome(sample, "continuous", way) == from_records(sample, "continuous")
        assert looks.count("ended") == 1 and set(looks) <= {"more", "ended"}
        assert (len(looks) > 20) == (a_while < 10)
        looks.clear()


@pytest.mark.parametrize(
    "given",
    [{}, {"options": Options(figures=True)}, {"watch": lambda policy, record: None}],
    ids=["figures", "option", "watched"],
)
def test_how_far_a_replay_is_can_be_followed_on_every_way(given, monkeypatch):
    monkeypatch.setattr("lab.figures.A_WHILE", 1)
    seen = []
    course = read_trace(COURSE)

    def reached(policy, iteration):
        seen.append((policy, iteration))

    run(course, policies=["static"], keep_records=False, reached=reached, **given)
    assert len(seen) > 3 and seen == sorted(seen) and {policy for policy, _ in seen} == {"static"}
    assert 100 < seen[-1][1] <= 116


def test_progress_is_one_line_that_is_taken_away(monkeypatch):
    out, now = io.StringIO(), iter([10.0, 10.4, 10.5, 10.9, 11.0])
    monkeypatch.setattr("lab.terminal.time", SimpleNamespace(monotonic=lambda: next(now)))
    progress = ReplayProgress(out)
    for iteration in (5, 60, 700, 8):
        progress("static", iteration)
    assert out.getvalue() == "\rreplaying static: iteration 60\rreplaying static: iteration 8 "
    progress.clear()
    assert out.getvalue().endswith("\r" + 29 * " " + "\r")


class Looked:
    """The kernel, with what it says after each while kept in `looks`."""

    def __init__(self, looks, *given):
        self._advance, self._looks = Advance(*given), looks

    def __getattr__(self, name):
        return getattr(self._advance, name)

    def replay(self, last, steps):
        self._looks.append(self._advance.replay(last, steps))
        return self._looks[-1]


def test_a_bound_on_the_iterations_of_records():
    options = Options(figures=True)
    for row, last in (((0, 1, 50), 50), ((49, 1, 1), 50)):
        sample = case([row], seqs=1, pages=99, size=4)
        found = figures(sample.requests, sample.limits, "static", options=options, most=last)
        assert found.metrics["iterations"] == last
        with pytest.raises(TooLongError):
            figures(sample.requests, sample.limits, "static", options=options, most=last - 1)
    assert figures(sample.requests, sample.limits, "static", options=options).gates == {}


def columns_of(*rows):
    return Columns([Request(f"r{i}", *row) for i, row in enumerate(rows)])


def test_sums_that_64_bits_may_not_hold():
    limits = Limits(1, LARGEST, 16)
    # The last arrival, and twice the tokens emitted: 2**61 - 256 of 128 requests, and 2 * 127
    emitting = [(0, 1, LARGEST)] * 128
    assert too_large(columns_of(*emitting, (0, 1, 127)), limits) is None
    assert too_large(columns_of(*emitting, (1, 1, 127)), limits) is None
    assert too_large(columns_of(*emitting, (2, 1, 127)), limits) == "64 bits may not hold its sums"
    assert too_large(columns_of(*emitting, (0, 1, 128)), limits) == "64 bits may not hold its sums"
    # Prompts in chunks of one token: 2 * 256 tokens emitted, and 256 + 256 more than all that is prefilled
    chunks = Limits(1, LARGEST, 1, 1, True)
    prompts = [(0, LARGEST, 1)] * 255
    least = MOST - 1 - 4 * 256 - 255 * LARGEST
    assert too_large(columns_of(*prompts, (0, least, 1)), chunks) is None
    assert too_large(columns_of(*prompts, (0, least + 1, 1)), chunks) == "64 bits may not hold its sums"
    assert too_large(columns_of(*prompts, (0, least + 1, 1)), replace(chunks, chunked_prefill=False)) is None


def test_what_64_bits_may_not_hold_is_counted_from_records():
    limits = Limits(300, LARGEST, LARGEST)
    within, beyond = (Case(columns_of(*[(0, 1, 2)] * n)._requests, limits) for n in (255, 256))
    assert apart(within) == []
    for policy in BOTH:
        found = figures(beyond.requests, limits, policy)
        assert found.way == "loop: 64 bits may not hold its sums"
        assert (found.metrics, found.requests()) == from_records(beyond, policy)[:2]
        assert found.metrics["wasted_slots_peak"] == 256 * (LARGEST - 2)
