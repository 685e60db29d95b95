"""What a trace teaches: the figures are the replay's, the gates are counted, and the sentence is true."""

from dataclasses import replace

import pytest
from drive import COURSE, trace_of

from lab.formats.trace_json import read_trace
from lab.options import Options
from lab.replay import run
from lab.teaches import FIGURES, GateCount, teaches
from lab.workload import Limits, Request, Trace

COURSE_TRACE = read_trace(COURSE)


def taught(trace, **limits):
    gates = GateCount()
    played = run(trace, replace(trace.limits, **limits), watch=gates)
    return teaches(played, gates), played


def test_the_figures_of_the_course_trace():
    said, played = taught(COURSE_TRACE)
    figures = {figure["name"]: figure for figure in said["figures"]}
    assert list(figures) == [name for name, _, _ in FIGURES]
    assert (figures["iterations"]["static"], figures["iterations"]["continuous"]) == (116, 88)
    assert (figures["wait_p95"]["static"], figures["wait_p95"]["continuous"]) == (19, 7)
    assert (figures["peak_pages"]["static"], figures["peak_pages"]["continuous"]) == (17, 27)
    assert round(figures["utilization"]["static"], 2) == 0.61
    assert figures["rejected"]["static"] == 0 and figures["utilization"]["label"] == "Utilization"
    for policy, outcome in played.policies.items():
        for name, figure in figures.items():
            value = outcome.metrics[name]
            assert figure[policy] == (len(value) if isinstance(value, list) else value)


def test_gates_are_counted_in_iterations():
    said, played = taught(COURSE_TRACE, num_pages=14)
    for policy, outcome in played.policies.items():
        met = [getattr(record, "gate", None) for record in outcome.records]
        assert said["gates"][policy] == {gate: met.count(gate) for gate in ("seats", "tokens", "pages", "batch")}
    assert said["gates"]["continuous"]["pages"] > 0 and said["gates"]["static"]["batch"] > 0


def sentence(trace, **limits):
    said = taught(trace, **limits)[0]["sentence"]
    assert said.endswith(".") and said.count(".") == 1 + sum(c.isdigit() for c in said.split(".")[1:] for c in c[:1])
    return said


def test_the_course_trace_in_one_sentence():
    assert sentence(COURSE_TRACE) == (
        "Static batching takes 116 iterations and continuous 88, since a seat that falls free stays empty until its "
        "whole batch is done (utilization 61% against 86%); "
        "under continuous the queue waits for a seat in 17 of 82 busy iterations."
    )


def test_preemptions_are_named_with_the_pool():
    assert "static preempts once and continuous preempts twice, since the pool of 14 pages runs dry" in sentence(
        COURSE_TRACE, num_pages=14
    )


def test_one_seat_makes_both_policies_one():
    said = sentence(COURSE_TRACE, max_num_seqs=1)
    assert said.startswith("Both policies take 212 iterations, with the same waits under either; ")
    assert said.endswith("; under continuous the queue waits for a seat in 207 of 212 busy iterations.")


def test_nobody_waits():
    trace = trace_of(("a", 0, 4, 1), max_num_seqs=2, num_pages=8, page_size=16)
    assert sentence(trace) == "Both policies take 1 iteration, and nobody waits under either."


def test_equally_long_with_other_waits():
    trace = trace_of(
        ("a", 0, 1, 9), ("b", 0, 1, 1), ("c", 0, 1, 1), ("d", 20, 1, 1), max_num_seqs=2, num_pages=9, page_size=16
    )
    assert "but a request waits on average 2.2 iterations under static and 0.2 under continuous" in sentence(trace)


def test_equal_waits_and_other_latencies():
    rows = (("a", 4, 8, 5), ("b", 1, 7, 6), ("c", 5, 6, 7), ("d", 3, 7, 6))
    said = sentence(trace_of(*rows, max_num_seqs=3, num_pages=5, page_size=4))
    assert "with the same waits, but not the same latencies; " in said


def test_continuous_can_be_the_slower_one():
    rows = (("a", 3, 1, 7), ("b", 5, 3, 7), ("c", 3, 9, 3), ("d", 5, 9, 7), ("e", 0, 5, 6))
    said = sentence(trace_of(*rows, max_num_seqs=2, num_pages=4, page_size=4))
    assert "which gives seats out early and has to take some back; " in said and "continuous preempts" in said
    # Without a preemption under continuous there is no one reason to name.
    rows = (("a", 4, 4, 8), ("b", 2, 7, 5), ("c", 5, 1, 2), ("d", 0, 7, 3), ("e", 3, 9, 1))
    said = sentence(trace_of(*rows, max_num_seqs=2, num_pages=5, page_size=4))
    assert said.startswith("Static batching takes 14 iterations and continuous 15; static preempts twice")


def test_requests_that_can_never_be_served():
    trace = trace_of(("a", 0, 4, 4), ("b", 0, 99, 1), max_num_seqs=2, num_pages=2, page_size=8)
    assert sentence(trace).endswith("; 1 request can never be served.")
    one = sentence(COURSE_TRACE, max_num_batched_tokens=64)
    assert one.endswith("5 requests under continuous can never be served.") and "since a seat" not in one


def limited(tokens_per_second, *more):
    options = Options(admission="limit", client_tokens_per_second=tokens_per_second)
    rows = (*(Request(name, 0, 20, 5, client="me") for name in "abcd"), *more)
    return sentence(Trace("t", Limits(4, 32, 16), rows, options=options))


def test_what_a_clients_limit_turns_away_could_be_served():
    assert limited(45).endswith("; 2 requests are turned away by their client's limit.")
    assert limited(75).endswith("; 1 request is turned away by their client's limit.")
    assert limited(1) == "No request is completed: clients leave before, or their limit turns them away."
    both = limited(45, Request("e", 0, 600, 5, client="you"))
    assert both.endswith("; 1 request can never be served; 2 requests are turned away by their client's limit.")


def test_nothing_at_all():
    assert sentence(replace(COURSE_TRACE, requests=())) == "The trace has no requests, so there is nothing to see yet."
    assert sentence(COURSE_TRACE, num_pages=1) == (
        "No request can ever be served: each needs more than these limits allow."
    )


@pytest.mark.parametrize("budget", [3, 8])
def test_a_budget_that_only_continuous_keeps_to(budget):
    trace = trace_of(*((name, 0, 40, 2) for name in "abc"), max_num_seqs=3, num_pages=32, page_size=16)
    said = sentence(trace, max_num_batched_tokens=budget, chunked_prefill=True)
    assert "since only continuous keeps to the token budget" in said
