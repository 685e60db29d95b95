"""Searching near a trace: what is found has the property, is near, and follows from the seed."""

from dataclasses import replace

import pytest
from drive import COURSE, trace_of

from lab import near
from lab.errors import InputError
from lab.formats.trace_json import dump_trace, parse_trace, read_trace
from lab.near import FIGURE_NAMES, MOST_TRIES, WHO, Search, figures_of, goal_from
from lab.options import Options
from lab.replay import run
from lab.workload import Request

COURSE_TRACE = read_trace(COURSE)
PREEMPTS = {"figure": "preemptions", "of": "continuous", "at_least": 1}


def searched(trace, goal, seed=0):
    search = Search(trace, goal_from(goal), seed)
    while not search.done:
        search.step()
    return search


def differences(trace, origin):
    return [
        (mine.id, field)
        for mine, theirs in zip(trace.requests, origin.requests, strict=True)
        for field in ("arrival", "prompt_tokens", "output_tokens")
        if getattr(mine, field) != getattr(theirs, field)
    ]


def figure_by_replay(trace, goal):
    """The goal's figure from a replay of the trace's file, apart from how the search counts it."""
    played = run(parse_trace(dump_trace(trace))).policies
    name = goal["figure"]

    def of(policy):
        if name.startswith("gate_"):
            return sum(getattr(record, "gate", None) == name[5:] for record in played[policy].records)
        value = played[policy].metrics[name]
        return len(value) if name == "rejected" else value

    first, _, second = goal["of"].partition(" - ")
    return of(first) - (of(second) if second else 0)


SMALL = trace_of(
    ("a", 0, 5, 3),
    ("b", 0, 4, 8),
    ("c", 1, 7, 4),
    ("d", 2, 3, 6),
    ("e", 9, 6, 2),
    max_num_seqs=2,
    num_pages=7,
    page_size=4,
)

GOALS = [
    {"figure": "preemptions", "of": "continuous", "at_least": 2},
    {"figure": "iterations", "of": "static - continuous", "at_least": 8},
    {"figure": "iterations", "of": "static - continuous", "at_most": 0},
    {"figure": "gate_pages", "of": "continuous", "at_least": 5},
    {"figure": "gate_seats", "of": "continuous", "at_most": 1},
    {"figure": "utilization", "of": "continuous", "at_least": 0.97},
    {"figure": "wait_max", "of": "continuous", "at_most": 0},
    {"figure": "wait_max", "of": "static - continuous", "at_least": 10},
    {"figure": "rejected", "of": "static", "at_least": 1},
    {"figure": "latency_p95", "of": "continuous", "at_most": 6},
    {"figure": "utilization", "of": "continuous - static", "at_least": 0.25},
]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: "-".join(map(str, goal.values())).replace(" ", ""))
def test_what_is_found_has_the_property(goal):
    search = searched(SMALL, goal)
    assert search.found is not None and 1 < search.tried <= MOST_TRIES
    value = figure_by_replay(search.found, goal)
    assert value == search.best
    assert value >= goal["at_least"] if "at_least" in goal else value <= goal["at_most"]
    assert search.found.limits == SMALL.limits
    assert [request.id for request in search.found.requests] == list("abcde")
    rejected = [len(outcome.metrics["rejected"]) for outcome in run(search.found).policies.values()]
    assert goal["figure"] == "rejected" or rejected == [0, 0]


def test_no_change_that_is_left_could_be_taken_back():
    goal = {"figure": "iterations", "of": "static - continuous", "at_least": 30}
    found = searched(COURSE_TRACE, goal, seed=3).found
    changed = differences(found, COURSE_TRACE)
    assert len(changed) == 1  # the course trace has 28: one value is enough
    ((name, field),) = changed
    requests = [replace(r, **{field: getattr(o, field)}) if r.id == name else r for r, o in _pairs(found)]
    assert figure_by_replay(replace(found, requests=tuple(requests)), goal) < 30


def _pairs(trace):
    return zip(trace.requests, COURSE_TRACE.requests, strict=True)


def test_a_trace_that_has_the_property_is_found_at_once():
    search = searched(COURSE_TRACE, {"figure": "iterations", "of": "static - continuous", "at_least": 28})
    assert (search.found, search.tried, search.best) == (COURSE_TRACE, 1, 28)


def test_turning_requests_away_is_no_way_to_a_goal():
    nobody_waits = {"figure": "wait_max", "of": "continuous", "at_most": 0}
    trace = trace_of(("a", 0, 4, 4), ("b", 0, 4, 4), max_num_seqs=1, num_pages=4, page_size=4)
    for prompt_tokens, found in ((99, False), (4, True)):
        search = Search(trace, goal_from(nobody_waits), 0)
        late = Request("b", 50, prompt_tokens, 4)
        search._changed = lambda _, late=late: replace(trace, requests=(trace.requests[0], late))
        search.step()
        assert (search.found is not None) == found


