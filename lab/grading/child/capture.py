"""What learner code prints: the first part is kept, the rest counted, and too much ends the run."""

from __future__ import annotations

import io
from typing import Any

from .pristine import BUILTINS

globals()["__builtins__"] = BUILTINS

KEPT_BYTES = 64 * 1024
LIMIT_BYTES = 10 * 1024 * 1024


class OutputLimit(BaseException):
    """Raised where learner code prints past LIMIT_BYTES. It may be caught there; `Tape.over` stays."""


class Tape:
    """Standard output and error of one check, in the order in which they were written.

    written: bytes of UTF-8 in all; over: whether that passed LIMIT_BYTES
    """

    def __init__(self) -> None:
        self.written = 0
        self.over = False
        self._pieces: list[str] = []
        self._room = KEPT_BYTES

    def add(self, text: str) -> None:
        """Take `text`, an exact str. Raises OutputLimit past the limit, here and ever after."""
        if self.over:
            raise OutputLimit(_TOO_MUCH)
        size = len(text)
        if not text.isascii() and size <= LIMIT_BYTES:
            size = len(text.encode("utf-8", "surrogatepass"))
        if self._room > 0 and text:
            piece = text[: self._room]
            raw = piece.encode("utf-8", "backslashreplace")
            if len(raw) > self._room:
                piece = raw[: self._room].decode("utf-8", "ignore")
                self._room = 0
            else:
                self._room -= len(raw)
            self._pieces.append(piece)
        self.written += size
        if self.written > LIMIT_BYTES:
            self.over = True
            raise OutputLimit(_TOO_MUCH)

    def summary(self) -> dict[str, Any]:
        """``{"text": what is kept, "bytes": how many were written}``."""
        return {"text": "".join(self._pieces), "bytes": self.written}


_TOO_MUCH = f"more than {LIMIT_BYTES // 2**20} MB printed"


class Printed(io.TextIOBase):
    """Stands for ``sys.stdout`` or ``sys.stderr``."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self.buffer = _PrintedBytes(tape)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if type(text) is not str:
            if not issubclass(type(text), str):
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            text = str.__str__(text)
        self._tape.add(text)
        return len(text)


class _PrintedBytes(io.RawIOBase):
    """The ``buffer`` of a stream, for who writes bytes to it."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._tape.add(raw.decode("utf-8", "replace"))
        return len(raw)


class NoKeyboard(io.TextIOBase):
    """Stands for ``sys.stdin``: there is nobody to answer."""

    encoding = "utf-8"

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        raise EOFError("nobody can answer input() here: a check passes everything as arguments")

    def read(self, size: int | None = -1, /) -> str:
        return ""
