"""Grades a whole solution: prepare, then check after check, through whatever runs the learner's code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from lab.exercises import Exercise
from lab.grading.ask import request_for
from lab.grading.child.call import Session
from lab.grading.judge import Verdict, judge
from lab.grading.reply import Reply
from lab.grading.report import Result, problem_of, result, verdict_without_run


class Runner(Protocol):
    """Runs learner code somewhere, within its limits, and replies in every case."""

    def prepare(self) -> Reply:
        """Execute the solution once, and find what the exercise asks for."""

    def run(self, request: dict[str, Any]) -> Reply:
        """Run one check."""


class Here:
    """Runs learner code in this very interpreter, without deadline or isolation."""

    def __init__(self, exercise: Exercise, source: bytes | str) -> None:
        self._session = Session(source, exercise.name, exercise.kind)

    def prepare(self) -> Reply:
        return Reply(self._session.prepare())

    def run(self, request: dict[str, Any]) -> Reply:
        return Reply(self._session.run(request))


def grade(
    exercise: Exercise,
    source: bytes | str,
    runner: Runner,
    *,
    hidden: bool = True,
    tell: Callable[[Verdict], None] | None = None,
) -> Result:
    """The result of `source`, run by `runner`; each verdict goes to `tell` as soon as there is one."""
    checks = exercise.checks(hidden=hidden)
    problem = problem_of(exercise, runner.prepare())
    verdicts = []
    for check in checks:
        if problem is not None:
            verdict = verdict_without_run(check, problem)
        else:
            verdict = judge(exercise, check, runner.run(request_for(check)))
        verdicts.append(verdict)
        if tell is not None:
            tell(verdict)
    return result(exercise, source, verdicts, hidden=hidden, problem=problem)


def grade_here(exercise: Exercise, source: bytes | str, *, hidden: bool = True) -> Result:
    """The result of `source`, run in this very interpreter, without deadline or isolation.

    For code that is trusted to end: references, known mistakes, tests.
    """
    return grade(exercise, source, Here(exercise, source), hidden=hidden)
