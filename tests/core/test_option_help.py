"""The table of help says something about each option, and nothing untrue."""

from dataclasses import fields

import pytest

from lab.errors import InputError
from lab.option_help import GROUPS, HELP_OF, OPTION_HELP
from lab.options import Options
from lab.workload import Limits, Request

DEFAULTS = {field.name: field.default for field in fields(Options)}


def test_each_option_is_there_once_in_the_order_of_the_fields_and_groups_stay_together():
    assert [entry.name for entry in OPTION_HELP] == list(DEFAULTS)
    groups = [entry.group for entry in OPTION_HELP]
    assert tuple(dict.fromkeys(groups)) == GROUPS
    assert groups == sorted(groups, key=GROUPS.index)


def test_labels_are_short_and_help_is_one_sentence():
    labels = [entry.label for entry in OPTION_HELP]
    assert len(set(labels)) == len(labels)
    for entry in OPTION_HELP:
        assert 1 <= len(entry.label) <= 20, entry.label
        assert entry.help.endswith(".") and entry.help.count(". ") == 0, entry.help
        assert len(entry.help) <= 120, entry.help


@pytest.mark.parametrize("entry", OPTION_HELP, ids=lambda entry: entry.name)
def test_kinds_and_bounds_are_those_of_the_option(entry):
    default = DEFAULTS[entry.name]
    assert entry.optional is (default is None)
    if entry.kind == "flag":
        assert default is False
    elif entry.kind == "choice":
        assert default in dict(entry.words)
        for value, words in entry.words:
            others = {"client_tokens_per_second": 1} if value == "limit" else {}
            assert getattr(Options(**{entry.name: value, **others}), entry.name) == value
            assert words
        with pytest.raises(InputError):
            Options(**{entry.name: "neither"})
    elif entry.kind == "integer":
        Options(**{entry.name: entry.least})
        with pytest.raises(InputError):
            Options(**{entry.name: entry.least - 1})
    else:
        assert entry.kind == "number"
        Options(**{entry.name: 0.5})
        with pytest.raises(InputError):
            Options(**{entry.name: 0})


def test_choices_are_all_named():
    from lab import costs, options

    named = {entry.name: [value for value, _ in entry.words] for entry in OPTION_HELP if entry.kind == "choice"}
    assert named == {
        "step_time": [None, *costs.STEP_TIMES],
        "allocation": list(options.ALLOCATIONS),
        "model": list(costs.MODELS),
        "kv_dtype": list(costs.KV_DTYPES),
        "preemption": list(options.PREEMPTIONS),
        "victim": list(options.VICTIMS),
        "cancellation": list(options.CANCELLATIONS),
        "admission": list(options.ADMISSIONS),
    }


def test_what_an_option_needs_exists():
    for entry in OPTION_HELP:
        assert all(name in DEFAULTS and name != entry.name for name, _ in entry.needs)
        assert all(name in Limits.__dataclass_fields__ for name in entry.limits)
        assert entry.request is None or entry.request in Request.__dataclass_fields__


def test_an_option_matters_only_with_what_it_needs():
    slab = HELP_OF["slab_tokens"]
    assert not slab.matters(Options())
    assert slab.matters(Options(allocation="slab"))
    bandwidth = HELP_OF["swap_bandwidth"]
    timed = {"step_time": "llama-3.1-8b-h100"}
    assert not bandwidth.matters(Options(preemption="swap"))
    assert not bandwidth.matters(Options(**timed))
    assert bandwidth.matters(Options(preemption="swap", **timed))
    assert not bandwidth.matters(Options(preemption="swap", allocation="final-length", **timed))
    overlap = HELP_OF["async_scheduling"]
    assert not overlap.matters(Options(**timed))
    assert overlap.matters(Options(scheduler_us=1, **timed))


def test_flags_are_spelt_with_hyphens():
    assert HELP_OF["client_tokens_per_second"].flag == "--client-tokens-per-second"
