"""A solution's source, read as Python reads it, and compiled."""

from __future__ import annotations

import contextlib
import linecache
import tokenize
import warnings
from types import CodeType
from typing import Any

from .pristine import BUILTINS

globals()["__builtins__"] = BUILTINS

FILENAME = "solution.py"
MODULE = "solution"

Problem = dict[str, Any]

_line_cache: dict[str, Any] = linecache.cache


class Unusable(Exception):
    """The source cannot be compiled. `problem` is plain data: kind, type, message, line, column."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem["message"])
        self.problem = problem


class Source:
    """code: compiled, to be executed as often as wanted; lines: the source's lines, without their ends."""

    def __init__(self, code: CodeType, lines: list[str]) -> None:
        self.code = code
        self.lines = lines

    def line(self, number: int | None) -> str:
        """The text of line `number` (from 1), at most 200 characters; empty if there is no such line."""
        if number is None or not 1 <= number <= len(self.lines):
            return ""
        return self.lines[number - 1].strip()[:200]


def read(source: bytes | str) -> Source:
    """Compile `source`. Raises Unusable with the reason and the learner's own line.

    Bytes are a file: a byte order mark or a coding cookie says how it is encoded, UTF-8 otherwise. A str is text
    that somebody has decoded already, so that a cookie in it means nothing.
    """
    raw = source if type(source) is bytes else None
    text = _text_of(raw) if raw is not None else str.removeprefix(source, "\ufeff")  # type: ignore[arg-type]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            message = "a NUL character is no part of Python; the file may be damaged, or no text at all"
            raise _unusable("encoding", "SyntaxError", message, number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(text if raw is None else raw, FILENAME, "exec", dont_inherit=True, optimize=0)
    except SyntaxError as error:
        message = error.msg or "invalid syntax"
        raise _unusable("syntax", type(error).__name__, message, error.lineno or 1, error.offset) from None
    except (RecursionError, MemoryError):
        message = "nested too deeply for Python to compile"
        raise _unusable("deep", "RecursionError", message, None) from None
    except (ValueError, UnicodeError) as error:
        raise _unusable("syntax", type(error).__name__, str(error), None) from None
    # So that a traceback which the learner prints shows the learner's lines.
    _line_cache[FILENAME] = (len(text), None, [line + "\n" for line in lines], FILENAME)
    return Source(code, lines)


def _text_of(raw: bytes) -> str:
    """`raw` decoded for display; where it cannot be, compiling says why."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = "the file is saved as UTF-16; save it as UTF-8"
        raise _unusable("encoding", "SyntaxError", message, 1)
    encoding = "utf-8"
    with contextlib.suppress(Exception):
        encoding = tokenize.detect_encoding(iter(raw.splitlines(keepends=True)[:2]).__next__)[0]
    return raw.decode(encoding, "replace").removeprefix("\ufeff")


def _unusable(kind: str, type_name: str, message: str, line: int | None, column: int | None = None) -> Unusable:
    return Unusable(
        {
            "kind": kind,
            "type": type_name,
            "message": message[:500],
            "line": line,
            "column": column if column is not None and column > 0 else None,
            "frames": [],
        }
    )
