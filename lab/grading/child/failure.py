"""An exception out of learner code, as plain data that names the learner's own lines."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .capture import OutputLimit
from .pristine import BUILTINS
from .source import FILENAME, Problem, Source
from .wire import class_name, type_name

globals()["__builtins__"] = BUILTINS

MAX_MESSAGE = 500
MAX_FRAMES = 8
MAX_TIMES = 100
"""How often a frame in a row is counted. How deep a recursion gets depends on who called, and is nobody's news."""

# A learner's class may hide these behind attributes of its own; the descriptors cannot be hidden.
_mro_of = type.__dict__["__mro__"].__get__
_traceback_of = BaseException.__dict__["__traceback__"].__get__


def describe(error: BaseException, source: Source) -> Problem:
    """kind, type, bases, message, line, column (None) and frames.

    `frames`: the learner's own, outermost first: ``{"line", "function", "code", "times"}``, at most MAX_FRAMES

    `kind`: ``exit``, ``memory``, ``recursion``, ``interrupt``, ``output`` or ``exception``
    `bases`: the names of the exception classes that it is one of, its own first
    """
    frames = _frames(_traceback_of(error), source)
    bases = _mro_of(type(error))
    return {
        "kind": _kind(bases),
        "type": type_name(error),
        "bases": [class_name(base) for base in bases if base is not object][:20],
        "message": _message(error),
        "line": frames[-1]["line"] if frames else None,
        "column": None,
        "frames": frames,
    }


def _kind(bases: tuple[type, ...]) -> str:
    for base, kind in (
        (SystemExit, "exit"),
        (MemoryError, "memory"),
        (RecursionError, "recursion"),
        (KeyboardInterrupt, "interrupt"),
        (OutputLimit, "output"),
    ):
        if base in bases:
            return kind
    return "exception"


def _message(error: BaseException) -> str:
    try:
        text = str(error)
        return str.__str__(str.__getitem__(text, slice(MAX_MESSAGE)))
    except BaseException:  # a learner's __str__
        return ""


def _frames(traceback: TracebackType | None, source: Source) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == FILENAME:
            line, name = traceback.tb_lineno, code.co_name[:80]
            if found and found[-1]["line"] == line and found[-1]["function"] == name:
                found[-1]["times"] = min(found[-1]["times"] + 1, MAX_TIMES)
            else:
                found.append({"line": line, "function": name, "code": source.line(line), "times": 1})
        traceback = traceback.tb_next
    if len(found) > MAX_FRAMES:  # functions that call each other without end: how it began and ended will do
        found = found[: MAX_FRAMES // 2] + found[-MAX_FRAMES // 2 :]
    return found