def test_the_seed_says_what_is_found():
    """The same in CPython and in Pyodide, and something else for another seed."""
    found = searched(COURSE_TRACE, PREEMPTS, 2).found
    rows = {r.id: (r.arrival, r.prompt_tokens, r.output_tokens) for r, o in _pairs(found) if r != o}
    assert rows == {"g": (32, 108, 42), "h": (54, 190, 20)}
    assert dump_trace(searched(COURSE_TRACE, PREEMPTS, 1).found) != dump_trace(found)


def test_what_cannot_be_is_given_up(monkeypatch):
    monkeypatch.setattr(near, "MOST_TRIES", 200)
    goal = {"figure": "utilization", "of": "static", "at_least": 1.5}
    trace = trace_of(("a", 0, 1, 1), ("b", 0, 1, 2), max_num_seqs=1, num_pages=9, page_size=4)
    search = searched(trace, goal)
    assert search.found is None and search.best <= 1
    assert search.tried == 200
    search.step()
    assert search.tried == 200


def test_an_empty_trace_has_nothing_to_change():
    search = searched(replace(COURSE_TRACE, requests=()), PREEMPTS)
    assert (search.found, search.done, search.tried) == (None, True, 1)


def test_arrivals_in_milliseconds_are_brought_to_iterations():
    trace = replace(COURSE_TRACE, time_unit="ms", requests=(Request("a", 50.5, 3, 4),))
    found = searched(trace, {"figure": "iterations", "of": "static", "at_least": 1}).found
    assert (found.time_unit, found.requests[0].arrival) == ("iteration", 3)


def test_arrivals_in_time_stay_in_time_under_a_model_of_it():
    rows = tuple(replace(request, arrival=request.arrival + 0.5) for request in SMALL.requests)
    trace = replace(SMALL, time_unit="ms", requests=rows, options=Options(step_time="llama-3.1-8b-h100"))
    goal = {"figure": "iterations", "of": "static - continuous", "at_least": 6}
    search = searched(trace, goal)
    assert search.found.time_unit == "ms" and figure_by_replay(search.found, goal) == search.best >= 6
    untouched = [r for r, o in zip(search.found.requests, trace.requests, strict=True) if r.arrival == o.arrival]
    assert untouched  # 0.5 and all: what is taken back is exactly what it was


def test_nobody_comes_after_they_have_left():
    leaving = tuple(replace(request, cancel_at=request.arrival + 1) for request in COURSE_TRACE.requests)
    goal = {"figure": "gate_seats", "of": "continuous", "at_most": -1}  # never met: the search goes everywhere
    search = Search(replace(COURSE_TRACE, requests=leaving), goal_from(goal), 0)
    for _ in range(60):
        search.step()  # a Request refuses to arrive after cancel_at
    assert search.tried > 50


def test_too_long_a_replay_is_refused(monkeypatch):
    monkeypatch.setattr(near, "MOST_ITERATIONS", 50)

    def lasting(iterations, arrival=0):
        return trace_of(("a", arrival, 1, iterations), max_num_seqs=1, num_pages=1, page_size=100)

    assert figures_of(lasting(50)) is not None and figures_of(lasting(1, arrival=49)) is not None
    assert figures_of(lasting(51)) is None and figures_of(lasting(1, arrival=50)) is None
    with pytest.raises(InputError, match="more than 50 iterations"):
        Search(lasting(51), goal_from(PREEMPTS), 0)


def test_a_candidate_that_is_too_long_is_no_candidate(monkeypatch):
    monkeypatch.setattr(near, "MOST_ITERATIONS", 120)
    monkeypatch.setattr(near, "MOST_TRIES", 60)
    search = searched(COURSE_TRACE, {"figure": "iterations", "of": "static", "at_least": 121})
    assert search.found is None and search.best <= 120


def test_every_figure_can_be_a_goal():
    figures = figures_of(COURSE_TRACE)
    for name in FIGURE_NAMES:
        for of in WHO:
            assert goal_from({"figure": name, "of": of, "at_most": 0.5}).value(figures) is not None


@pytest.mark.parametrize(
    ("goal", "field"),
    [
        (None, "goal"),
        ({**PREEMPTS, "figure": "speed"}, "goal.figure"),
        ({**PREEMPTS, "of": "both"}, "goal.of"),
        ({"figure": "preemptions", "of": "static"}, "goal"),
        ({**PREEMPTS, "at_most": 3}, "goal"),
        ({**PREEMPTS, "by": 3}, "goal"),
        ({**PREEMPTS, "at_least": "1"}, "goal.at_least"),
        ({**PREEMPTS, "at_least": True}, "goal.at_least"),
        ({**PREEMPTS, "at_least": float("inf")}, "goal.at_least"),
        ({**PREEMPTS, "at_least": 2**53}, "goal.at_least"),
        ({**PREEMPTS, "at_least": 10**400}, "goal.at_least"),
    ],
)
def test_bad_goals_are_refused_by_field(goal, field):
    with pytest.raises(InputError) as caught:
        goal_from(goal)
    assert caught.value.field == field
