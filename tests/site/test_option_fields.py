"""The page's fields for the engine's options: which are shown, what they hand on, what they say."""

import html
from dataclasses import replace

import pytest

from app.page.main import Lab, course_trace
from app.page.option_controls import OptionControls
from app.page.option_fields import link_fields, settled, without, words_of
from lab.option_help import HELP_OF, OPTION_HELP
from lab.options import PLAIN, Options

TIMED = "llama-3.1-8b-h100"


class Fields:
    """The fields over the course trace, and what they handed on."""

    def __init__(self, **limits):
        self.got = []
        trace = course_trace()
        self.controls = OptionControls(PLAIN, replace(trace.limits, **limits), trace, self.got.append)

    def choose(self, name, value):
        self.controls.widgets[name].value = [HELP_OF[name].label] if value is True else value

    @property
    def shown(self):
        return {name for name, cell in self.controls.cells.items() if cell.visible}

    @property
    def said(self):
        return {name: note.object for name, note in self.controls.notes.items() if "alert" in note.object}


def test_only_fields_that_matter_are_shown():
    fields = Fields()
    assert {"step_time", "allocation", "prefix_caching", "preemption", "admission"} <= fields.shown
    hidden = {"stall_ms", "token_ns", "slab_tokens", "swap_pages", "chunk_multiple", "model", "iteration_ms"}
    assert not hidden & fields.shown
    fields.choose("step_time", TIMED)
    assert {"stall_ms", "token_ns", "model"} <= fields.shown and "async_scheduling" not in fields.shown
    fields.choose("scheduler_us", 2000)
    assert "async_scheduling" in fields.shown
    fields.choose("allocation", "slab")
    assert "slab_tokens" in fields.shown and "preemption" not in fields.shown
    assert fields.got[-1] == Options(step_time=TIMED, scheduler_us=2000, allocation="slab")
    assert {"prefill_first", "chunk_multiple"} <= Fields(max_num_batched_tokens=16, chunked_prefill=True).shown


def test_every_field_has_its_help_and_says_what_the_trace_lacks():
    notes = Fields().controls.notes
    for entry in OPTION_HELP:
        assert html.escape(entry.help) in notes[entry.name].object
    assert "no clients" in notes["admission"].object
    assert "no client leaves" in notes["cancellation"].object


def test_what_is_wrong_is_said_where_it_can_be_put_right():
    fields = Fields()
    fields.choose("admission", "limit")
    assert list(fields.said) == ["client_tokens_per_second"] and fields.got == []
    assert "client_tokens_per_second" in fields.shown
    fields.choose("client_tokens_per_second", 0)
    assert "at least 1" in fields.said["client_tokens_per_second"] and fields.got == []
    fields.choose("client_tokens_per_second", 1)
    assert fields.said == {} and fields.got == [Options(admission="limit", client_tokens_per_second=1)]
    fields.choose("allocation", "slab")
    fields.choose("prefix_caching", True)
    assert list(fields.said) == ["prefix_caching"] and "Allocation must be on-demand" in fields.said["prefix_caching"]
    fields = Fields(max_num_batched_tokens=16, chunked_prefill=True)
    fields.choose("chunk_multiple", 17)
    assert "16 or less" in fields.said["chunk_multiple"]
    fields.choose("chunk_multiple", None)
    assert "write a number" in fields.said["chunk_multiple"]
    fields.choose("chunk_multiple", 16)
    assert fields.said == {} and fields.got == [Options(chunk_multiple=16)]


def test_a_hidden_field_is_left_out_and_comes_back():
    fields = Fields()
    fields.choose("allocation", "slab")
    fields.choose("slab_tokens", 64)
    fields.choose("allocation", "on-demand")
    assert fields.got[-1] == PLAIN
    fields.choose("allocation", "slab")
    assert fields.got[-1] == Options(allocation="slab", slab_tokens=64)


def test_numbers_stay_whole_where_they_are():
    fields = Fields()
    fields.choose("step_time", TIMED)
    fields.choose("stall_ms", 12.5)
    assert fields.got[-1].stall_ms == 12.5
    fields.choose("stall_ms", 20.0)
    assert fields.got[-1].stall_ms == 20 and type(fields.got[-1].stall_ms) is int


