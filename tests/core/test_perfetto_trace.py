"""The Chrome trace: a process a policy, a track a seat, counters, integer microseconds."""

import io
import json

import pytest
from drive import COURSE, trace_of

from lab.formats.perfetto import PerfettoTrace
from lab.formats.trace_json import read_trace
from lab.replay import run


def exported(trace, policies=("static", "continuous")):
    perfetto = PerfettoTrace(policies)
    replay = run(trace, policies=policies, watch=perfetto)
    out = io.StringIO()
    perfetto.write(out, trace, replay.sha256)
    return replay, json.loads(out.getvalue())


@pytest.fixture(scope="module")
def course():
    return exported(read_trace(COURSE))


def of_kind(chrome, ph, pid=None):
    return [e for e in chrome["traceEvents"] if e["ph"] == ph and (pid is None or e["pid"] == pid)]


def test_scale_and_source_are_stated(course):
    replay, chrome = course
    assert chrome["otherData"] == {
        "trace": "course",
        "sha256": replay.sha256,
        "time": "simulated; 1 iteration = 1000 microseconds",
        "iteration_us": 1000,
    }
    assert chrome["displayTimeUnit"] == "ms"


def test_processes_and_tracks_have_names(course):
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in of_kind(course[1], "M") if "name" in e["args"]}
    # thread names replace the process name under the same key, so look at process names apart
    processes = {e["pid"]: e["args"]["name"] for e in of_kind(course[1], "M") if e["name"] == "process_name"}
    assert processes == {1: "static", 2: "continuous"}
    for pid in processes:
        assert [names[pid, tid] for tid in (1, 2, 3, 4)] == ["scheduler", "seat 1", "seat 2", "seat 3"]


def test_spans_are_the_seats_of_the_records(course):
    replay, chrome = course
    for pid, outcome in enumerate(replay.policies.values(), start=1):
        drawn = set()
        for span in of_kind(chrome, "X", pid):
            first, length = span["ts"] // 1000 + 1, span["dur"] // 1000
            assert span["ts"] % 1000 == span["dur"] % 1000 == 0
            assert span["name"] == f"{span['args']['request']} {span['cat']}"
            assert span["args"]["first_iteration"] == first
            assert span["args"]["last_iteration"] == first + length - 1
            for iteration in range(first, first + length):
                cell = (iteration, span["tid"] - 2, span["args"]["request"], span["cat"])
                assert cell not in drawn
                drawn.add(cell)
        seats = {
            (row["iteration"], seat, entry["id"], entry["state"])
            for row in (record.to_row() for record in outcome.records)
            if "idle" not in row
            for seat, entry in enumerate(row["seats"])
            if entry is not None
        }
        assert drawn == seats


def test_stretches_are_one_span(course):
    spans = [(e["name"], e["ts"], e["dur"]) for e in of_kind(course[1], "X", 1) if e["tid"] == 2]
    assert spans[:3] == [("a prefill", 0, 1000), ("a decode", 1000, 13_000), ("a held", 14_000, 4000)]


def test_spans_count_their_tokens(course):
    prefill, decode, held = [e["args"]["tokens"] for e in of_kind(course[1], "X", 1) if e["tid"] == 2][:3]
    assert (prefill, decode, held) == (33, 13, 0)


def test_counters_follow_the_records_and_end_at_0(course):
    replay, chrome = course
    for pid, outcome in enumerate(replay.policies.values(), start=1):
        changes = {(e["name"], e["ts"]): e["args"][e["name"]] for e in of_kind(chrome, "C", pid)}
        value = {}
        for record in outcome.records:
            row = record.to_row()
            iteration = row["idle"][0] if "idle" in row else row["iteration"]
            for name in ("pages", "waiting"):
                value[name] = changes.get((name, (iteration - 1) * 1000), value.get(name))
            if "idle" in row:
                assert value == {"pages": 0, "waiting": 0}
            else:
                assert value == {"pages": row["pages_used"], "waiting": len(row["waiting"])}
        assert changes["pages", outcome.metrics["iterations"] * 1000] == 0


def test_a_preemption_ends_a_span_and_is_marked():
    trace = trace_of(("a", 0, 3, 4), ("b", 0, 3, 4), max_num_seqs=2, num_pages=4, page_size=2)
    _, chrome = exported(trace, ["continuous"])
    (mark,) = of_kind(chrome, "i")
    assert (mark["name"], mark["ts"], mark["s"]) == ("preempt b", 1000, "p")
    spans = [(e["name"], e["tid"], e["ts"], e["dur"]) for e in of_kind(chrome, "X") if e["name"][0] == "b"]
    assert sorted(spans, key=lambda span: span[2]) == [
        ("b prefill", 3, 0, 1000),
        ("b prefill", 2, 4000, 1000),
        ("b decode", 2, 5000, 2000),
    ]


def test_every_number_is_an_integer(course):
    for event in course[1]["traceEvents"]:
        for field in ("ts", "dur", "pid", "tid"):
            assert type(event.get(field, 0)) is int


def test_a_trace_without_requests_still_names_its_processes():
    _, chrome = exported(trace_of(max_num_seqs=1, num_pages=1, page_size=4))
    assert [e["args"]["name"] for e in of_kind(chrome, "M") if e["name"] == "process_name"] == [
        "static",
        "continuous",
    ]
    assert of_kind(chrome, "X") == []
