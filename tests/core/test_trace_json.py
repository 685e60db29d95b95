"""Trace files: what is read, what is refused and how, and what is written back."""

import hashlib
import json
from dataclasses import replace

import pytest
from drive import COURSE, trace_of

from lab.errors import InputError
from lab.formats.trace_json import (
    dump_trace,
    in_iterations,
    parse_trace,
    read_trace,
    trace_sha256,
    trace_to_dict,
)
from lab.options import PLAIN, Options
from lab.workload import Limits, Request, Trace

LIMITS = {"max_num_seqs": 3, "page_size": 16, "num_pages": 32}
ROW = {"id": "a", "arrival": 0, "prompt_tokens": 3, "output_tokens": 2}


def plain(*rows, **changes):
    """A good trace as plain data, with rows and changes; a change to ... takes the key away."""
    data = {"schema_version": 1, "name": "t", "limits": LIMITS, "requests": list(rows) or [ROW], **changes}
    return {key: value for key, value in data.items() if value is not ...}


def complaint(data, source="t.json"):
    with pytest.raises(InputError) as caught:
        parse_trace(data if isinstance(data, str | bytes) else json.dumps(data), source)
    line = str(caught.value)
    assert "\n" not in line
    return line


def row(**changes):
    return {key: value for key, value in {**ROW, **changes}.items() if value is not ...}


def test_the_course_trace_is_written_back_to_the_byte():
    data = COURSE.read_bytes()
    trace = read_trace(COURSE)
    assert dump_trace(trace).encode() == data
    assert trace_sha256(trace) == hashlib.sha256(data).hexdigest()


FULL = Trace(
    name="full",
    limits=Limits(2, 10, 4, max_num_batched_tokens=8, chunked_prefill=True),
    requests=(
        Request("ä", 0.25, 1, 1, client="me", cancel_after_tokens=3, cancel_at=7.5, samples=2, prefix=("p", 7)),
        Request('q"\\\n', 1000, 22, 333, prefix=()),
        Request("plain", 7, 4, 4),
    ),
    title="",
    source="made up",
    license="CC0",
    time_unit="ms",
    options=Options(stall_ms=12.5, chunk_multiple=4, victim="largest", prefix_caching=True, swap_pages=0),
)


def test_every_field_survives_a_round_trip():
    text = dump_trace(FULL)
    assert parse_trace(text) == FULL
    assert dump_trace(parse_trace(text)) == text
    assert json.loads(text) == trace_to_dict(FULL)


def test_only_options_that_differ_are_written_back_and_in_the_order_of_the_fields():
    given = {"victim": "largest", "kv_dtype": "bf16", "swap_pages": None, "stall_ms": 50, "scheduler_us": 5}
    trace = parse_trace(json.dumps(plain(options=given)))
    assert trace.options == Options(victim="largest", scheduler_us=5)
    assert '\n  "options": {"scheduler_us": 5, "victim": "largest"},\n  "requests": [' in dump_trace(trace)
    unchanged = parse_trace(json.dumps(plain(options={"iteration_ms": 20})))
    assert unchanged.options == PLAIN
    assert dump_trace(unchanged) == dump_trace(parse_trace(json.dumps(plain())))


def test_options_are_part_of_the_hash():
    hashes = {trace_sha256(parse_trace(json.dumps(plain(options=o)))) for o in ({}, {"figures": True})}
    assert len(hashes) == 2


def test_a_number_keeps_its_kind():
    trace = parse_trace(json.dumps(plain(row(arrival=12.0), row(id="b", arrival=12), time_unit="ms")))
    assert [type(request.arrival) for request in trace.requests] == [float, int]
    assert parse_trace(dump_trace(trace)) == trace
    assert '"arrival": 12.0,' in dump_trace(trace)


def test_columns_are_aligned():
    rows = dump_trace(trace_of(("a", 0, 100, 1), ("long", 12, 5, 1), **LIMITS)).splitlines()[6:8]
    assert rows == [
        '    {"id": "a",    "arrival": 0,  "prompt_tokens": 100, "output_tokens": 1},',
        '    {"id": "long", "arrival": 12, "prompt_tokens": 5,   "output_tokens": 1}',
    ]


def test_the_empty_trace_is_fine():
    trace = Trace("none", Limits(**LIMITS), ())
    assert parse_trace(dump_trace(trace)) == trace
    assert '"requests": []' in dump_trace(trace)


