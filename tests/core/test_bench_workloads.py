"""The benchmark's workloads are the same everywhere, and its tables say what was measured. No time is asserted."""

import re
from statistics import median

import pytest

from lab.bench.aims import aims
from lab.bench.harness import Harness
from lab.bench.lengths import CHAT_OUTPUTS, CHAT_PROMPTS, Quantiles, poisson
from lab.bench.lines import WorkerError, understood
from lab.bench.measuring import Outcome, fingerprint, fingerprint_beside, timed
from lab.bench.plan import COMPILED, CORNERS, HERE, NODE_COMPILED, PURE, SIZES, TOKENS, Case, Group, groups
from lab.bench.results import Measured, Results
from lab.bench.tables import digits, render
from lab.bench.workloads import CONVERSATION_REQUESTS, HOUR_MS, WORKLOADS, conversation_trace, made
from lab.randomness import Random

OF_TWENTY = {
    "conversation": (3480, "a9bd6dc60e13999b"),
    "roomy": (36791, "ea4e0bab85c27d2a"),
    "starved": (36791, "9e0bd439e103dd1e"),
    "steady": (280, "6eecf976fac1bbf1"),
    "at_once": (280, "38ebca8451eab9fb"),
    "long_queue": (280, "6d34cf5884f84737"),
    "backwards": (280, "439d96795422a831"),
    "preempting": (1176, "36303ee2ffeba7a1"),
    "storm": (785, "f6886e9755ea6915"),
    "long_pages": (5516, "b64edd8e701b870e"),
    "held": (39, "4d5e7027050da5f1"),
    "chunked": (145, "43a082665fcf9436"),
    "sparse": (80, "fc12e98e6d8ce3ae"),
    "refused": (160, "6a0938e53815ff5d"),
    "vast": (20000000000, "76a8cb1de9b4bd7d"),
    "endless": (1280, "b6db3ce7e340fb0f"),
}
"""Output tokens and fingerprint of each workload of twenty requests."""


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_is_made_from_its_name_and_size_alone(name):
    workload = made(name, 20)
    assert (workload.tokens, workload.sha256()[:16]) == OF_TWENTY[name]


@pytest.mark.cpython_only("the same integers, which take a second there; the workload of twenty requests runs there")
def test_the_conversation_workload_is_as_large_as_it_is_said_to_be():
    trace = conversation_trace()
    assert len(trace.requests) == CONVERSATION_REQUESTS == 19_366
    assert sum(request.output_tokens for request in trace.requests) == 4099555
    assert sum(request.prompt_tokens for request in trace.requests) == 23084690
    assert made("conversation", CONVERSATION_REQUESTS).sha256()[:16] == "b86fc90872ceef57"
    arrivals = [request.arrival for request in trace.requests]
    assert arrivals == sorted(arrivals) and arrivals[0] >= 0 and 0.99 * HOUR_MS < arrivals[-1] < HOUR_MS
    outputs = [request.output_tokens for request in trace.requests]
    assert sum(outputs) / len(outputs) > 1.5 * median(outputs)  # a heavy tail: the mean is far above the median
    assert (trace.limits.max_num_seqs, trace.limits.num_pages, trace.limits.page_size) == (256, 40_000, 16)


class Bits:
    """Random bits that are none."""

    def __init__(self, *values):
        self.values = iter(values)

    def bits(self):
        return next(self.values)


def test_quantiles_are_met_and_what_lies_between_is_on_a_line():
    lengths = Quantiles((0, 10), (5000, 20), (10_000, 1020))
    marks = [0, 2**61, 2**63 - 1, 2**63, 2**63 + 2**62, 2**64 - 1]
    assert [lengths.draw(Bits(mark)) for mark in marks] == [10, 12, 19, 20, 520, 1019]
    for chat in (CHAT_PROMPTS, CHAT_OUTPUTS):
        assert chat.draw(Bits(0)) >= 1


def test_poisson_arrivals_are_in_order_and_in_the_span():
    arrivals = poisson(Random(1), 500, 1000)
    assert arrivals == sorted(arrivals) and arrivals[0] >= 0 and arrivals[-1] < 1000
    assert poisson(Bits(2**64 - 1, 0), 2, 7) == [0, 6]


def test_the_plan_names_workloads_that_there_are():
    for quick in (False, True):
        cases = [case for group in groups(quick) for case in group.cases]
        assert {case.workload for case in cases} <= WORKLOADS.keys()
        assert len(set(cases)) == len(cases)


