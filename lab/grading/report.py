"""The result of a solution: one shape for the page and the command line.

``{exercise, code_sha256, checks_sha256, lab_version, outcome, points, max_points, checks: [verdict, ...], problem,
replay}``: `problem` is None, or why no check could run (``{"outcome", "message", "cause", "line", "column",
"frames", "output"}``); `replay` what the host measured with the solution, ``{}`` if nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lab.exercises import Check, Exercise
from lab.grading.endings import ending
from lab.grading.judge import Verdict
from lab.grading.reply import Reply
from lab.grading.show import clean_frames, printable, printed

OUTCOMES = ("grader_error", "crashed", "stopped", "did_not_run", "failed", "passed")
"""From what decides first. A result has the first of these that one of its checks has."""

Result = dict[str, Any]


def code_sha256(source: bytes | str) -> str:
    """SHA-256, in hex, of a solution: of a file's bytes, or of text in UTF-8."""
    raw = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    return hashlib.sha256(raw).hexdigest()


def lab_version() -> str:
    """The version of the installed lab; ``unknown`` where it is not installed as a package."""
    try:
        return version("serving-lab")
    except PackageNotFoundError:
        return "unknown"


def problem_of(exercise: Exercise, reply: Reply) -> dict[str, Any] | None:
    """Why no check can run, from the reply to `Session.prepare`, or None if they can."""
    said = ending(exercise, reply)
    if said is None:
        return None
    outcome, message, cause, line, frames = said
    found = reply.read()[0]["problem"] or {}
    return {
        "outcome": outcome,
        "message": printable(message),
        "cause": printable(cause),
        "line": line,
        "column": found.get("column"),
        "frames": clean_frames(frames),
        "output": printed(reply),
    }


def verdict_without_run(check: Check, problem: dict[str, Any]) -> Verdict:
    """The verdict on a check that `problem` kept from being run."""
    return {
        "name": check.name,
        "visibility": check.visibility,
        "outcome": problem["outcome"],
        "points": 0,
        "max_points": check.points,
        "call": "",
        "expected": "",
        "returned": "",
        "message": "The check was not run.",
        "cause": "",
        "hint": check.hint,
        "line": problem["line"],
        "frames": [],
        "mutated": [],
        "output": {"text": "", "bytes": 0},
    }


def result(
    exercise: Exercise,
    source: bytes | str,
    verdicts: Sequence[Verdict],
    *,
    hidden: bool,
    problem: dict[str, Any] | None = None,
    replay: dict[str, Any] | None = None,
) -> Result:
    """The result of `source`, whose checks (with the hidden ones or without) came out as `verdicts`.

    Points are integers, so that they add up exactly.
    """
    outcomes = {verdict["outcome"] for verdict in verdicts} | ({problem["outcome"]} if problem else set())
    return {
        "exercise": exercise.id,
        "code_sha256": code_sha256(source),
        "checks_sha256": exercise.checks_sha256(hidden=hidden),
        "lab_version": lab_version(),
        "outcome": next((outcome for outcome in OUTCOMES if outcome in outcomes), "passed"),
        "points": sum(verdict["points"] for verdict in verdicts),
        "max_points": sum(verdict["max_points"] for verdict in verdicts),
        "checks": list(verdicts),
        "problem": problem,
        "replay": replay or {},
    }


def for_student(outcome: Result) -> Result:
    """`outcome` without what hidden checks ask and expect: name, outcome and points stay."""
    blank: dict[str, Any] = {
        "call": "",
        "expected": "",
        "returned": "",
        "message": "",
        "cause": "",
        "hint": "",
        "line": None,
        "frames": [],
        "mutated": [],
        "output": {"text": "", "bytes": 0},
    }
    return {
        **outcome,
        "checks": [
            verdict if verdict["visibility"] == "visible" else {**verdict, **blank} for verdict in outcome["checks"]
        ],
    }