def test_what_may_be_left_out_takes_its_default():
    trace = parse_trace(json.dumps(plain()))
    assert (trace.title, trace.source, trace.license, trace.time_unit) == (None, None, None, "iteration")
    assert (trace.limits.max_num_batched_tokens, trace.limits.chunked_prefill) == (None, False)


def test_a_null_budget_is_no_budget():
    trace = parse_trace(json.dumps(plain(limits={**LIMITS, "max_num_batched_tokens": None})))
    assert trace.limits == Limits(**LIMITS)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_byte_order_mark_and_line_ends(mark, line_end):
    data = COURSE.read_bytes().replace(b"\n", line_end)
    assert parse_trace(mark + data) == read_trace(COURSE)


def test_a_text_may_have_a_byte_order_mark_too():
    assert parse_trace("\ufeff" + COURSE.read_text("utf-8")) == read_trace(COURSE)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "t.json: is empty; write a JSON object"),
        (b" \r\n", "t.json: is empty; write a JSON object"),
        (b"id,arrival\na,0\n", "t.json: line 1, column 1: is not JSON (Expecting value); mend the text there"),
        (
            b'{"name": "x",\n  oops}',
            "t.json: line 2, column 3: is not JSON (Expecting property name enclosed in double quotes); "
            "mend the text there",
        ),
        (b"{} {}", "t.json: line 1, column 4: is not JSON (Extra data); mend the text there"),
        (b'{"name": "\xe4"}', "t.json: is not UTF-8 (byte 0xe4 at offset 10); save it as UTF-8"),
        ("{}".encode("utf-16"), "t.json: is not UTF-8 (byte 0xff at offset 0); save it as UTF-8"),
        (b"[" * 100_000, "t.json: is nested too deeply; a trace has three levels"),
        (b"[]", "t.json: must be an object, not a list; write {...}"),
        (b"null", "t.json: must be an object, not null; write {...}"),
        (b"3", "t.json: must be an object, not 3; write {...}"),
        (b"NaN", "t.json: must be an object, not NaN; write {...}"),
    ],
)
def test_text_that_is_no_trace_at_all(data, line):
    assert complaint(data) == line


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (plain(nme="x"), "t.json: nme: unknown key; did you mean name?"),
        (
            plain(**{"zz zz": 1}),
            't.json: "zz zz": unknown key; known keys: schema_version, name, limits, requests, '
            "title, source, license, time_unit, options",
        ),
        (plain(limits={**LIMITS, "page_sise": 1}), "t.json: limits, page_sise: unknown key; did you mean page_size?"),
        (
            plain(row(), row(id="d", promt_tokens=3)),
            't.json: requests[1] (id "d"), promt_tokens: unknown key; did you mean prompt_tokens?',
        ),
        (plain(schema_version=...), "t.json: schema_version: is missing; add it"),
        (plain(name=...), "t.json: name: is missing; add it"),
        (plain(limits=...), "t.json: limits: is missing; add it"),
        (plain(requests=...), "t.json: requests: is missing; add it"),
        (plain(limits={"page_size": 1, "num_pages": 1}), "t.json: limits, max_num_seqs: is missing; add it"),
        (plain(row(output_tokens=...)), 't.json: requests[0] (id "a"), output_tokens: is missing; add it'),
        (plain(row(id=...)), "t.json: requests[0], id: is missing; add it"),
        (
            plain(schema_version=2),
            "t.json: schema_version: must be 1, not 2; this lab reads version 1 only",
        ),
        (
            plain(schema_version=1.0),
            "t.json: schema_version: must be 1, not 1.0; this lab reads version 1 only",
        ),
        (
            plain(schema_version=True),
            "t.json: schema_version: must be 1, not true; this lab reads version 1 only",
        ),
        (plain(requests={}), "t.json: requests: must be a list, not an object; write [...]"),
        (plain(limits=[]), "t.json: limits: must be an object, not a list; write {...}"),
        (plain("a"), 't.json: requests[0]: must be an object, not "a"; write {...}'),
        (plain(options={"victm": 1}), "t.json: options, victm: unknown key; did you mean victim?"),
        (
            plain(options={"prefix-caching": True}),
            't.json: options, "prefix-caching": unknown key; did you mean prefix_caching?',
        ),
        (plain(options=[]), "t.json: options: must be an object, not a list; write {...}"),
        (
            plain(options={"victim": "oldest"}),
            't.json: options, victim: must be one of "newest", "largest", not "oldest"; write one of these',
        ),
        (
            plain(options={"swap_pages_per_step": 0}),
            "t.json: options, swap_pages_per_step: must be at least 1, not 0; write 1 or more",
        ),
        (
            plain(options={"admission": "limit"}),
            "t.json: options, client_tokens_per_second: is missing: admission by limit needs one; "
            "write tokens a second such as 1000",
        ),
        (
            plain(
                limits={**LIMITS, "max_num_batched_tokens": 100, "chunked_prefill": True},
                options={"chunk_multiple": 101},
            ),
            "t.json: options, chunk_multiple: must be at most max_num_batched_tokens (100), or no chunk would ever "
            "fit, not 101; write 100 or less",
        ),
        (
            plain(row(arrival=7, cancel_at=6)),
            't.json: requests[0] (id "a"), cancel_at: must not be before the arrival (7), or the request would never '
            "be there, not 6; write 7 or more",
        ),
        (
            plain(row(cancel_at=6.5)),
            't.json: requests[0] (id "a"), cancel_at: must be an integer, not 6.5; round it to a whole number',
        ),
        (plain(row(cancel_at=None)), 't.json: requests[0] (id "a"), cancel_at: must not be null; leave the key out'),
        (plain(options=None), "t.json: options: must not be null; leave the key out"),
        (plain(title=None), "t.json: title: must not be null; leave the key out"),
        (plain(row(client=None)), 't.json: requests[0] (id "a"), client: must not be null; leave the key out'),
        (
            plain(time_unit="min"),
            't.json: time_unit: must be one of "iteration", "ms", "s", not "min"; write one of these',
        ),
        (
            plain(row(), row(id="b"), row(id="c"), row(id="d", prompt_tokens=3.0)),
            't.json: requests[3] (id "d"), prompt_tokens: must be an integer, not 3.0; write 3',
        ),
        (plain(row(arrival=2.0)), 't.json: requests[0] (id "a"), arrival: must be an integer, not 2.0; write 2'),
        (
            plain(row(arrival="2")),
            't.json: requests[0] (id "a"), arrival: must be an integer, not the text "2"; '
            "take the quotation marks away",
        ),
        (
            plain(row(arrival="2"), time_unit="s"),
            't.json: requests[0] (id "a"), arrival: must be a number, not "2"; write a time such as 12',
        ),
        (
            plain(row(arrival=-1)),
            't.json: requests[0] (id "a"), arrival: must be at least 0, not -1; write 0 or more',
        ),
        (
            plain(row(), row()),
            't.json: requests[1] (id "a"), id: repeats the id of requests[0]; give each request an id of its own',
        ),
        (plain(row(id="")), 't.json: requests[0] (id ""), id: must not be empty; write at least one character'),
        (
            plain(row(id=7)),
            "t.json: requests[0], id: must be text of at least one character, not 7; write it in quotation marks",
        ),
        (
            plain(limits={**LIMITS, "num_pages": 0}),
            "t.json: limits, num_pages: must be at least 1, not 0; write 1 or more",
        ),
        (
            plain(limits={**LIMITS, "max_num_batched_tokens": 2}),
            "t.json: limits, max_num_batched_tokens: must be at least max_num_seqs (3), one token a seat, not 2; "
            "write 3 or more, or lower max_num_seqs",
        ),
    ],
)
def test_refusals_name_file_row_and_field_and_the_remedy(data, line):
    assert complaint(data) == line


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1e3", "0.5", "-0.0"])
def test_numbers_that_are_no_token_counts(number):
    text = json.dumps(plain(row(prompt_tokens="HERE"))).replace('"HERE"', number)
    assert complaint(text).startswith('t.json: requests[0] (id "a"), prompt_tokens: must be an integer, not ')