def outcome(**metrics):
    return Outcome({"iterations": 3, "wait_mean": 0.5, **metrics}, lambda: {"a": {"start": 1}})


def test_a_fingerprint_sees_every_figure():
    other = Outcome(outcome().metrics, lambda: {"a": {"start": 2}})
    assert fingerprint(outcome()) == fingerprint(outcome())
    assert len({fingerprint(found) for found in (outcome(), outcome(iterations=4), other)}) == 3
    near = outcome(wait_mean=0.5 * (1 + 1e-13))
    assert fingerprint(near) != fingerprint(outcome()) == fingerprint_beside(near, outcome())
    assert fingerprint_beside(outcome(wait_mean=0.50001), outcome()) == (
        "wait_mean is 0.5, in the plain implementation 0.50001"
    )
    assert fingerprint_beside(other, outcome()) == "the figures of single requests differ"


def test_a_case_is_run_until_the_time_is_spent():
    ticks = iter([10.0, 10.5, 11.0, 13.0])
    case = {"workload": "steady", "n": 4, "policy": "static", "way": "records", "at_least": 1.5}
    answer = timed(case, lambda: next(ticks))
    assert (answer["seconds"], answer["runs"], answer["requests"]) == (1.0, 3, 4)
    assert answer["decoded_tokens"] == made("steady", 4).tokens
    assert answer["completed"] == 4


ANSWER = {"seconds": 2.0, "requests": 1000, "decoded_tokens": 10**6, "preemptions": 7, "sha256": "same"}


class Fake:
    """A worker whose answers are made up; `asked` has what it was asked."""

    def __init__(self, name, seconds, fails_at=None):
        self.name, self.seconds, self.fails_at = name, seconds, fails_at
        self.asked, self.closed = [], 0

    def ask(self, case):
        self.asked.append(case)
        if len(self.asked) == self.fails_at:
            raise WorkerError(f"{self.name} is lost")
        return {"plain": False} if "about" in case else ANSWER | {"seconds": self.seconds}

    def close(self):
        self.closed += 1


def measure(group, **workers):
    harness = Harness({worker.name: (lambda worker=worker: worker) for worker in workers.values()}, lambda _: None)
    harness.start()
    harness.measure([group])
    harness.close()
    return harness.results


def test_cases_take_turns_and_the_first_round_does_not_count():
    cases = tuple(Case(TOKENS, name, 9, "continuous", "loop", HERE) for name in ("roomy", "starved"))
    pure, compiled = Fake(PURE, 2.0), Fake(COMPILED, 0.01)
    results = measure(Group("two", cases, 2), pure=pure, compiled=compiled)
    assert [case["workload"] for case in pure.asked[1:]] == ["roomy", "starved"] * 3
    assert [case["at_least"] for case in pure.asked[1:]] == [0, 0, 0.05, 0.05, 0.05, 0.05]
    assert [(one.worker, one.seconds, one.first_s) for one in results.of(TOKENS, "roomy")] == [
        (PURE, [2.0, 2.0], 2.0),
        (COMPILED, [0.01, 0.01], 0.01),
    ]
    assert pure.closed == compiled.closed == 1


def test_a_worker_that_is_lost_is_told_and_left_out():
    lost, stays = Fake(PURE, 2.0, fails_at=3), Fake(COMPILED, 0.01)
    case = Case(TOKENS, "roomy", 9, "continuous", "loop", HERE)
    results = measure(Group("one", (case,), 3), lost=lost, stays=stays)
    assert results.problems == [f"{PURE} is lost"]
    assert (len(lost.asked), len(stays.asked), lost.closed) == (3, 5, 1)
    assert "cpython pure is lost" in render(results, aims(results), {})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "no answer within"),
        ("Aborted()\n", "'Aborted()' is no answer"),
        ('{"problem": "MemoryError: "}', "MemoryError: "),
    ],
)
def test_what_a_worker_says_instead_of_an_answer_is_told(line, problem):
    with pytest.raises(WorkerError, match=f"^node pure, storm loop: {re.escape(problem)}"):
        understood("node pure", line, {"workload": "storm", "way": "loop"})
    assert understood("node pure", '{"seconds": 1}', {}) == {"seconds": 1}


def test_a_plain_case_needs_the_tests():
    pure = Fake(PURE, 2.0)
    results = measure(Group("one", (Case(TOKENS, "roomy", 9, "continuous", "plain", HERE),), 1), pure=pure)
    assert (len(pure.asked), results.measured) == (1, [])


