"""All errors of a file at once: an exercise's, and a trace's."""

import json

import pytest
from smallest import CHECK, EXERCISE

from lab.errors import InputError
from lab.exercises import check_id, faults, load
from lab.formats.trace_faults import MOST_FAULTS, MOST_READ_AGAIN, trace_faults

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


def places_of(data):
    return [line.split(": ")[1] for line in lines_of(data)]


def test_each_value_of_each_row_and_of_the_rest_is_judged():
    rows = [
        {**ROW, "arrival": -1},
        ROW,
        {**ROW, "id": "c", "output_tokens": 0},
        {**ROW, "id": "d", "x": 1, "client": 5},
    ]
    data = trace(*rows, 7, name="", limits={"max_num_seqs": 0, "page_size": 4}, options={"victim": "me", "x": 1})
    assert sorted(places_of(data)[:5]) == [
        "limits, max_num_seqs",
        "limits, num_pages",
        "name",
        "options, victim",
        "options, x",
    ]
    assert places_of(data)[5:] == [
        'requests[0] (id "a"), arrival',
        'requests[2] (id "c"), output_tokens',
        'requests[3] (id "d"), x',
        'requests[3] (id "d"), client',
        "requests[4]",
        'requests[1] (id "a"), id',
    ]
    assert "t.json: limits, max_num_seqs: must be at least 1, not 0; write 1 or more" in lines_of(data)


def test_a_unit_that_is_none_condemns_no_arrival():
    assert places_of(trace({**ROW, "arrival": 1.5}, time_unit="fortnight")) == ["time_unit"]


@pytest.mark.parametrize(("rows", "told"), [(MOST_READ_AGAIN, 2), (MOST_READ_AGAIN + 1, 1)])
def test_what_only_the_whole_shows(rows, told):
    names = ["a", "a", "a", *map(str, range(rows - 3))]
    lines = lines_of(trace(*({**ROW, "id": name} for name in names)))
    assert len(lines) == told and all("repeats the id of requests[0]" in line for line in lines)


@pytest.mark.parametrize("count", [MOST_FAULTS - 1, MOST_FAULTS, MOST_FAULTS + 1])
def test_no_more_are_told_than_somebody_reads(count):
    assert len(lines_of(trace(*({**ROW, "id": str(i), "arrival": -1} for i in range(count))))) == min(
        count, MOST_FAULTS
    )


def test_a_key_that_is_written_twice():
    data = trace({**ROW, "arrival": -1}).replace(b'"name": "t"', b'"name": "t", "name": "u"')
    assert places_of(data) == ["name", 'requests[0] (id "a"), arrival']
    assert places_of(trace(ROW).replace(b'"arrival": 0', b'"arrival": 0, "arrival": 0')) == [
        'requests[0] (id "a"), arrival'
    ]


@pytest.mark.parametrize(("data", "words"), [(b"{", "is not JSON"), (b"[]", "must be an object"), (b"\xff", "UTF-8")])
def test_no_trace_at_all(data, words):
    (line,) = lines_of(data)
    assert words in line


def test_requests_that_are_no_list():
    assert len(lines_of(trace(requests=3))) == 1
