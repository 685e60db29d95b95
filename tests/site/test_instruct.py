"""What the page asks for an instructor, message by message."""

import json
from dataclasses import replace

import pytest

from app.page import payload as drawing
from app.page.instruct import MOST_REQUESTS, Workshop
from app.page.main import Lab, course_trace
from lab.formats.trace_json import dump_trace, parse_trace, trace_to_dict
from lab.generate import generate
from lab.near import MOST_TRIES, figures_of
from lab.recipe import recipe_from
from lab.replay import run
from lab.workload import Limits, Request, Trace

COURSE = course_trace()
PREEMPTS = {"figure": "preemptions", "of": "continuous", "at_least": 1}


class Page:
    """A lab, and the messages that it sent."""

    def __init__(self):
        self.told = []
        self.lab = Lab(COURSE, lambda name, data: self.told.append((name, json.loads(json.dumps(data)))))

    def open(self, trace, limits=None, serial=1):
        """The one message that answers."""
        self.told.clear()
        self.lab.open_trace({"trace": trace, "limits": limits, "serial": serial})
        (answer,) = self.told
        return answer


@pytest.fixture(scope="module")
def page():
    return Page()


def many(n):
    requests = tuple(Request(f"r{i}", i, 20, 6) for i in range(n))
    return Trace("many", Limits(8, 64, 16), requests)


# ---- open_trace


@pytest.mark.parametrize("as_text", [False, True])
def test_a_trace_is_replayed_as_the_command_line_does_it(page, as_text):
    trace = generate(recipe_from({"seed": 4, "requests": 30, "arrivals": {"kind": "at-once"}, "mix": {"chat": 1}}))
    name, data = page.open(dump_trace(trace) if as_text else trace_to_dict(trace), serial=17)
    assert (name, data["serial"]) == ("replay", 17)
    assert data["replay"] == json.loads(json.dumps(run(trace).to_document()))
    assert list(data["colors"]) == [request.id for request in trace.requests]
    assert data["teaches"]["sentence"].startswith("Static batching takes ")
    assert page.lab.trace == trace and page.lab.controls.defaults == trace.limits
    for policy, chart in page.lab.charts.items():
        assert list(chart.source.data["id"]) == [request.id for request in trace.requests], policy


def test_the_fields_show_the_limits_asked_for_and_go_back_to_the_traces_own(page):
    name, data = page.open(trace_to_dict(COURSE), {"num_pages": 14})
    assert name == "replay" and data["replay"]["limits"]["num_pages"] == 14
    assert page.lab.controls.widgets["num_pages"].value == 14
    page.told.clear()
    page.lab.controls.reset.clicks += 1
    (answer,) = page.told
    assert answer[1]["replay"]["limits"]["num_pages"] == 32 and "serial" not in answer[1]


def test_a_field_that_is_changed_later_replays_the_trace_that_is_open(page):
    page.open(trace_to_dict(many(5)))
    page.told.clear()
    page.lab.controls.widgets["max_num_seqs"].value = 1
    ((_, data),) = page.told
    assert len(data["replay"]["trace"]["requests"]) == 5 and data["replay"]["limits"]["max_num_seqs"] == 1


@pytest.mark.parametrize("n", [0, 1, MOST_REQUESTS])
def test_as_many_requests_as_the_page_draws(page, n):
    name, data = page.open(trace_to_dict(many(n)))
    assert name == "replay" and len(data["replay"]["trace"]["requests"]) == n
    assert len(page.lab.charts["static"].source.data["id"]) == n


def test_one_request_too_many(page):
    name, data = page.open(trace_to_dict(many(MOST_REQUESTS + 1)), serial=3)
    assert name == "trace_refused"
    assert (data["serial"], data["row"], data["field"]) == (3, None, "requests")
    assert data["why"].startswith("101 are more than the page draws, at most 100;")


