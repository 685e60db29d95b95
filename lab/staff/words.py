"""A result in words: what every exporter says alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.exercises import VISIBLE
from lab.grading.judge import Verdict
from lab.grading.report import Result

OUTCOMES = {
    "passed": "passed",
    "failed": "failed",
    "did_not_run": "did not run",
    "stopped": "stopped",
    "crashed": "crashed",
    "grader_error": "not graded: a fault of the grader",
}
MOST_OUTPUT = 2_000
"""Characters of what a check printed that are shown."""


def clean(text: str) -> str:
    """`text` without control characters, but for line breaks and tabs: nothing that a terminal or XML would obey."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def points(value: int | None, most: int) -> str:
    """``5 of 8 points``."""
    return f"{'?' if value is None else value} of {most} point{'s' if most != 1 else ''}"


def problem_lines(problem: dict[str, Any]) -> Iterator[str]:
    """Why no check could run."""
    yield clean(problem["message"])
    if problem["cause"]:
        yield clean(problem["cause"])
    yield from _frame_lines(problem)
    yield from _output_lines(problem["output"])


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """What is to be said of a check that did not pass. For hidden checks this is for staff alone."""
    for key, label in (("call", "call"), ("expected", "expected"), ("returned", "returned")):
        if verdict[key]:
            yield f"{label + ':':10}{clean(verdict[key])}"
    if verdict["message"]:
        yield clean(verdict["message"])
    if verdict["cause"]:
        yield clean(verdict["cause"])
    yield from _frame_lines(verdict)
    yield from _output_lines(verdict["output"])


def _frame_lines(told: dict[str, Any]) -> Iterator[str]:
    for frame in told["frames"]:
        times = f" ({frame['times']} times)" if frame["times"] > 1 else ""
        yield clean(f"line {frame['line']}, in {frame['function']}{times}: {frame['code']}").replace("\n", " ")


def _output_lines(output: dict[str, Any]) -> Iterator[str]:
    if output["bytes"]:
        text = output["text"]
        cut = f", the first {MOST_OUTPUT} characters" if len(text) > MOST_OUTPUT else ""
        yield f"printed ({output['bytes']} bytes{cut}):"
        yield from ("  " + line for line in clean(text[:MOST_OUTPUT]).splitlines())


def told_to_students(result: Result) -> Iterator[tuple[str, Verdict, list[str]]]:
    """Each check as a student may see it: a title, the verdict, and lines. Hidden checks have a number, and no more."""
    hidden = 0
    for verdict in result["checks"]:
        if verdict["visibility"] == VISIBLE:
            lines = [] if verdict["outcome"] == "passed" else list(verdict_lines(verdict))
            if lines and verdict["hint"]:
                lines.append(f"Hint: {verdict['hint']}")
            yield verdict["name"], verdict, lines
        else:
            hidden += 1
            yield f"Hidden check {hidden}", verdict, []