def test_what_is_on_is_said_in_a_few_words():
    options = Options(prefix_caching=True, victim="largest", swap_bandwidth=25_000_000_000)
    assert [one["text"] for one in words_of(options)] == [
        "prefix caching",
        "victim: largest",
        "swap bytes a second: 25,000,000,000",
    ]
    assert words_of(PLAIN) == []


def test_turning_one_off_takes_along_what_cannot_stand_without_it():
    options = Options(allocation="slab", slab_tokens=64, figures=True)
    assert without(options, "allocation") == Options(figures=True)
    assert without(options, "slab_tokens") == Options(allocation="slab", figures=True)
    limited = Options(admission="limit", client_tokens_per_second=5, figures=True)
    assert without(limited, "client_tokens_per_second") == Options(figures=True)
    assert settled(Options(stall_ms=7)) == PLAIN  # nothing stalls without a model of time


def test_the_links_fields_are_all_options_and_their_defaults():
    fields = {field["name"]: field for field in link_fields()}
    assert {name: field["default"] for name, field in fields.items()} == {
        name: getattr(PLAIN, name) for name in PLAIN.__dataclass_fields__
    }
    assert None in fields["step_time"]["values"] and fields["step_time"]["optional"]


# ---- the lab as a whole ------------------------------------------------------------------------------------------


@pytest.fixture
def lab():
    sent = []
    made = Lab(course_trace(), lambda name, data: sent.append((name, data)))
    made.sent = sent
    return made


def test_no_field_is_made_before_it_is_asked_for(lab):
    assert lab.more.controls is None and lab.more.fields.objects == []
    lab.open_state({"options": {"victim": "largest"}, "limits": {"num_pages": 14}})
    assert lab.more.controls is None
    lab.open_options(None)
    assert lab.more.controls.widgets["victim"].value == "largest"
    assert lab.sent[-1][1]["options_on"] == [{"name": "victim", "text": "victim: largest"}]


def test_limits_options_and_reset_go_together(lab):
    lab.open_options(None)
    widgets = lab.more.controls.widgets
    widgets["preemption"].value = "swap"
    lab.controls.widgets["num_pages"].value = 14
    name, data = lab.sent[-1]
    assert (name, data["replay"]["options"], data["replay"]["limits"]["num_pages"]) == (
        "replay",
        {"preemption": "swap"},
        14,
    )
    assert lab.controls.reset.name == "Reset all"
    lab.reset()
    data = lab.sent[-1][1]
    assert "options" not in data["replay"] and data["replay"]["limits"]["num_pages"] == 32
    assert (widgets["preemption"].value, lab.controls.reset.name) == ("recompute", "Reset limits")


def test_a_link_that_asks_for_nonsense_changes_nothing(lab):
    for options in ({"victim": "oldest"}, {"allocation": "slab", "prefix_caching": True}, {"nonsense": 1}):
        lab.open_state({"options": options})
        assert lab.sent[-1][0] == "refused" and lab.options == PLAIN
    lab.open_state(
        {"options": {"chunk_multiple": 17}, "limits": {"max_num_batched_tokens": 16, "chunked_prefill": True}}
    )
    assert lab.sent[-1][0] == "refused" and lab.limits == lab.trace.limits
    lab.open_state(
        {"options": {"chunk_multiple": 16}, "limits": {"max_num_batched_tokens": 16, "chunked_prefill": True}}
    )
    assert lab.sent[-1][0] == "replay"
    lab.controls.widgets[
        "max_num_batched_tokens"
    ].value = 15  # the option no longer fits: told, and nothing is replayed
    assert len(lab.sent) == 5 and "chunk_multiple" not in lab.sent[-1][1]["replay"]["limits"]
    assert "chunk_multiple must be at most" in lab.controls.notes["max_num_batched_tokens"].object


def test_charts_come_with_the_option_and_go_with_it(lab):
    assert all(not place.objects for place in lab.more.under.values())
    lab.open_state({"options": {"step_time": TIMED}})
    (histograms,) = {len(place.objects) for place in lab.more.under.values()}
    assert histograms == 2
    lab.options_off({"name": "step_time"})
    assert all(not place.objects for place in lab.more.under.values())
