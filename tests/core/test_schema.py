"""The published JSON Schema says the same as the reader, as far as a schema can."""

import json
from dataclasses import fields

import pytest
from drive import COURSE
from jsonschema import Draft202012Validator

from lab.errors import InputError
from lab.formats.trace_json import parse_trace
from lab.option_help import OPTION_HELP
from lab.options import Options

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


DEFAULTS = {field.name: field.default for field in fields(Options)}
EVERY_OPTION = {
    **{entry.name: entry.words[-1][0] for entry in OPTION_HELP if entry.kind == "choice"},
    **{entry.name: entry.least for entry in OPTION_HELP if entry.kind == "integer"},
    **{entry.name: True for entry in OPTION_HELP if entry.kind == "flag"},
    **{entry.name: 0.5 for entry in OPTION_HELP if entry.kind == "number"},
    "allocation": "on-demand",
}


def options(**changes):
    return plain(options=changes)


GOOD = {
    "the name of a sequence that never forks": plain(requests=[row(samples=2), row(id="a#2")]),
    "one more than the last forked sequence": plain(
        requests=[row(samples=2), row(id="a#3")], options={"fork_samples": True}
    ),
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
    "options": plain(row(client="c", cancel_after_tokens=1, cancel_at=0, samples=2, prefix=["p", 0, 7])),
    "left at a fraction": plain(row(arrival=0.25, cancel_at=0.5), time_unit="s"),
    "no options": plain(options={}),
    "every option": plain(options=EVERY_OPTION),
    "options at their defaults": plain(options=DEFAULTS),
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
    "left before the start": plain(row(cancel_at=-1)),
    "left at a fraction of an iteration": plain(row(cancel_at=1.5)),
    "left at a text": plain(row(cancel_at="1")),
    "left at null": plain(row(cancel_at=None)),
    "options list": plain(options=[]),
    "options null": plain(options=None),
    "unknown option": options(prefix_cache=True),
    "limit without a number": options(admission="limit"),
    "limit with null": options(admission="limit", client_tokens_per_second=None),
    **{f"{e.name} neither": options(**{e.name: "neither"}) for e in OPTION_HELP},
    **{f"{e.name} below": options(**{e.name: e.least - 1}) for e in OPTION_HELP if e.kind == "integer"},
    **{f"{e.name} above": options(**{e.name: LARGEST + 1}) for e in OPTION_HELP if e.kind in ("integer", "number")},
    **{f"{e.name} 0": options(**{e.name: 0}) for e in OPTION_HELP if e.kind in ("flag", "number")},
    **{f"{e.name} null": options(**{e.name: None}) for e in OPTION_HELP if not e.optional},
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
    "the name of a forked sequence": plain(requests=[row(samples=2), row(id="a#2")], options={"fork_samples": True}),
    "half of a surrogate pair": plain(title="\ud800"),
    "integer written 3.0": plain(row(prompt_tokens=3.0)),
    "arrival written 0.0": plain(row(arrival=0.0)),
    "limit written 3.0": limits(max_num_seqs=3.0),
    "version written 1.0": plain(schema_version=1.0),
    "ids repeat": plain(requests=[ROW, ROW]),
    "budget below the seats": limits(max_num_batched_tokens=2),
    "left before it came": plain(row(arrival=5, cancel_at=4)),
    "slabs shared": options(allocation="slab", prefix_caching=True),
    "option written 1.0": options(chunk_multiple=1.0),
    "chunk above the budget": plain(
        limits={**LIMITS, "max_num_batched_tokens": 7, "chunked_prefill": True}, options={"chunk_multiple": 8}
    ),
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


@pytest.mark.parametrize("entry", OPTION_HELP, ids=lambda entry: entry.name)
def test_the_schema_says_of_each_option_what_the_help_says(entry):
    part = SCHEMA["properties"]["options"]["properties"][entry.name]
    assert part["description"] == entry.help
    assert part.get("default") == DEFAULTS[entry.name]
    if entry.kind == "choice":
        assert part["enum"] == [value for value, _ in entry.words]
    assert list(SCHEMA["properties"]["options"]["properties"]) == [each.name for each in OPTION_HELP]
