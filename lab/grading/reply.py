"""What comes back when one check has been run: the child's answer, and the word of whoever ran it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lab.grading.trust import is_answer

ENDED = ("time", "memory", "output", "exit", "signal", "recursion", "files", "lost", "grader")


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of running one check, or of preparing.

    answer: what `lab.grading.child.call.Session` gave, as far as one can know: learner code shared its interpreter
    ended:  the host's word if there is no answer, else None: ``time`` (detail: seconds allowed), ``memory``,
            ``output``, ``exit`` (detail: status), ``signal`` (detail: its number), ``recursion`` (deeper than the
            machine's stack, where Python could not tell in time), ``files`` (too much written to them), ``lost``,
            or ``grader`` (a fault of ours; detail: a sentence)
    """

    answer: object = None
    ended: str | None = None
    detail: float | str | None = None
    _seen: tuple[dict[str, Any], str | None] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.ended is not None and self.ended not in ENDED:
            raise ValueError(f"ended must be one of {', '.join(ENDED)}, not {self.ended!r}")

    def read(self) -> tuple[dict[str, Any], str | None]:
        """The answer, or an empty one, and how the run ended if not with an answer.

        An answer that has not the form of one counts as a lost interpreter.
        """
        if self._seen is None:  # looking through an answer takes longer than anything else that is done with it
            object.__setattr__(self, "_seen", self._look())
        assert self._seen is not None
        return self._seen

    def _look(self) -> tuple[dict[str, Any], str | None]:
        if self.ended is None and isinstance(self.answer, dict) and is_answer(self.answer):
            return self.answer, self.answer["ended"]
        return dict(_EMPTY), self.ended or "lost"


_EMPTY: dict[str, Any] = {
    "phase": "call",
    "problem": None,
    "steps": [],
    "output": {"text": "", "bytes": 0},
    "ended": None,
}


def too_deep() -> Reply:
    """The reply where compiling a source ended the interpreter: its stack is smaller than Python thinks."""
    problem: dict[str, Any] = {
        "kind": "deep",
        "type": "RecursionError",
        "message": "nested too deeply for Python to compile",
        "line": None,
        "column": None,
        "frames": [],
    }
    return Reply({**_EMPTY, "phase": "compile", "problem": problem})
