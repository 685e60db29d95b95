"""The published JSON Schema says the same as the reader, as far as a schema can."""

import json

import pytest
from drive import COURSE
from jsonschema import Draft202012Validator

from lab.errors import InputError
from lab.formats.trace_json import parse_trace

SCHEMA = json.loads((COURSE.parent / "trace.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
LIMITS = {"max_num_seqs": 3, "page_size": 16, "num_pages": 32}
ROW = {"id": "a", "arrival": 0, "prompt_tokens": 3, "output_tokens": 2}
LARGEST = 2**53 - 1


def plain(row=ROW, **changes):
    data = {"schema_version": 1, "name": "t", "limits": LIMITS, "requests": [row], **changes}
    return {key: value for key, value in data.items() if value is not ...}


def row(**changes):
    return {key: value for key, value in {**ROW, **changes}.items() if value is not ...}


def limits(**changes):
    return plain(limits={key: value for key, value in {**LIMITS, **changes}.items() if value is not ...})


GOOD = {
    "course": json.loads(COURSE.read_text("utf-8")),
    "least": plain(),
    "no requests": plain(requests=[]),
    "texts": plain(title="", source="s", license="CC0"),
    "iteration": plain(time_unit="iteration"),
    "ms": plain(row(arrival=0.5), time_unit="ms"),
    "s": plain(row(arrival=12), time_unit="s"),
    "budget": limits(max_num_batched_tokens=3, chunked_prefill=True),
    "null budget": limits(max_num_batched_tokens=None),
    "largest": plain(row(arrival=LARGEST, prompt_tokens=LARGEST, output_tokens=LARGEST)),
    "options": plain(row(client="c", cancel_after_tokens=1, samples=2, prefix=["p", 0, 7])),
    "no prefix": plain(row(prefix=[])),
}
BAD = {
    "not an object": [],
    "unknown key": plain(extra=1),
    "unknown limit": limits(extra=1),
    "unknown field": plain(row(extra=1)),
    "version 2": plain(schema_version=2),
    "version text": plain(schema_version="1"),
    "version true": plain(schema_version=True),
    "empty name": plain(name=""),
    "name number": plain(name=1),
    "null title": plain(title=None),
    "time unit": plain(time_unit="min"),
    "requests object": plain(requests={}),
    "request text": plain("a"),
    "limits list": plain(limits=[]),
    "empty id": plain(row(id="")),
    "id number": plain(row(id=1)),
    "negative arrival": plain(row(arrival=-1)),
    "fraction of an iteration": plain(row(arrival=0.5)),
    "fraction of an iteration, said": plain(row(arrival=0.5), time_unit="iteration"),
    "negative time": plain(row(arrival=-0.5), time_unit="ms"),
    "text time": plain(row(arrival="1"), time_unit="ms"),
    "true time": plain(row(arrival=True), time_unit="ms"),
    "late": plain(row(arrival=LARGEST + 1)),
    "no prompt": plain(row(prompt_tokens=0)),
    "no output": plain(row(output_tokens=0)),
    "half a token": plain(row(output_tokens=1.5)),
    "true tokens": plain(row(output_tokens=True)),
    "text tokens": plain(row(prompt_tokens="3")),
    "null tokens": plain(row(prompt_tokens=None)),
    "too large": plain(row(prompt_tokens=LARGEST + 1)),
    "empty client": plain(row(client="")),
    "null client": plain(row(client=None)),
    "cancel at 0": plain(row(cancel_after_tokens=0)),
    "no samples": plain(row(samples=0)),
    "prefix text": plain(row(prefix="p")),
    "empty prefix id": plain(row(prefix=[""])),
    "negative prefix id": plain(row(prefix=[-1])),
    "prefix fraction": plain(row(prefix=[1.5])),
    "no seats": limits(max_num_seqs=0),
    "null seats": limits(max_num_seqs=None),
    "text pages": limits(num_pages="32"),
    "no page size": limits(page_size=0),
    "chunked number": limits(chunked_prefill=1),
    "chunked null": limits(chunked_prefill=None),
    "budget 0": limits(max_num_batched_tokens=0),
    **{f"without {key}": plain(**{key: ...}) for key in ["schema_version", "name", "limits", "requests"]},
    **{f"without {key}": limits(**{key: ...}) for key in LIMITS},
    **{f"without {key}": plain(row(**{key: ...})) for key in ROW},
}
# What a schema cannot say: the reader alone refuses these.
READER_ONLY = {
    "integer written 3.0": plain(row(prompt_tokens=3.0)),
    "arrival written 0.0": plain(row(arrival=0.0)),
    "limit written 3.0": limits(max_num_seqs=3.0),
    "version written 1.0": plain(schema_version=1.0),
    "ids repeat": plain(requests=[ROW, ROW]),
    "budget below the seats": limits(max_num_batched_tokens=2),
}


def reads(data):
    try:
        parse_trace(json.dumps(data))
    except InputError:
        return False
    return True


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", GOOD)
def test_good(name):
    assert VALIDATOR.is_valid(GOOD[name])
    assert reads(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_bad(name):
    assert not VALIDATOR.is_valid(BAD[name])
    assert not reads(BAD[name])


@pytest.mark.parametrize("name", READER_ONLY)
def test_only_the_reader_refuses(name):
    assert VALIDATOR.is_valid(READER_ONLY[name])
    assert not reads(READER_ONLY[name])


def test_the_schema_knows_every_key_that_the_reader_knows():
    from lab.formats import trace_json

    def keys(part):
        return set(part["properties"]), set(part["required"])

    top, limit, request = SCHEMA, SCHEMA["properties"]["limits"], SCHEMA["$defs"]["request"]
    for part, required, optional in [
        (top, trace_json.TRACE_KEYS, trace_json.TRACE_OPTIONAL),
        (limit, trace_json.LIMITS_KEYS, trace_json.LIMITS_OPTIONAL),
        (request, trace_json.REQUEST_KEYS, trace_json.REQUEST_OPTIONAL),
    ]:
        assert keys(part) == ({*required, *optional}, set(required))
