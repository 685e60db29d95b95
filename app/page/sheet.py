"""What the page's trace editor asks about the rows as typed: all that is wrong with them, and the file they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.page.asked import refusal
from lab.errors import InputError
from lab.formats.trace_faults import trace_faults
from lab.formats.trace_json import dump_trace, parse_trace


def judge_trace(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is wrong with ``{"trace": text of a trace file, "serial"}``, not only what is met first.

    Returns ``{"serial", "errors": [{"row", "field", "why"}, …]}`` in the order of the rows; what concerns no row, with
    row None, comes first.
    """
    serial = asked["serial"]
    found = [refusal(error, serial) for error in trace_faults(asked["trace"])]
    found.sort(key=lambda error: -1 if error["row"] is None else error["row"])
    return {"serial": serial, "errors": [{key: error[key] for key in ("row", "field", "why")} for error in found]}


def write_trace(asked: Mapping[str, Any]) -> dict[str, Any]:
    """``{"serial", "text"}``: the file of ``{"trace": text, "serial"}`` as `dump_trace` writes it, or a refusal."""
    try:
        return {"serial": asked["serial"], "text": dump_trace(parse_trace(asked["trace"]))}
    except InputError as error:
        return refusal(error, asked["serial"])
