"""All that is wrong with a trace file, where reading it stops at the first."""

from __future__ import annotations

import json

from lab.errors import InputError
from lab.formats.json_text import parse_json
from lab.formats.trace_json import LIMITS_KEYS, SCHEMA_VERSION, parse_trace
from lab.workload import TIME_UNITS


def trace_faults(data: bytes, source: str) -> list[InputError]:
    """Every error of the trace in `data`: of the file as a whole, and of each request; empty if it is a good trace.

    `source` is what errors call the file.
    """
    first = _fault(data, source)
    if first is None:
        return []
    try:
        value = parse_json(data, source)
    except InputError as error:
        return [error]
    rows = value.get("requests") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return [first]
    found = [_fault(_text({**value, "requests": []}), source)]
    frame = {"schema_version": SCHEMA_VERSION, "name": "rows", "limits": dict.fromkeys(LIMITS_KEYS, 1)}
    if value.get("time_unit") in TIME_UNITS:
        frame["time_unit"] = value["time_unit"]
    for index, row in enumerate(rows):
        fault = _fault(_text({**frame, "requests": [row]}), source)
        if fault is not None:
            place = (fault.place or "requests[0]").replace("requests[0]", f"requests[{index}]", 1)
            found.append(InputError(fault.problem, field=fault.field, place=place, source=source))
    known = [error for error in found if error is not None]
    # What only the whole file shows: an id that comes twice, a key that is written twice.
    return known if str(first) in map(str, known) else [first, *known]


def _text(value: object) -> bytes:
    return json.dumps(value).encode()


def _fault(data: bytes, source: str) -> InputError | None:
    try:
        parse_trace(data, source)
    except InputError as error:
        return error
    return None
