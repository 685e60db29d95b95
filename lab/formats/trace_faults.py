"""All that is wrong with a trace file, where reading it stops at the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from lab.errors import InputError
from lab.formats.json_text import parse_json
from lab.formats.trace_json import LIMITS_KEYS, SCHEMA_VERSION, trace_from

MOST_FAULTS = 200
"""More are not told at once: who has mended so many asks again."""

MOST_READ_AGAIN = 1_000
"""Requests of a file that is read again after each id that comes twice; of a longer one only the first is told."""

_LIMITS: dict[str, Any] = dict.fromkeys(LIMITS_KEYS, 1)
_ROW: dict[str, Any] = {"arrival": 0, "prompt_tokens": 1, "output_tokens": 1}
_HEAD: dict[str, Any] = {
    "schema_version": SCHEMA_VERSION,
    "name": "trace",
    "time_unit": "ms",  # in which no time is refused for not being whole
    "limits": _LIMITS,
    "requests": [],
}


def trace_faults(data: bytes | str, source: str = "trace") -> list[InputError]:
    """Every error of the trace in `data`: of the file as a whole, and of each request; empty if it is a good trace.

    `source` is what errors call the file. At most MOST_FAULTS. The judge of each is `trace_from`: after every error
    the value at fault gives way to one that is fine, and the rest is read again.
    """
    try:
        value = parse_json(data, source)
    except InputError as error:
        return [error]
    first = _fault(value)
    if first is None:
        return []
    faults = [first]
    if isinstance(value, dict) and isinstance(value.get("requests"), list):
        found = list(islice(_faults(value), MOST_FAULTS))
        # A key that is written twice is only seen in the value as it was read.
        faults = found if str(first) in map(str, found) else [first, *found[: MOST_FAULTS - 1]]
    return [error.at(source=source) for error in faults]


def _faults(value: Mapping[str, Any]) -> Iterator[InputError]:
    head = {**value, "requests": []}
    while (error := _fault(head)) is not None:
        yield error
        head = _mended_head(head, error)
    # Each row beside no other, so that a long file is not read again for every error.
    rows = []
    for index, row in enumerate(value["requests"]):
        while (error := _fault({**head, "requests": [row]})) is not None:
            place = (error.place or "requests[0]").replace("requests[0]", f"requests[{index}]", 1)
            yield InputError(error.problem, field=error.field, place=place)
            row = _mended_row(row, error, index)
        rows.append(row)
    # And all of them together: an id that comes twice.
    while (error := _fault({**head, "requests": rows})) is not None:
        yield error
        twin = _index(error)
        if twin is None or len(rows) > MOST_READ_AGAIN:
            return
        rows[twin] = _mended_row(rows[twin], error, twin)


def _fault(value: object) -> InputError | None:
    try:
        trace_from(value)
    except InputError as error:
        return error
    return None


def _index(error: InputError) -> int | None:
    """The request in which the error is; None where it is in none."""
    number = (error.place or "").removeprefix("requests[").partition("]")[0]
    return int(number) if number.isdecimal() else None


def _mended_head(head: Mapping[str, Any], error: InputError) -> dict[str, Any]:
    if error.place == "limits":
        return {**head, "limits": _mended(head["limits"], error.field, _LIMITS)}
    if error.place == "options":
        return {**head, "options": _mended(head["options"], error.field, {})}
    return _mended(head, error.field, _HEAD)


def _mended_row(row: object, error: InputError, index: int) -> dict[str, Any]:
    return _mended(row, error.field, {"id": f"\x00{index}", **_ROW})  # an id that nobody types


def _mended(value: object, field: str | None, fine: Mapping[str, Any]) -> dict[str, Any]:
    """The object with the value of `field` as in `fine`, or without it; `fine` itself where that is not possible."""
    name = (field or "").split("[")[0]
    if not isinstance(value, dict) or (name not in fine and name not in value):
        return dict(fine)
    rest = {key: one for key, one in value.items() if key != name}
    return {**rest, name: fine[name]} if name in fine else rest
