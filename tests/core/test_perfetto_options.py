"""The Chrome trace of replays with options: real times, the GPU's track, marks and counters."""

import io
import json
from dataclasses import replace
from itertools import pairwise

from drive import COURSE

from lab import scenarios
from lab.formats.perfetto import PerfettoTrace
from lab.formats.trace_json import read_trace
from lab.options import Options
from lab.replay import run
from lab.workload import Limits, Request, Trace


def exported(trace, policy="continuous"):
    """The rows of a replay, and its Chrome trace's events by kind."""
    perfetto = PerfettoTrace([policy], trace.options)
    replay = run(trace, policies=[policy], watch=perfetto)
    out = io.StringIO()
    perfetto.write(out, replay.trace, replay.sha256)
    chrome = json.loads(out.getvalue())
    rows = [row for row in replay.to_document()["policies"][policy]["rows"] if "idle" not in row]
    return rows, chrome


def of_kind(chrome, ph):
    return [event for event in chrome["traceEvents"] if event["ph"] == ph]


def spans(chrome, track):
    names = {e["tid"]: e["args"]["name"] for e in of_kind(chrome, "M") if e["name"] == "thread_name"}
    return [e for e in of_kind(chrome, "X") if names[e["tid"]] == track]


def marks(chrome):
    return [(e["name"], e["ts"], e.get("args")) for e in of_kind(chrome, "i")]


def counter(chrome, name):
    return [(e["ts"], e["args"][name]) for e in of_kind(chrome, "C") if e["name"] == name]


def test_seats_last_as_long_as_the_model_says():
    rows, chrome = exported(scenarios.two_clients("vtc"))
    starts = {row["iteration"]: row["start_ns"] for row in rows}
    ends = {row["iteration"]: row["start_ns"] + row["duration_ns"] for row in rows}
    seats = [e for e in of_kind(chrome, "X") if e["cat"] in ("prefill", "decode")]
    assert sum(e["args"]["tokens"] for e in seats) == sum(sum(row["tokens"].values()) for row in rows)
    for event in seats:
        assert event["ts"] * 1000 == starts[event["args"]["first_iteration"]]
        assert round((event["ts"] + event["dur"]) * 1000) == ends[event["args"]["last_iteration"]]
    assert chrome["otherData"]["time"].startswith("simulated; as long as each step takes")
    assert "iteration_us" not in chrome["otherData"]


def test_the_gpu_waits_for_the_scheduler_or_works_beside_it():
    rows, chrome = exported(scenarios.scheduler_on_the_clock(5, 2))
    steps, schedules = spans(chrome, "GPU"), spans(chrome, "scheduler")
    assert [(e["ts"], e["dur"]) for e in schedules[:2]] == [(0, 2000), (7000, 2000)]
    assert [(e["ts"], e["dur"], e["args"]) for e in steps[:2]] == [
        (2000, 5000, {"tokens": 1}),
        (9000, 5000, {"tokens": 1}),
    ]
    assert len(steps) == len(schedules) == len(rows)
    _, beside = exported(scenarios.scheduler_on_the_clock(5, 2, overlapped=True))
    assert [(e["ts"], e["dur"]) for e in spans(beside, "GPU")[:2]] == [(0, 5000), (5000, 5000)]
    assert [(e["ts"], e["dur"]) for e in spans(beside, "scheduler")[:2]] == [(0, 2000), (5000, 2000)]


def test_times_finer_than_a_microsecond_are_kept():
    rows, chrome = exported(scenarios.eviction("swap"))
    step = spans(chrome, "GPU")[1]
    assert (step["ts"], round(step["dur"] * 1000)) == (32_224, rows[1]["gpu_ns"])
    assert type(step["ts"]) is int
    assert type(step["dur"]) is float


def test_swaps_are_marked_and_host_pages_counted():
    rows, chrome = exported(scenarios.eviction("swap"))
    back = rows[2]["start_ns"] / 1000
    assert marks(chrome) == [
        ("preempt victim", 32_224, None),
        ("swap out victim", 32_224, {"pages": 125}),
        ("swap in victim", back, {"pages": 125}),
    ]
    assert counter(chrome, "host pages") == [(0, 0), (32_224, 125), (back, 0)]


def test_clients_that_leave_are_marked():
    _, chrome = exported(scenarios.client_leaves("honoured", 3, 10))
    assert marks(chrome) == [("leave a", 2000, None), ("cancel a", 2000, None)]
    _, ignored = exported(scenarios.client_leaves("ignored", 3, 10))
    assert marks(ignored) == [("leave a", 2000, None)]


def test_counters_of_clients_follow_the_rows():
    rows, chrome = exported(scenarios.two_clients("vtc"))
    for client in "AB":
        changes = dict(counter(chrome, f"counter {client}"))
        value = None
        for row in rows:
            value = changes.get(row["start_ns"] / 1000, value)
            assert value == row["counters"].get(client)


def test_who_is_refused_is_marked_and_idle_time_counts_nothing():
    rows, chrome = exported(scenarios.two_clients("limit"))
    refused = [name for row in rows for name in row["refused"]]
    assert [name for name, _, _ in marks(chrome)] == [f"refuse {name}" for name in refused] != []
    pages = dict(counter(chrome, "pages"))
    gap = next(
        a["start_ns"] + a["duration_ns"] for a, b in pairwise(rows) if a["start_ns"] + a["duration_ns"] < b["start_ns"]
    )
    assert pages[gap / 1000] == 0


def test_forks_and_cached_prefixes_are_marked_and_counted():
    options = Options(prefix_caching=True, fork_samples=True)
    requests = (
        Request("a", 0, 9, 3, prefix=("p", "q"), samples=2),
        Request("b", 4, 9, 2, prefix=("p", "q")),
    )
    rows, chrome = exported(Trace("t", Limits(2, 20, 4), requests, options=options))
    assert marks(chrome) == [("fork a", 0, {"sequences": ["a#2"]}), ("cached b", 4000, {"tokens": 8})]
    shared = dict(counter(chrome, "shared pages"))
    cached = dict(counter(chrome, "cached free pages"))
    assert shared[0] == rows[0]["shared_pages"] == 2
    assert shared[3000] == 0
    assert cached[4000] == rows[-2]["cached_free"]


def test_a_timed_trace_in_iterations_shows_idle_iterations_as_a_gap():
    trace = replace(read_trace(COURSE), options=Options(step_time="llama-3.1-8b-h100"))
    rows, chrome = exported(trace)
    pages = dict(counter(chrome, "pages"))
    before = next(row for row in rows if row["iteration"] == 77)
    assert pages[(before["start_ns"] + before["duration_ns"]) / 1000] == 0
    assert {e["args"]["name"] for e in of_kind(chrome, "M") if e["name"] == "thread_name"} == {
        "scheduler",
        "GPU",
        "seat 1",
        "seat 2",
        "seat 3",
    }