BROKEN = [
    ({"requests": [{"id": "a", "arrival": 0, "prompt_tokens": 1.5, "output_tokens": 1}]}, 0, "prompt_tokens"),
    ({"requests": [{"id": "a", "arrival": 0, "prompt_tokens": 1}]}, 0, "output_tokens"),
    ({"requests": [*trace_to_dict(COURSE)["requests"], {**trace_to_dict(COURSE)["requests"][3]}]}, 9, "id"),
    ({"limits": {"max_num_seqs": 0, "num_pages": 1, "page_size": 1}}, None, "max_num_seqs"),
    ({"limits": {"max_num_seqs": 65, "num_pages": 1, "page_size": 1}}, None, "max_num_seqs"),
    ({"schema_version": 2}, None, "schema_version"),
    ({"requests": None}, None, "requests"),
    ({"colour": "red"}, None, "colour"),
]


@pytest.mark.parametrize(("changes", "row", "field"), BROKEN)
def test_a_refusal_names_row_and_field_and_changes_nothing(page, changes, row, field):
    page.open(trace_to_dict(COURSE))
    before = dict(page.lab.charts["static"].source.data)
    name, data = page.open({**trace_to_dict(COURSE), **changes}, serial=8)
    assert name == "trace_refused" and set(data) == {"serial", "row", "field", "why"}
    assert (data["serial"], data["row"], data["field"]) == (8, row, field) and ";" in data["why"]
    assert page.lab.trace == COURSE and page.lab.controls.values()["num_pages"] == 32
    assert dict(page.lab.charts["static"].source.data) == before


@pytest.mark.parametrize(("limits", "field"), [({"num_pages": 0}, "num_pages"), ({"speed": 1}, "limits")])
def test_limits_that_cannot_be(page, limits, field):
    name, data = page.open(trace_to_dict(COURSE), limits)
    assert (name, data["field"], data["row"]) == ("trace_refused", field, None)


@pytest.mark.parametrize(("options", "field"), [({"victim": "me"}, "victim"), ({"speed": 1}, "options")])
def test_options_that_cannot_be(page, options, field):
    page.told.clear()
    page.lab.open_trace({"trace": trace_to_dict(COURSE), "limits": None, "options": options, "serial": 2})
    ((name, data),) = page.told
    assert (name, data["field"], data["row"]) == ("trace_refused", field, None)


def test_a_replay_longer_than_the_page_draws(page, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_ITERATIONS", 116)  # static takes 116 iterations of the course trace
    assert page.open(trace_to_dict(COURSE))[0] == "replay"
    monkeypatch.setattr(drawing, "MOST_ITERATIONS", 115)
    name, data = page.open(trace_to_dict(COURSE))
    assert name == "trace_refused" and "longer than the 115 iterations" in data["why"]
    late = replace(COURSE, requests=(Request("a", 2**53 - 2, 1, 1),))
    assert page.open(trace_to_dict(late))[0] == "trace_refused"  # and at once, whatever the gap


def test_a_replay_with_more_pages_than_the_page_holds(page, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_CELLS", 100)
    name, data = page.open(trace_to_dict(COURSE))
    assert name == "trace_refused" and "more pages" in data["why"]


def test_milliseconds_are_brought_to_iterations_and_said_to_be(page):
    trace = replace(COURSE, time_unit="ms", requests=(Request("a", 30.5, 8, 2), Request("b", 0, 8, 2)))
    name, data = page.open(trace_to_dict(trace))
    assert name == "replay" and [r["arrival"] for r in data["replay"]["trace"]["requests"]] == [2, 0]
    assert data["notes"] == ["Arrivals in ms are brought to iterations of 20 ms each, rounded up."]
    assert page.open(trace_to_dict(COURSE))[1]["notes"] == []


# ---- generate


class Shop:
    """A workshop whose clock jumps by `tick` seconds whenever it is looked at."""

    def __init__(self, tick=0.0):
        self.told = []
        self.time = 0.0
        self.tick = tick
        self.workshop = Workshop(lambda name, data: self.told.append((name, json.loads(json.dumps(data)))), self.now)

    def now(self):
        self.time += self.tick
        return self.time

    def ask(self, call, **asked):
        self.told.clear()
        getattr(self.workshop, call)({"serial": 5, **asked})
        (answer,) = self.told
        assert answer[1]["serial"] == 5
        return answer


RECIPE = {"seed": 9, "requests": 40, "arrivals": {"kind": "bursty", "gap": 20, "size": 4}, "mix": {"chat": 7, "rag": 3}}


def test_generate_gives_the_bytes_of_the_command_line(capsys):
    from lab.cli import main

    name, data = Shop().ask("generate", recipe=RECIPE)
    assert name == "generated"
    assert main(data["command"].split()[1:]) == 0
    assert dump_trace(parse_trace(json.dumps(data["trace"]))) == capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"requests": 101}, "requests"),
        ({"arrivals": {"kind": "poisson", "gap": 0}}, "arrivals.gap"),
        ({"seed": None}, "seed"),
    ],
)
def test_generate_refuses_by_field(changes, field):
    name, data = Shop().ask("generate", recipe={**RECIPE, **changes})
    assert (name, data["field"]) == ("generate_refused", field) and ";" in data["why"]
    assert Shop().ask("generate", recipe={**RECIPE, "requests": 100})[0] == "generated"


