"""All errors of a file at once: an exercise's, and a trace's."""

import json

import pytest

from lab.errors import InputError
from lab.exercises import check_id, faults, load
from lab.formats.trace_faults import trace_faults

EXERCISE = {
    "schema_version": 1,
    "title": "Double",
    "entry": {"name": "double", "kind": "function"},
    "statement": ["Double it."],
    "signature": "double(x)",
    "inputs": [{"name": "x", "type": "int", "text": "a number"}],
    "returns": [{"name": "result", "type": "int", "text": "twice that"}],
    "rule": "x + x",
    "example": {"arguments": [1], "expected": 2, "text": "1 + 1"},
    "hints": ["Add."],
    "points": {"visible": 2, "hidden": 0},
    "hidden_checks": 0,
    "approach": "Addition.",
}
CHECK = {"name": "one", "visibility": "visible", "points": 2, "arguments": [1], "expected": 2, "hint": "Add."}
ROW = {"id": "a", "arrival": 0, "prompt_tokens": 3, "output_tokens": 2}


def folder_of(tmp_path, exercise=EXERCISE, checks=(CHECK,), wrong=None):
    folder = tmp_path / "double"
    (folder / "wrong").mkdir(parents=True)
    (folder / "exercise.json").write_text(json.dumps(exercise), "utf-8")
    document = {"schema_version": 1, "exercise": "double", "checks": list(checks)}
    (folder / "checks.json").write_text(json.dumps(document), "utf-8")
    (folder / "starter.py").write_text("def double(x):\n    pass\n", "utf-8")
    (folder / "wrong" / "expected.json").write_text(json.dumps({"schema_version": 1, "wrong": wrong or {}}), "utf-8")
    return folder


def told(folder):
    return [str(error) for error in faults(folder)]


def test_a_good_exercise_has_none(tmp_path):
    assert told(folder_of(tmp_path)) == []


def test_every_error_of_every_file_is_told(tmp_path):
    exercise = {key: value for key, value in EXERCISE.items() if key != "title"} | {"hints": [], "more": 1}
    checks = [{**CHECK, "hint": ""}, {key: value for key, value in CHECK.items() if key != "hint"}, CHECK]
    folder = folder_of(tmp_path, exercise, checks)
    (folder / "starter.py").unlink()
    (folder / "hidden.json").write_text("{", "utf-8")
    (folder / "wrong" / "mistake.py").write_text("", "utf-8")
    lines = told(folder)
    assert [line.split(": ")[0] for line in lines] == [
        *["double/exercise.json"] * 3,
        *["double/checks.json"] * 2,
        *("double/hidden.json", "double/starter.py", "double/wrong/expected.json"),
    ]
    for words in ('"title"', "hints", '"more"', "hint: must not be empty", '"hint"', "is not JSON", "add the file"):
        assert any(words in line for line in lines), words
    with pytest.raises(InputError) as caught:
        load(folder)
    assert str(caught.value) == lines[0]


def test_what_does_not_agree_is_told_once_all_is_read(tmp_path):
    folder = folder_of(tmp_path, {**EXERCISE, "points": {"visible": 3, "hidden": 0}}, [CHECK, CHECK])
    assert ["two checks" in line or "must be 4" in line for line in told(folder)] == [True, True]


@pytest.mark.parametrize("text", ["a", "a" * 64, "count_pages_2", "a_"])
def test_an_id(text):
    assert check_id(text) == text


@pytest.mark.parametrize("text", ["", "a" * 65, "A", "2a", "_a", "a-b", "a b", "../a", "class", "ä", "a\n"])
def test_no_id(text):
    with pytest.raises(InputError, match="is no id of an exercise"):
        check_id(text)


def test_a_folder_whose_name_is_no_id(tmp_path):
    folder = folder_of(tmp_path)
    (line,) = told(folder.rename(tmp_path / "Double"))[:1]
    assert line.startswith('Double: "Double" is no id')


# Traces


def trace(*rows, **changes):
    limits = {"max_num_seqs": 1, "page_size": 4, "num_pages": 4}
    return json.dumps({"schema_version": 1, "name": "t", "limits": limits, "requests": list(rows), **changes}).encode()


def lines_of(data):
    return [str(error) for error in trace_faults(data, "t.json")]


def test_a_good_trace_has_none():
    assert lines_of(trace(ROW)) == lines_of(trace()) == lines_of(trace({**ROW, "arrival": 1.5}, time_unit="ms")) == []


def test_each_row_and_the_rest_are_judged():
    rows = [{**ROW, "arrival": -1}, ROW, {**ROW, "id": "c", "output_tokens": 0}, {**ROW, "id": "d", "x": 1}]
    assert lines_of(trace(*rows, limits={"max_num_seqs": 0, "page_size": 4, "num_pages": 4})) == [
        "t.json: limits, max_num_seqs: must be at least 1, not 0; write 1 or more",
        't.json: requests[0] (id "a"), arrival: must be at least 0, not -1; write 0 or more',
        't.json: requests[2] (id "c"), output_tokens: must be at least 1, not 0; write 1 or more',
        lines_of(trace(rows[3]))[0].replace("requests[0]", "requests[3]"),
    ]


def test_what_only_the_whole_shows():
    (line,) = lines_of(trace(ROW, ROW))
    assert "repeats the id of requests[0]" in line and "requests[1]" in line


@pytest.mark.parametrize(("data", "words"), [(b"{", "is not JSON"), (b"[]", "must be an object"), (b"\xff", "UTF-8")])
def test_no_trace_at_all(data, words):
    (line,) = lines_of(data)
    assert words in line


def test_requests_that_are_no_list():
    assert len(lines_of(trace(requests=3))) == 1
