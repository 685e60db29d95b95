"""What is wrong with the editor's rows, all of it, and the file they make."""

import json

import pytest

from app.page.sheet import judge_trace, write_trace
from lab.formats.trace_json import dump_trace, parse_trace


def text_of(rows, **top):
    document = {
        "schema_version": 1,
        "name": "t",
        "limits": {"max_num_seqs": 2, "num_pages": 8, "page_size": 16},
        "requests": rows,
        **top,
    }
    return json.dumps(document)


def row(n, **cells):
    return {"id": f"r{n}", "arrival": n, "prompt_tokens": 4, "output_tokens": 4, **cells}


def errors(text):
    answer = judge_trace({"trace": text, "serial": 7})
    assert answer["serial"] == 7
    return [(error["row"], error["field"]) for error in answer["errors"]]


def test_a_good_trace_has_no_errors():
    assert errors(text_of([row(0), row(1)])) == []
    assert errors(text_of([])) == []


def test_every_bad_cell_is_found_not_only_the_first():
    rows = [row(n) for n in range(30)]
    rows[6]["prompt_tokens"] = "many"
    del rows[6]["output_tokens"]
    rows[21]["arrival"] = 1.5
    rows[29]["id"] = "r3"
    rows[12]["samples"] = 0
    assert sorted(errors(text_of(rows))) == [
        (6, "output_tokens"),
        (6, "prompt_tokens"),
        (12, "samples"),
        (21, "arrival"),
        (29, "id"),
    ]


def test_each_says_why():
    (error,) = judge_trace({"trace": text_of([row(0, prompt_tokens="abc")]), "serial": 1})["errors"]
    assert "must be an integer" in error["why"] and '"abc"' in error["why"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(0, id="")], [(0, "id")]),
        ([row(0, prefix=[1, -1])], [(0, "prefix[1]")]),
        ([row(0, colour="red")], [(0, "colour")]),
        ([5, row(1, arrival=-1)], [(0, None), (1, "arrival")]),
        ([row(0, prompt_tokens=2**53)], [(0, "prompt_tokens")]),
        ([row(0), row(0), row(0)], [(1, "id"), (2, "id")]),
    ],
)
def test_each_kind(rows, expected):
    assert errors(text_of(rows)) == expected


def test_what_concerns_no_row_comes_first_and_ends_the_search_where_it_must():
    assert errors(text_of([row(0, arrival="x")], name="")) == [(None, "name"), (0, "arrival")]
    assert errors(text_of([], time_unit="fortnight")) == [(None, "time_unit")]


def test_numbers_too_long_to_count_end_nothing():
    text = text_of([row(0, prompt_tokens=1)]).replace('"prompt_tokens": 1', '"prompt_tokens": ' + "9" * 5000)
    assert errors(text) == [(0, "prompt_tokens")]


def test_the_file_is_the_one_that_lab_writes():
    text = text_of([row(0), row(1, client="x")], title="T")
    assert write_trace({"trace": text, "serial": 3}) == {"serial": 3, "text": dump_trace(parse_trace(text))}
    refused = write_trace({"trace": text_of([row(0, arrival="x")]), "serial": 4})
    assert (refused["serial"], refused["row"], refused["field"]) == (4, 0, "arrival")