# ---- search


def search(shop, trace=COURSE, goal=PREEMPTS, seed=2, calls=10_000):
    """The messages up to the last, at most so many."""
    tried, steps = 0, []
    while len(steps) < calls:
        name, data = shop.ask("search", trace=trace_to_dict(trace), goal=goal, seed=seed, tried=tried)
        assert name == "search_step" and data["why"] is None and data["most"] == MOST_TRIES
        steps.append(data)
        tried = data["tried"]
        if data["done"]:
            break
    return steps


def test_a_search_in_slices_finds_what_one_slice_finds():
    (whole,) = search(Shop())
    slices = search(Shop(tick=Workshop.SLICE / 3))
    assert len(slices) > 5 and slices[-1] == whole
    tried = [step["tried"] for step in slices]
    assert tried == sorted(set(tried))
    assert all(step["found"] is None for step in slices[:3])
    found = parse_trace(json.dumps(whole["found"]))
    assert run(found).policies["continuous"].metrics["preemptions"] == whole["best"] >= 1


def test_a_slice_ends_in_time():
    (step,) = search(Shop(tick=Workshop.SLICE), calls=1)
    assert step["tried"] <= 2 and not step["done"]


def test_another_worker_goes_on_where_the_first_was_told_to_stop():
    shop = Shop(tick=Workshop.SLICE / 3)
    first = search(shop, calls=4)
    asked = {"trace": trace_to_dict(COURSE), "goal": PREEMPTS, "seed": 2, "tried": first[-1]["tried"]}
    assert Shop(tick=Workshop.SLICE / 3).ask("search", **asked) == shop.ask("search", **asked)


def test_a_search_that_is_asked_for_again_begins_again():
    shop = Shop(tick=Workshop.SLICE / 3)
    first = search(shop, calls=4)
    assert search(shop, calls=4) == first


def test_a_search_keeps_to_the_limits_on_the_screen():
    shop = Shop()
    asked = {"trace": trace_to_dict(COURSE), "goal": PREEMPTS, "seed": 0, "tried": 0, "limits": {"num_pages": 24}}
    _, data = shop.ask("search", **asked)
    found = parse_trace(json.dumps(data["found"]))
    assert found.limits == COURSE.limits
    assert figures_of(replace(found, limits=replace(found.limits, num_pages=24)))["continuous"]["preemptions"] >= 1


def test_a_search_keeps_to_the_options_on_the_screen():
    goal = {"figure": "rejected", "of": "continuous", "at_least": 1}
    options = {"allocation": "slab", "slab_tokens": 148}  # f has 149 tokens
    asked = {"trace": trace_to_dict(COURSE), "goal": goal, "seed": 0, "tried": 0, "options": options}
    _, data = Shop().ask("search", **asked)
    assert (data["found"], data["tried"]) == (trace_to_dict(COURSE), 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"goal": {**PREEMPTS, "of": "me"}}, "goal.of"),
        ({"seed": -1}, "seed"),
        ({"tried": "0"}, "tried"),
        ({"trace": {**trace_to_dict(COURSE), "requests": [{}]}}, "id"),
    ],
)
def test_a_question_that_makes_no_sense_ends_the_search(changes, field):
    asked = {"trace": trace_to_dict(COURSE), "goal": PREEMPTS, "seed": 0, "tried": 0, **changes}
    name, data = Shop().ask("search", **asked)
    assert (name, data["field"], data["done"], data["found"]) == ("search_step", field, True, None)
    assert "\n" not in data["why"] and ";" in data["why"]
