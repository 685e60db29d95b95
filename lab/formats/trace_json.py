"""Trace files: read with every value checked, and written back to the byte."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.formats.json_text import parse_json, read_bytes, repeated_keys
from lab.options import PLAIN, Options
from lab.screening import check_sequence_names
from lab.values import MAX_NUMBER, check_choice, shown
from lab.workload import TIME_UNITS, Limits, Request, Trace, check_iterations, place_of

SCHEMA_VERSION = 1

TRACE_KEYS = ("schema_version", "name", "limits", "requests")
TRACE_OPTIONAL = ("title", "source", "license", "time_unit", "options")
LIMITS_KEYS = ("max_num_seqs", "page_size", "num_pages")
LIMITS_OPTIONAL = ("max_num_batched_tokens", "chunked_prefill")
REQUEST_KEYS = ("id", "arrival", "prompt_tokens", "output_tokens")
REQUEST_OPTIONAL = ("client", "cancel_after_tokens", "cancel_at", "samples", "prefix")
OPTIONS_KEYS = tuple(field.name for field in fields(Options))


def read_trace(path: str | Path, most: int | None = None) -> Trace:
    """The trace in the file at `path`, of at most `most` bytes. Raises InputError, naming file, row and field."""
    return parse_trace(read_bytes(path, most), source=str(path))


def parse_trace(data: bytes | str, source: str = "trace") -> Trace:
    """The trace in `data`, JSON text (bytes: UTF-8; a byte order mark and any line ends are fine).

    `source` is what errors call it. Raises InputError, naming source, row and field.
    """
    value = parse_json(data, source)
    try:
        return trace_from(value)
    except InputError as error:
        raise error.at(source=source) from None


def trace_from(value: object) -> Trace:
    """The trace in `value`, as `parse_json` gives it. Raises InputError, naming row and field."""
    top = _object(value, TRACE_KEYS, TRACE_OPTIONAL)
    version = top["schema_version"]
    if type(version) is not int or version != SCHEMA_VERSION:
        raise InputError(
            f"must be {SCHEMA_VERSION}, not {shown(version)}; this lab reads version {SCHEMA_VERSION} only",
            field="schema_version",
        )
    _refuse_nulls(top, TRACE_OPTIONAL)
    time_unit = check_choice(top.get("time_unit", "iteration"), "time_unit", TIME_UNITS)
    limits = _limits_from(top["limits"])
    if "options" in top:
        top["options"] = _options_from(top["options"])
    rows = top["requests"]
    if not isinstance(rows, list):
        raise InputError(f"must be a list, not {shown(rows)}; write [...]", field="requests")
    requests = tuple(_request_from(row, i, time_unit) for i, row in enumerate(rows))
    trace = Trace(
        name=top["name"],
        limits=limits,
        requests=requests,
        **{field: top[field] for field in TRACE_OPTIONAL if field in top},
    )
    check_sequence_names(trace.requests, trace.options)
    return trace


def _limits_from(value: object) -> Limits:
    try:
        # null is fine for max_num_batched_tokens: it says that there is no budget
        return Limits(**_object(value, LIMITS_KEYS, LIMITS_OPTIONAL))
    except InputError as error:
        raise error.at(place="limits") from None


def _options_from(value: object) -> Options:
    try:
        return Options(**_object(value, (), OPTIONS_KEYS))  # null is fine where it is the default
    except InputError as error:
        raise error.at(place="options") from None


def _request_from(value: object, index: int, time_unit: str) -> Request:
    try:
        given = _object(value, REQUEST_KEYS, REQUEST_OPTIONAL)
        _refuse_nulls(given, REQUEST_OPTIONAL)
        if time_unit == "iteration":
            check_iterations(given["arrival"], given.get("cancel_at"))
        return Request(**given)
    except InputError as error:
        raise error.at(place=place_of(index, value.get("id") if isinstance(value, dict) else None)) from None


def _refuse_nulls(given: Mapping[str, Any], optional: Iterable[str]) -> None:
    for field in optional:
        if field in given and given[field] is None:
            raise InputError("must not be null; leave the key out", field=field)


def _object(value: object, required: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Any]:
    """`value` if it is an object with all of `required` and nothing beyond `optional`, each key once."""
    if not isinstance(value, dict):
        raise InputError(f"must be an object, not {shown(value)}; write {{...}}")
    for key in repeated_keys(value):
        raise InputError("is written twice in the same object; keep one of the two", field=_key(key))
    known = required + optional
    for key in value:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
            raise InputError(f"unknown key; {remedy}", field=_key(key))
    for key in required:
        if key not in value:
            raise InputError("is missing; add it", field=key)
    return dict(value)


def _key(key: str) -> str:
    """A key as errors name it: as it is, or in quotes if it is no plain word."""
    return key if key.isidentifier() and len(key) <= 40 else shown(key)


def in_iterations(trace: Trace, iteration_ms: int | float = 20) -> Trace:
    """`trace` with its times in iterations: r = ceil(arrival in ms / iteration_ms), on decimals as written, and
    `cancel_at` likewise.

    A trace in iterations is returned as it is. Raises InputError if iteration_ms is no finite number above 0,
    or a time becomes larger than 2**53 - 1.
    """
    number = type(iteration_ms) is int or type(iteration_ms) is float
    if not number or not math.isfinite(iteration_ms) or iteration_ms <= 0:
        raise InputError(
            f"must be a number above 0, not {shown(iteration_ms)}; write milliseconds such as 20",
            field="iteration_ms",
        )
    if trace.time_unit == "iteration":
        return trace
    # Through repr, since 0.07 s are 70 ms to whoever wrote them, and 70.00000000000001 to binary floats.
    iteration = Fraction(repr(iteration_ms)) / (1000 if trace.time_unit == "s" else 1)
    requests = []
    for i, request in enumerate(trace.requests):
        times: dict[str, int] = {}
        for field in ("arrival", "cancel_at"):
            if (time := getattr(request, field)) is None:
                continue
            times[field] = math.ceil(Fraction(repr(time)) / iteration)
            if times[field] > MAX_NUMBER:
                raise InputError(
                    f"is more than 2**53 - 1 iterations of {iteration_ms} ms; use longer iterations",
                    field=field,
                    place=place_of(i, request.id),
                )
        requests.append(replace(request, **times))  # type: ignore[arg-type]
    return replace(trace, requests=tuple(requests), time_unit="iteration")


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """`trace` as plain JSON data, in the file's key order; what is None or the default is left out."""
    return {**_heading(trace), "requests": [_request_to_dict(request) for request in trace.requests]}


