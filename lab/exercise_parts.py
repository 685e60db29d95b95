"""What an exercise consists of, once it is read; `lab.exercises` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lab.workload import Limits, Request


@dataclass(frozen=True, slots=True)
class Field:
    """One input, or one part of what is returned: its name, its type in words, and what it is."""

    name: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A call and what it returns, with a sentence on why."""

    arguments: tuple[Any, ...]
    expected: Any
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a check. `method` is that of an object; `raises` the exception expected instead of a value."""

    arguments: tuple[Any, ...]
    expected: Any
    method: str | None = None
    raises: str | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """If the value at the place `at` in what was returned is `value`, then `because` is the likely cause."""

    at: tuple[str | int, ...]
    value: Any
    because: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A workload that the learner's function drives: `count` requests from `seed`, or requests and limits.

    expected: metrics and their values (``utilization_percent`` is rounded), or None for the engine's every step
    """

    seed: int | None
    count: int
    requests: tuple[Request, ...]
    limits: Limits | None
    expected: tuple[tuple[str, int], ...] | None


@dataclass(frozen=True, slots=True)
class Check:
    """One saved check: `calls` (of an object made by `construct`, if that is given), or a `replay`.

    unchanged: the arguments have to be as they were after each call
    """

    name: str
    visibility: str
    points: int
    hint: str
    calls: tuple[Call, ...] = ()
    construct: tuple[Any, ...] | None = None
    replay: Replay | None = None
    unchanged: bool = False
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """A solution with a mistake that people make.

    mistake:   what is wrong, in one sentence
    caught_by: names of checks that it has to fail
    says:      words that the feedback of the first of these must have
    """

    file: str
    code: str
    mistake: str
    caught_by: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """Everything about one exercise.

    kind:           ``function`` or ``class``: what `name` has to be
    statement:      paragraphs
    hints:          to be opened one by one
    approach:       one line above the reference solution
    visible_points, hidden_points, hidden_count: as announced, also where the hidden checks are not at hand
    tuples:         whether a tuple passes for a list
    hidden:         empty where `hidden.json` is not at hand
    reference:      None where `reference.py` is not at hand
    """

    id: str
    title: str
    name: str
    kind: str
    statement: tuple[str, ...]
    signature: str
    inputs: tuple[Field, ...]
    returns: tuple[Field, ...]
    rule: str
    example: Example
    hints: tuple[str, ...]
    approach: str
    visible_points: int
    hidden_points: int
    hidden_count: int
    tuples: bool
    starter: str
    reference: str | None
    visible: tuple[Check, ...]
    hidden: tuple[Check, ...]
    wrong: tuple[Wrong, ...]
    visible_sha256: str
    all_sha256: str

    @property
    def drives(self) -> bool:
        """Whether a solution can drive a replay: there is a visible check that has it do so."""
        return any(check.replay is not None for check in self.visible)

    def checks(self, *, hidden: bool) -> tuple[Check, ...]:
        """The visible checks, and the hidden ones after them if asked for."""
        return self.visible + self.hidden if hidden else self.visible

    def checks_sha256(self, *, hidden: bool) -> str:
        """SHA-256, in hex, of these checks: of their content, whatever the spacing of their files."""
        return self.all_sha256 if hidden else self.visible_sha256
