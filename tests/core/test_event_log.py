"""The event log: one JSON object a line, policy first."""

import io
import json

from drive import COURSE, trace_of

from lab.formats.events import EventLog
from lab.formats.trace_json import read_trace
from lab.replay import run


def log_of(trace):
    out = io.StringIO()
    replay = run(trace, watch=EventLog(out))
    return replay, out.getvalue()


def test_lines_are_the_rows_of_the_document_with_the_policy_in_front():
    replay, text = log_of(read_trace(COURSE))
    lines = text.split("\n")
    assert lines.pop() == ""
    document = replay.to_document()
    expected = [
        {"policy": policy, **row} for policy, outcome in document["policies"].items() for row in outcome["rows"]
    ]
    assert [json.loads(line) for line in lines] == expected
    assert all(next(iter(json.loads(line))) == "policy" for line in lines)
    assert '{"policy":"continuous","idle":[78,83]}' in lines


def test_line_breaks_in_ids_stay_in_their_line():
    _, text = log_of(trace_of(("a\nb\u2028ä", 0, 1, 1), max_num_seqs=1, num_pages=1, page_size=4))
    assert text.count("\n") == 2  # one iteration under each of two policies
    assert json.loads(text.split("\n")[0])["arrived"] == ["a\nb\u2028ä"]


def test_no_records_no_lines():
    assert log_of(trace_of(max_num_seqs=1, num_pages=1, page_size=4))[1] == ""