def _heading(trace: Trace) -> dict[str, Any]:
    """All of it but the requests."""
    limits = trace.limits
    plain_limits: dict[str, Any] = {key: getattr(limits, key) for key in LIMITS_KEYS}
    if limits.max_num_batched_tokens is not None:
        plain_limits["max_num_batched_tokens"] = limits.max_num_batched_tokens
    if limits.chunked_prefill:
        plain_limits["chunked_prefill"] = True
    plain: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "name": trace.name}
    for field in ("title", "source", "license"):
        if getattr(trace, field) is not None:
            plain[field] = getattr(trace, field)
    plain["time_unit"] = trace.time_unit
    plain["limits"] = plain_limits
    if trace.options != PLAIN:
        plain["options"] = trace.options.changes()
    return plain


def _request_to_dict(request: Request) -> dict[str, Any]:
    plain: dict[str, Any] = {key: getattr(request, key) for key in REQUEST_KEYS}
    for key in REQUEST_OPTIONAL:
        value = getattr(request, key)
        if value is not None:
            plain[key] = list(value) if isinstance(value, tuple) else value
    return plain


def dump_trace(trace: Trace) -> str:
    """`trace` as the text of its file: a line a key, a line a request, columns aligned.

    Reading the text gives an equal trace, and dumping that gives the same bytes.
    """
    return "".join(_pieces(trace))


def _pieces(trace: Trace) -> Iterator[str]:
    """The text of `trace` piece by piece: that of a million requests, all at once, is 600 MB of strings."""
    heading = [f"  {_json(key)}: {_json(value)}" for key, value in _heading(trace).items()]
    yield "{\n" + ",\n".join(heading) + ',\n  "requests": ['
    # Only the columns that every row has are padded, and a row's last cell never is.
    widths = [max([len(_cell(key, getattr(row, key))) for row in trace.requests], default=0) for key in REQUEST_KEYS]
    end = "\n"
    for request in trace.requests:
        cells = [_cell(key, value) for key, value in _request_to_dict(request).items()]
        yield end + "    {" + ", ".join(_padded(cells, widths)) + "}"
        end = ",\n"
    yield ("\n  ]" if trace.requests else "]") + "\n}\n"


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
"""Made once: `json.dumps` would make one for each of the cells, of which a large trace has millions."""


def _json(value: object) -> str:
    return str(value) if type(value) is int else _ENCODER.encode(value)


def _cell(key: str, value: object) -> str:
    """`key` is one of the file format's, which need no escapes."""
    return f'"{key}": {_json(value)}'


def _padded(row: list[str], widths: list[int]) -> Iterable[str]:
    # The space goes after the comma, so it is put in front of the next cell.
    gap = 0
    for i, cell in enumerate(row):
        yield " " * gap + cell
        gap = widths[i] - len(cell) if i < len(widths) else 0


def trace_sha256(trace: Trace) -> str:
    """SHA-256, in hex, of the trace's canonical text (`dump_trace`), whatever the file's spacing was."""
    digest = hashlib.sha256()
    for piece in _pieces(trace):
        digest.update(piece.encode("utf-8"))
    return digest.hexdigest()
