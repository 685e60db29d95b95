"""Wire values as a learner reads them: Python literals, kept short."""

from __future__ import annotations

from typing import Any

from lab.grading.child.wire import Wire
from lab.grading.reply import Reply

MAX_SHOWN_BITS = 2_000


def show(wire: Wire, limit: int = 400) -> str:
    """`wire` as Python would write it, at most `limit` characters and an ellipsis. Marks are put into words."""
    pieces: list[str] = []
    _write(wire, pieces, [limit])
    text = "".join(pieces)
    return text if len(text) <= limit else text[:limit] + "…"


def show_call(name: str, arguments: list[Wire], limit: int = 2_000) -> str:
    """The call as Python would write it: ``name(33, 16)``."""
    inside = ", ".join(show(argument, limit) for argument in arguments)
    text = f"{name}({inside})"
    return text if len(text) <= limit else text[:limit] + "…"


def _write(wire: Wire, out: list[str], room: list[int]) -> None:
    if room[0] < 0:
        return
    kind = wire[0]
    if kind in ("list", "tuple"):
        opening, closing = "[]" if kind == "list" else "()"
        _put(opening, out, room)
        for i, item in enumerate(wire[1]):
            if room[0] < 0:
                return
            if i:
                _put(", ", out, room)
            _write(item, out, room)
        _put(",)" if kind == "tuple" and len(wire[1]) == 1 else closing, out, room)
    elif kind == "dict":
        _put("{", out, room)
        for i, (key, value) in enumerate(wire[1]):
            if room[0] < 0:
                return
            if i:
                _put(", ", out, room)
            _write(key, out, room)
            _put(": ", out, room)
            _write(value, out, room)
        _put("}", out, room)
    else:
        _put(_leaf(wire), out, room)


def _put(text: str, out: list[str], room: list[int]) -> None:
    out.append(text)
    room[0] -= len(text)


def _leaf(wire: list[Any]) -> str:
    kind = wire[0]
    if kind == "none":
        return "None"
    if kind == "bool":
        return str(wire[1])
    if kind == "int":
        return _int(wire[1])
    if kind == "float":
        return repr(float.fromhex(wire[1]))
    if kind == "str":
        return repr(wire[1])
    if kind == "subclass":
        return f"<{wire[2]}, a subclass of {wire[1]}>" if not wire[3] else f"<{wire[2]}: {printable(wire[3])}>"
    if kind == "other":
        return printable(wire[2]) or f"<a {wire[1]}>"
    if kind == "cycle":
        return "{...}" if wire[1] == "dict" else "[...]"
    if kind == "deep":
        return "…"
    unit = {"str": "characters", "int": "bits"}.get(wire[1], "items")
    return f"<{wire[1]} of {wire[2]:,} {unit}>"


def _int(content: int | str) -> str:
    value = content if isinstance(content, int) else int(content, 16)
    if value.bit_length() > MAX_SHOWN_BITS:
        return f"<int of {value.bit_length():,} bits>"
    return str(value)


def printable(text: str) -> str:
    """`text` without halves of surrogate pairs, which can neither be printed nor saved."""
    return text.encode("utf-8", "backslashreplace").decode()


def printed(reply: Reply) -> dict[str, Any]:
    """The output that `reply` tells of: ``{"text", "bytes"}``."""
    output = reply.read()[0]["output"]
    return {"text": printable(output["text"]), "bytes": output["bytes"]}


def clean_frames(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`frames` of a traceback with exactly the documented keys, and printable."""
    return [
        {
            "line": frame["line"],
            "function": printable(frame["function"]),
            "code": printable(frame["code"]),
            "times": frame["times"],
        }
        for frame in frames
    ]
