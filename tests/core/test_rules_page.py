"""What lab/RULES.md says in figures and names is what the code has."""

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from lab import scenarios
from lab.costs import MODELS, STEP_TIMES, kv_bytes_per_token
from lab.options import Options
from lab.replay import run

RULES = (Path(__file__).resolve().parents[2] / "lab" / "RULES.md").read_text("utf-8")


def cells(name):
    """The cells of the table row of `name`, numbers without their commas."""
    (row,) = re.findall(rf"^\| `{re.escape(name)}` \| (.*) \|$", RULES, re.MULTILINE)
    return [int(cell.replace(",", "")) if cell[0].isdigit() else cell for cell in row.split(" | ")]


@pytest.mark.parametrize("name", STEP_TIMES)
def test_the_presets_of_the_model_of_time(name):
    preset = STEP_TIMES[name]
    assert cells(name)[:3] == [preset.weight_bytes, preset.memory_bandwidth, preset.token_ns]


@pytest.mark.parametrize("name", MODELS)
def test_the_shapes_of_models(name):
    shape = MODELS[name]
    expected = [shape.layers, shape.kv_heads, shape.head_size, kv_bytes_per_token(shape, "bf16")]
    assert cells(name)[:4] == expected


def test_each_option_is_named():
    assert [field.name for field in fields(Options) if f"`{field.name}`" not in RULES] == []


def test_each_figure_of_each_group_is_named():
    section = RULES[RULES.index("## Figures") : RULES.index("## What holds")]
    told = {line.split("`")[1]: line for line in re.sub(r"\n  +", " ", section).splitlines() if line.startswith("- ")}
    trace = scenarios.two_clients("vtc")
    options = replace(trace.options, cancellation="ignored", prefix_caching=True)
    metrics = run(trace, policies=["continuous"], options=options).policies["continuous"].metrics
    groups = {name: value for name, value in metrics.items() if isinstance(value, dict)}
    assert set(groups) == set(told)
    for name, group in groups.items():
        figures = group["A"] if name == "clients" else group
        assert [figure for figure in figures if f"`{figure}`" not in told[name]] == []
