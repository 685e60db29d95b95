"""Gradescope's results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/

Students see the visible checks at once. Hidden checks have a number for a name and no output, and show their points
once grades are published: a student who can hand in again and again could otherwise ask them question after question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.exercises import VISIBLE, Exercise
from lab.staff.gradebook import Entry, Gradebook, Student, max_points
from lab.staff.words import OUTCOMES, problem_lines, told_to_students

AFTER = "after_published"


def gradescope(book: Gradebook, student: Student) -> dict[str, Any] | None:
    """The document for `student`; None where a fault of ours leaves it without points to tell."""
    if student.points(book.exercises) is None:
        return None
    tests = [
        test
        for number, one in enumerate(book.exercises, 1)
        for test in _tests(number, one, student.entries.get(one.id))
    ]
    return {
        "output": "\n".join(_output(book, student)),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {
            one.id: {key: entry.result[key] for key in ("outcome", "code_sha256", "checks_sha256", "lab_version")}
            for one in book.exercises
            if (entry := student.entries.get(one.id)) is not None
        },
    }


def _output(book: Gradebook, student: Student) -> Iterator[str]:
    for one in book.exercises:
        entry = student.entries.get(one.id)
        if entry is None:
            yield f"{one.title}: nothing was handed in. Name the file {one.id}.py, or hand in the lab's export."
            continue
        yield f"{one.title}: {OUTCOMES[_visible_outcome(entry)]}" + (", saved after the deadline" if entry.late else "")
        if entry.result["problem"] is not None:
            yield from problem_lines(entry.result["problem"])


def _visible_outcome(entry: Entry) -> str:
    """The outcome of what students may know."""
    if entry.result["problem"] is not None:
        return str(entry.result["outcome"])
    outcomes = [check["outcome"] for check in entry.result["checks"] if check["visibility"] == VISIBLE]
    return next((outcome for outcome in outcomes if outcome != "passed"), "passed")


def _tests(number: int, exercise: Exercise, entry: Entry | None) -> Iterator[dict[str, Any]]:
    if entry is None:
        yield {
            "name": f"{exercise.title}: nothing was handed in",
            "number": f"{number}",
            "score": 0,
            "max_score": max_points(exercise),
            "status": "failed",
            "output": "",
            "visibility": "visible",
        }
        return
    for i, (name, verdict, lines) in enumerate(told_to_students(entry.result), 1):
        visible = verdict["visibility"] == VISIBLE
        yield {
            "name": f"{exercise.title}: {name}",
            "number": f"{number}.{i}",
            "score": verdict["points"],
            "max_score": verdict["max_points"],
            "status": "passed" if verdict["outcome"] == "passed" else "failed",
            "output": "\n".join(lines),
            "tags": [exercise.id],
            "visibility": "visible" if visible else AFTER,
        }
