"""The published schema of saved solutions says what the reader says, as far as a schema can."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lab.errors import InputError
from lab.staff.saved import read_saved

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "checks" / "saved.schema.json").read_text("utf-8"))
ONE = {
    "schema_version": 1,
    "exercise": "allocate_kv_pages",
    "checks_sha256": "0" * 64,
    "code": "x = 1\n",
    "code_sha256": "e" * 64,
    "saved_at": "2026-01-31T23:59:59+01:00",
}


def taken(document: object) -> bool:
    try:
        read_saved(json.dumps(document).encode(), "work.json")
    except InputError:
        return False
    return True


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "document", [ONE, {"schema_version": 1, "solutions": []}, {"schema_version": 1, "solutions": [ONE]}]
)
def test_what_the_reader_takes_the_schema_takes(document):
    assert taken(document)
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) == []


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"schema_version": 1},
        {"schema_version": 2, "solutions": [ONE]},
        {"schema_version": 1, "solutions": [ONE], "more": 1},
        {"schema_version": 1, "solutions": {"a": ONE}},
        *({key: value for key, value in ONE.items() if key != left_out} for left_out in ONE),
        *({**ONE, key: 7} for key in ONE),
        {**ONE, "exercise": "../elsewhere"},
        {**ONE, "code_sha256": "E" * 64},
        {**ONE, "more": 1},
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(document):
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) != []
    assert not taken(document)