def test_a_fresh_case_has_a_process_of_its_own_each_time():
    pure = Fake(PURE, 2.0)
    results = measure(
        Group("one", (Case(SIZES, "steady", 9, "static", "spans", (PURE,), fresh=True),), 2, False), pure=pure
    )
    assert [(case.get("peak"), case.get("n")) for case in pure.asked[1:]] == [(None, 9), (True, 9)] * 2
    assert pure.closed == 3 and results.measured[0].first_s is None


def test_without_a_warm_up_every_round_counts():
    pure = Fake(PURE, 2.0)
    case = Case(TOKENS, "roomy", 9, "continuous", "records", (PURE,))
    results = measure(Group("one", (case,), 1, warm_up=False), pure=pure)
    assert (len(pure.asked), results.measured[0].seconds, results.measured[0].first_s) == (2, [2.0], None)


def measured(section, worker, seconds, *, workload="roomy", n=1000, way="loop", tokens=10**6, sha256="same"):
    times = seconds if isinstance(seconds, list) else [seconds]
    return Measured(
        *(section, workload, n, "continuous", way, worker, times),
        **{"requests": n, "tokens": tokens, "sha256": [sha256], "peak_mb": [999.0]},
    )


def verdicts(*entries):
    return {aim.text.split(",")[0]: aim.met for aim in aims(Results(entries))}


def test_aims_are_met_at_their_bound_and_not_beyond():
    at = verdicts(
        measured(TOKENS, PURE, 0.375),
        measured(TOKENS, COMPILED, 0.015),
        measured(TOKENS, NODE_COMPILED, [9.0, 0.0225, 9.0]),
    )
    assert at["native loop ≤ 15 ns a token"] is at["native loop ≥ 25 × faster than pure"] is True
    assert at["wasm loop ≤ 1.5 × native loop (Node)"] is True
    assert at["wasm loop ≤ 1.5 × native loop (Chromium)"] is None
    beyond = verdicts(
        measured(TOKENS, PURE, 0.374),
        measured(TOKENS, COMPILED, [0.01501, 0.01501, 9.0]),
        measured(TOKENS, NODE_COMPILED, 0.0226),
    )
    assert beyond["native loop ≤ 15 ns a token"] is beyond["native loop ≥ 25 × faster than pure"] is False
    assert beyond["wasm loop ≤ 1.5 × native loop (Node)"] is False


def test_flatness_is_of_the_whole_range_and_corners_may_only_grow_so_far():
    sizes = [measured(SIZES, PURE, seconds, n=n, way="spans") for n, seconds in ((10, 1.5), (100, 10.0), (1000, 150.0))]
    corners = [measured(CORNERS, PURE, seconds, n=n) for n, seconds in ((10, [9.9, 3.0]), (160, [999.0, 48.0]))]
    found = verdicts(*sizes, *corners)
    assert found["time a request flat within 2 ×"] is True
    assert found["no quadratic corner: at 16 n a request takes ≤ 2 × that at n"] is True
    corners[1].seconds = [97.0]
    sizes[1].seconds = [7.4]
    found = verdicts(*sizes, *corners)
    assert found["time a request flat within 2 ×"] is False
    assert found["no quadratic corner: at 16 n a request takes ≤ 2 × that at n"] is False


def test_the_table_has_medians_ranges_and_what_is_not_the_same():
    entries = [measured(TOKENS, PURE, [0.5, 0.3, 0.9]), measured(TOKENS, COMPILED, 0.01, sha256="other")]
    results = Results(entries)
    text = render(results, aims(results), {"CPU": "an abacus"})
    lines = [line.split("   ") for line in text.splitlines()]
    rows = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines}
    assert rows["CPU"] == ["an abacus"]
    assert rows["cpython pure, loop"] == ["500 (300–900)", "–", "1.00", "–"]
    assert rows["cpython compiled, loop"] == ["10.0", "–", "50.0", "–"]
    assert "roomy of 1,000 requests, continuous: 2 different answers (same in cpython pure loop; other in" in text
    entries[1].sha256 = ["same"]
    assert "4 runs of 1 replays: the figures of each are the same in all of its runs." in render(
        Results(entries), [], {}
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.00123, "0.0012"),
        (0.0123, "0.0123"),
        (0.123, "0.123"),
        (1.5, "1.50"),
        (99.94, "99.9"),
        (12345.6, "12,346"),
    ],
)
def test_three_digits(value, text):
    assert digits(value) == text
