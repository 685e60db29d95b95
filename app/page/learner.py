"""The learner's worker calls this: JSON text in, JSON text out, in the interpreter that runs the learner's code.

Knows no expected value and no check but the one that runs. Learner code shares this interpreter and can reach
everything here; whoever reads the answers believes nothing of them that it cannot check.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder, c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

from lab.grading.child.call import Session
from lab.grading.child.capture import OutputLimit, Tape
from lab.grading.child.pristine import BUILTINS

globals()["__builtins__"] = BUILTINS

Tell = Callable[[str], Any]

# Made now, of what is written in C, so that what a learner does to the module `json` later does not reach them.
_read_at = JSONDecoder().scan_once  # type: ignore[attr-defined]
_write = c_make_encoder(None, JSONEncoder().default, encode_basestring_ascii, None, ": ", ", ", False, False, True)
_now = time.monotonic


def to_text(value: Any) -> str:
    """`value`, plain data, as JSON text in ASCII."""
    return "".join(_write(value, 0))


def from_text(text: str) -> Any:
    """The plain data of JSON text that this lab has written."""
    return _read_at(text, 0)[0]


class Host:
    """One solution in this interpreter, behind functions that take and give text."""

    def __init__(self) -> None:
        self._session: Session | None = None

    def open(self, source: str, name: str, kind: str) -> str:
        """Take a solution; `name` is what its exercise asks for (empty for none), `kind` function or class."""
        self._session = Session(source, name, kind)
        return "{}"

    def prepare(self) -> str:
        """The answer of `Session.prepare`."""
        return to_text(self._opened().prepare())

    def run(self, request: str) -> str:
        """The answer of `Session.run`."""
        return to_text(self._opened().run(from_text(request)))

    def replay(self, request: str, tell: Tell) -> str:
        """As `run`, with every step told as soon as it has come back, and an answer that does not repeat them."""
        answer = self._opened().run(from_text(request), lambda step: tell(to_text(step)))
        return to_text({**answer, "steps": []})

    def execute(self, tell: Tell) -> str:
        """The answer of `Session.execute`. What is printed is told as it comes, the first 64 KiB of it."""
        tape = LiveTape(tell)
        answer = self._opened().execute(tape)
        tape.flush()
        return to_text(answer)

    def _opened(self) -> Session:
        if self._session is None:
            raise RuntimeError("no solution was opened")
        return self._session


class LiveTape(Tape):
    """Tells what it keeps as it comes: the first pieces at once, later ones in batches."""

    AT_ONCE = 400
    """Pieces that are told one by one, so that a program which then hangs has said what it said."""

    PAUSE = 0.05
    """Seconds between two batches."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell
        self._told = 0
        self._calls = 0
        self._last = _now()

    def add(self, text: str) -> None:
        try:
            super().add(text)
        except OutputLimit:
            self.flush()
            raise
        if self._told < len(self._pieces) and (self._calls < self.AT_ONCE or _now() - self._last > self.PAUSE):
            self.flush()

    def flush(self) -> None:
        """Tell what was not told yet."""
        if self._told < len(self._pieces):
            text = "".join(self._pieces[self._told :])
            self._told = len(self._pieces)
            self._calls += 1
            self._last = _now()
            self._tell(text)


def host() -> Host:
    """For the worker, before any learner code runs."""
    return Host()
