"""The class as a whole: every student, what they handed in, and what it came to. Exporters draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lab.exercises import Exercise
from lab.grading.report import Result, lab_version
from lab.staff.attribution import Submission, Unplaced
from lab.staff.plan import Plan
from lab.staff.roster import Roster

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One graded submission. `late`: saved after the deadline; None if there is no deadline or no time."""

    submission: Submission
    result: Result
    late: bool | None

    @property
    def points(self) -> int | None:
        """Points, or None where a fault of ours kept them from being known."""
        return None if self.result["outcome"] == "grader_error" else int(self.result["points"])


@dataclass(frozen=True, slots=True)
class Student:
    """key: what the student is listed under; name: from the roster, or empty; entries: by exercise"""

    key: str
    name: str
    on_roster: bool | None
    entries: Mapping[str, Entry] = field(default_factory=dict)

    def points(self, exercises: Sequence[Exercise]) -> int | None:
        """The sum over `exercises`, what was not handed in counting 0; None if one of them is not known."""
        found = [self.entries[one.id].points if one.id in self.entries else 0 for one in exercises]
        known = [points for points in found if points is not None]
        return sum(known) if len(known) == len(found) else None

    @property
    def late(self) -> bool:
        return any(entry.late for entry in self.entries.values())


@dataclass(frozen=True, slots=True)
class Gradebook:
    """students in order of their keys; unplaced in order of place; compared: see `compare`, or None"""

    exercises: Sequence[Exercise]
    students: Sequence[Student]
    unplaced: Sequence[Unplaced]
    plan: Plan
    deadline: datetime | None = None
    compared: Mapping[str, Any] | None = None

    @property
    def max_points(self) -> int:
        return sum(map(max_points, self.exercises))

    @property
    def entries(self) -> list[tuple[Student, Entry]]:
        """Every graded submission, in order of student and exercise."""
        return [(s, s.entries[one.id]) for s in self.students for one in self.exercises if one.id in s.entries]


def max_points(exercise: Exercise) -> int:
    """The points of all checks of `exercise`, hidden ones too."""
    return sum(check.points for check in exercise.checks(hidden=True))


def gradebook(
    graded: Sequence[tuple[Submission, Result]],
    unplaced: Sequence[Unplaced],
    exercises: Sequence[Exercise],
    plan: Plan,
    *,
    roster: Roster | None = None,
    student: str | None = None,
    deadline: datetime | None = None,
    compared: Mapping[str, Any] | None = None,
) -> Gradebook:
    """Put results together. Students on the `roster`, and `student`, are there even if they handed nothing in."""
    entries: dict[str, dict[str, Entry]] = {key: {} for key in (roster.names if roster else ())}
    if student is not None:
        entries.setdefault(student, {})
    for submission, result in graded:
        late = None
        if deadline is not None and submission.saved_at is not None:
            late = submission.saved_at > deadline
        entries.setdefault(submission.student, {})[submission.exercise] = Entry(submission, result, late)
    students = [
        Student(key, roster.names.get(key, "") if roster else "", roster.has(key) if roster else None, entries[key])
        for key in sorted(entries)
    ]
    return Gradebook(exercises, students, unplaced, plan, deadline, compared)


def to_document(book: Gradebook) -> dict[str, Any]:
    """Plain data: summary.json."""
    return {
        "schema_version": SCHEMA_VERSION,
        "lab_version": lab_version(),
        "exercises": [
            {
                "id": one.id,
                "title": one.title,
                "max_points": max_points(one),
                "checks_sha256": one.checks_sha256(hidden=True),
            }
            for one in book.exercises
        ],
        "limits": book.plan.limits.document(),
        "isolation": book.plan.isolation(),
        "isolation_off": dict(book.plan.off),
        "deadline": book.deadline.isoformat() if book.deadline else None,
        "students": [_student(book, student) for student in book.students],
        "unplaced": [{"place": one.place, "student": one.student, "reason": one.reason} for one in book.unplaced],
    }


def _student(book: Gradebook, student: Student) -> dict[str, Any]:
    return {
        "student": student.key,
        "name": student.name,
        "on_roster": student.on_roster,
        "points": student.points(book.exercises),
        "max_points": book.max_points,
        "exercises": {
            one.id: _entry(student.entries[one.id]) if one.id in student.entries else None for one in book.exercises
        },
    }


def _entry(entry: Entry) -> dict[str, Any]:
    submission, result = entry.submission, entry.result
    # A file's own time changes as files are copied about; it is shown only where it was asked for.
    shown = submission.saved_at is not None and (submission.exported or entry.late is not None)
    return {
        "outcome": result["outcome"],
        "points": entry.points,
        "max_points": result["max_points"],
        "code_sha256": result["code_sha256"],
        "place": submission.place,
        "saved_at": submission.saved_at.isoformat() if shown and submission.saved_at else None,
        "saved_at_from": ("export" if submission.exported else "file") if shown else None,
        "late": entry.late,
        "notes": list(submission.notes),
    }
