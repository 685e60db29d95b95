"""Grades one submission: the core of `lab.grading`, with a runner that is shut off."""

from __future__ import annotations

from typing import Any

from lab.exercises import Exercise
from lab.grading.grade import grade
from lab.grading.reply import Reply
from lab.grading.report import Result, problem_of, result, verdict_without_run
from lab.staff.attribution import Submission
from lab.staff.plan import Plan
from lab.staff.runner import Boxed

UNUSABLE = "What was handed in "
"""How the message begins where there is no code to run."""

TRIES = 2
"""How often a submission is run before a fault of ours stands."""


def grade_submission(submission: Submission, exercise: Exercise, plan: Plan, job: int) -> Result:
    """The result of `submission`: the shape that the page uses, and ``isolation`` and ``limits``."""
    if submission.problem:
        return _told(_without_run(exercise, submission.source, _unusable(submission.problem)), plan)
    for _ in range(TRIES):
        boxed = Boxed.of(plan, job, exercise, submission.source)
        try:
            outcome = grade(exercise, submission.source, boxed, hidden=True)
        finally:
            boxed.close()
        if outcome["outcome"] != "grader_error":
            break
    return _told(outcome, plan)


def faulty(submission: Submission, exercise: Exercise, plan: Plan, reason: str) -> Result:
    """The result where the grader itself failed: no points are lost, since none are given or taken."""
    problem = problem_of(exercise, Reply(ended="grader", detail=reason))
    assert problem is not None
    return _told(_without_run(exercise, submission.source, problem), plan)


def _unusable(reason: str) -> dict[str, Any]:
    return {
        "outcome": "did_not_run",
        "message": f"{UNUSABLE}{reason}.",
        "cause": "Hand in one Python file, or the lab's export.",
        "line": None,
        "column": None,
        "frames": [],
        "output": {"text": "", "bytes": 0},
    }


def _without_run(exercise: Exercise, source: bytes | str, problem: dict[str, Any]) -> Result:
    verdicts = [verdict_without_run(check, problem) for check in exercise.checks(hidden=True)]
    return result(exercise, source, verdicts, hidden=True, problem=problem)


def _told(outcome: Result, plan: Plan) -> Result:
    return {**outcome, "isolation": plan.isolation(), "limits": plan.limits.document()}
