"""What a question of the page's asks: the trace, its limits and options, and how a refusal is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lab.errors import InputError
from lab.formats.trace_json import parse_trace
from lab.options import Options
from lab.workload import Limits, Trace

MOST_REQUESTS = 100
"""The page draws no more; the command line has no such bound."""


def trace_asked(asked: Mapping[str, Any]) -> tuple[Trace, Limits]:
    """The trace and the limits to replay it under in ``{"trace": FILE, "limits": {field: value} | None}``.

    FILE is a trace file as a JSON object or as its text; what `limits` leaves out is the trace's.
    Raises InputError, naming row and field.
    """
    data = asked["trace"]
    trace = parse_trace(data if isinstance(data, str) else json.dumps(data))
    if len(trace.requests) > MOST_REQUESTS:
        raise InputError(
            f"{len(trace.requests)} are more than the page draws, at most {MOST_REQUESTS}; "
            "delete some, or replay the file on the command line",
            field="requests",
        )
    changes = asked.get("limits") or {}
    try:
        return trace, Limits(**{**asdict(trace.limits), **changes})
    except TypeError:
        raise InputError("holds a limit that this lab does not have; reload the page", field="limits") from None


def options_asked(asked: Mapping[str, Any], trace: Trace) -> Options:
    """The options in ``{"options": {field: value} | None}``; what is left out is the trace's. Raises InputError."""
    try:
        return Options(**{**trace.options.changes(), **(asked.get("options") or {})})
    except TypeError:
        raise InputError("holds an option that this lab does not have; reload the page", field="options") from None


def refusal(error: InputError, serial: int) -> dict[str, Any]:
    """``{"serial", "row", "field", "why"}``; `row` is the index of the request at fault, None if it is none of them."""
    row = re.match(r"requests\[(\d+)\]", error.place or "")
    return {"serial": serial, "row": int(row[1]) if row else None, "field": error.field, "why": error.problem}