@pytest.mark.parametrize("digits", ["9007199254740992", "9" * 50, "9" * 10_000])
def test_numbers_too_large_for_javascript(digits):
    text = json.dumps(plain(row(prompt_tokens="HERE"))).replace('"HERE"', digits)
    assert "prompt_tokens: must be at most 9007199254740991 (2**53 - 1), not 9" in complaint(text)


@pytest.mark.parametrize("time", ["NaN", "Infinity", "1e999", "-1", "-0.5", "true", "null", "9007199254740992"])
def test_times_that_are_none(time):
    text = json.dumps(plain(row(arrival="HERE"), time_unit="ms")).replace('"HERE"', time)
    assert complaint(text).startswith('t.json: requests[0] (id "a"), arrival: must be ')


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"name": "t"', '"name": "t", "name": "t"', "name"),
        ('"page_size": 16', '"page_size": 16, "page_size": 16', "limits, page_size"),
        ('"arrival": 0', '"arrival": 0, "arrival": 1', 'requests[0] (id "a"), arrival'),
        ('"name": "t"', '"name": "t", "options": {"victim": "newest", "victim": "largest"}', "options, victim"),
    ],
)
def test_keys_written_twice(old, new, place):
    line = complaint(json.dumps(plain()).replace(old, new))
    assert line == f"t.json: {place}: is written twice in the same object; keep one of the two"


