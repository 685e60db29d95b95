"""`serving-lab trace scenario`: each question's trace, and what the flags that are told make of it."""

import json
import re

import pytest

from lab.cli import main
from lab.formats.trace_json import parse_trace
from lab.option_help import OPTION_HELP
from lab.scenarios import SCENARIOS

LIMIT_FLAGS = {"--max-num-seqs", "--page-size", "--max-num-batched-tokens", "--chunked-prefill", "--pool-gb"}


def said(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_written_is_the_trace_and_bears_its_name(name, capsys):
    trace = parse_trace(said(capsys, "trace", "scenario", name))
    assert trace == SCENARIOS[name]()
    assert trace.name == name


def test_without_a_name_each_is_told_of(capsys):
    told = said(capsys, "trace", "scenario")
    assert [line for line in told.splitlines() if line and line[0] != " "] == list(SCENARIOS)
    assert "  64 run" not in told and "for 64 seats: 64 run, 236 wait" in told
    flags = {entry.flag for entry in OPTION_HELP} | LIMIT_FLAGS
    named = {flag.replace("--no-", "--") for flag in re.findall(r"--[a-z-]+", told)}
    assert len(named) > 10 and named <= flags


def test_a_name_that_is_none_is_refused_with_all_names(capsys):
    assert main(["trace", "scenario", "evictions"]) == 2
    line = capsys.readouterr().err
    assert line.startswith("serving-lab trace scenario: NAME: ") and line.count("\n") == 1
    assert all(f'"{name}"' in line for name in SCENARIOS)


@pytest.mark.parametrize(
    ("name", "flags", "group", "figure", "before", "after"),
    [
        ("scheduler-on-the-clock", "--async-scheduling", "time", "makespan_ms", 700, 500),
        ("slabs-or-pages", "--allocation slab --slab-tokens 8192", "memory", "peak_running", 378, 46),
        ("slabs-or-pages", "--page-size 1 --pool-gb 50", "memory", "peak_running", 378, 381),
        ("reserved-or-paged", "--allocation slab --slab-tokens 512", "memory", "peak_running", 40, 4),
        ("eviction", "--preemption swap --swap-bandwidth 25000000000", "preemption", "lost_tokens", 2000, 0),
        ("whom-to-evict", "--victim largest", "preemption", "lost_tokens", 96, 2000),
        ("client-leaves", "--cancellation honoured", "cancellation", "wasted_tokens", 700, 0),
        ("too-many", "--kv-dtype fp8 --pool-gb 0.2", "preemption", "lost_tokens", None, 0),
        ("long-prompt-among-streams", "--prefill-first --chunk-multiple 1", "time", "stalls", 0, 32),
        ("long-prompt-among-streams", "--max-num-batched-tokens none --chunk-multiple 1", "time", "stalls", 0, 32),
    ],
)
def test_the_flags_that_are_told_change_what_they_are_told_to(
    name, flags, group, figure, before, after, tmp_path, capsys
):
    assert f"({flags})" in re.sub(r"\s+", " ", said(capsys, "trace", "scenario"))
    path = tmp_path / "trace.json"
    assert said(capsys, "trace", "scenario", name, "--out", path) == ""
    found = []
    for more in ("", flags):
        out = said(capsys, "replay", path, "--policy", "continuous", "--json", *more.split())
        found.append(json.loads(out)["policies"]["continuous"][group][figure])
    assert found[1] == after
    assert found[0] == before if before is not None else found[0] > after
