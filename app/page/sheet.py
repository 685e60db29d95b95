"""What the page's trace editor asks about the rows as typed: all that is wrong with them, and the file they make."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.page.instruct import refusal
from lab.errors import InputError
from lab.formats.trace_json import dump_trace, parse_trace

MOST_ERRORS = 200
"""More than that are not told at once: each is found by reading the trace again without those before it."""

_FINE: dict[str, Any] = {"arrival": 0, "prompt_tokens": 1, "output_tokens": 1}


def judge_trace(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is wrong with ``{"trace": text of a trace file, "serial"}``, not only what is met first.

    Returns ``{"serial", "errors": [{"row", "field", "why"}, …]}`` in the order of the rows; what concerns no row, with
    row None, comes first. The judge of each is `parse_trace`: after every error the value at fault is replaced by one
    that is fine, and the rest is read again.
    """
    serial = asked["serial"]
    errors: list[dict[str, Any]] = []
    text = asked["trace"]
    try:
        while len(errors) < MOST_ERRORS:
            try:
                parse_trace(text)
                break
            except InputError as error:
                found = refusal(error, serial)
                errors.append({name: found[name] for name in ("row", "field", "why")})
                mended = _mended(text, found["row"], found["field"])
                if mended is None:
                    break
                text = mended
    except ValueError:  # a number too long for Python to read again; what was found until there stands
        pass
    errors.sort(key=lambda error: -1 if error["row"] is None else error["row"])
    return {"serial": serial, "errors": errors}


def _mended(text: str, row: int | None, field: str | None) -> str | None:
    """The trace with one value replaced by a fine one; None where that is not possible."""
    document = json.loads(text)
    if row is None:
        if field != "name":
            return None
        document["name"] = "trace"
        return json.dumps(document)
    request = document["requests"][row]
    name = (field or "").split("[")[0]
    own = f"\x00{row}"  # an id that nobody types
    if not isinstance(request, dict):
        document["requests"][row] = {"id": own, **_FINE}
    elif name == "id":
        request["id"] = own
    elif name in _FINE:
        request[name] = _FINE[name]
    elif name in request:
        del request[name]
    else:
        document["requests"][row] = {"id": own, **_FINE}
    return json.dumps(document)


def write_trace(asked: Mapping[str, Any]) -> dict[str, Any]:
    """``{"serial", "text"}``: the file of ``{"trace": text, "serial"}`` as `dump_trace` writes it, or a refusal."""
    try:
        return {"serial": asked["serial"], "text": dump_trace(parse_trace(asked["trace"]))}
    except InputError as error:
        return refusal(error, asked["serial"])