def test_strange_ids_do_not_break_the_line():
    line = complaint(plain(row(id="\x1b[31m\n" + "x" * 100, arrival=-1)))
    assert "\x1b" not in line
    assert len(line) < 200


def test_half_a_surrogate_pair_is_no_text():
    assert "id: holds half of a surrogate pair" in complaint(json.dumps(plain(row(id="\ud83d"))))
    whole = parse_trace(json.dumps(plain(row(id="\U0001f600"))))
    assert parse_trace(dump_trace(whole)) == whole


def test_missing_file_and_folder(tmp_path):
    for path, problem in [
        (tmp_path / "none.json", "there is no such file; check the path"),
        (tmp_path, "is a folder; name a file in it"),
    ]:
        with pytest.raises(InputError) as caught:
            read_trace(path)
        assert str(caught.value) == f"{path}: {problem}"


def test_a_path_that_no_system_takes(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_trace("a\0b")


def test_reading_names_the_file_as_it_was_given(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text("{", "utf-8")
    with pytest.raises(InputError) as caught:
        read_trace(str(path))
    assert caught.value.source == str(path)


def timed(unit, *arrivals):
    rows = [row(id=str(i), arrival=arrival) for i, arrival in enumerate(arrivals)]
    return parse_trace(json.dumps(plain(*rows, time_unit=unit)))


@pytest.mark.parametrize(
    ("unit", "iteration_ms", "arrivals", "expected"),
    [
        ("ms", 20, [0, 0.001, 19.999, 20, 20.001, 40, 41], [0, 1, 1, 1, 2, 2, 3]),
        ("s", 20, [0, 0.02, 0.021, 1], [0, 1, 2, 50]),
        ("s", 10, [0.07], [7]),  # 70.00000000000001 ms in binary floats
        ("ms", 0.1, [0.3], [3]),  # 0.3 / 0.1 is 2.9999999999999996 there, and 3 in decimals
        ("ms", 12.5, [25, 25.1], [2, 3]),
        ("ms", 1e-3, [1e-3, 2e-3], [1, 2]),
    ],
)
def test_times_are_brought_to_iterations_rounded_up(unit, iteration_ms, arrivals, expected):
    trace = in_iterations(timed(unit, *arrivals), iteration_ms)
    assert [request.arrival for request in trace.requests] == expected
    assert all(type(request.arrival) is int for request in trace.requests)
    assert trace.time_unit == "iteration"


def test_the_time_to_leave_is_brought_along():
    trace = timed("s", 0.02, 1)
    leaving = replace(trace, requests=(replace(trace.requests[0], cancel_at=0.0201), trace.requests[1]))
    assert [request.cancel_at for request in in_iterations(leaving).requests] == [2, None]
    assert in_iterations(replace(leaving, options=Options(figures=True))).options.figures


def test_a_time_to_leave_may_need_too_many_iterations():
    trace = timed("s", 0)
    with pytest.raises(InputError) as caught:
        in_iterations(replace(trace, requests=(replace(trace.requests[0], cancel_at=2**53 - 1),)))
    assert (caught.value.place, caught.value.field) == ('requests[0] (id "0")', "cancel_at")


def test_an_iteration_is_20_ms_unless_said_otherwise():
    assert in_iterations(timed("ms", 41)).requests[0].arrival == 3


def test_a_trace_in_iterations_stays_as_it_is():
    trace = read_trace(COURSE)
    assert in_iterations(trace, 5) is trace


@pytest.mark.parametrize("iteration_ms", [0, -1, float("nan"), float("inf"), True, "20", None])
def test_lengths_of_an_iteration_that_make_no_sense(iteration_ms):
    with pytest.raises(InputError) as caught:
        in_iterations(timed("ms", 1), iteration_ms)
    assert caught.value.field == "iteration_ms"


def test_too_many_iterations():
    with pytest.raises(InputError) as caught:
        in_iterations(timed("s", 2**53 - 1))
    assert (caught.value.place, caught.value.field) == ('requests[0] (id "0")', "arrival")
