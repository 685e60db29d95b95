"""A text file for a student: what was right, what was not and why. Of hidden checks it says only how they came out."""

from __future__ import annotations

from collections.abc import Iterator

from lab.exercises import Exercise
from lab.staff.gradebook import Gradebook, Student, max_points
from lab.staff.words import OUTCOMES, clean, points, problem_lines, told_to_students


def feedback(book: Gradebook, student: Student) -> str:
    """The text for `student`."""
    return "\n".join(_lines(book, student)) + "\n"


def _lines(book: Gradebook, student: Student) -> Iterator[str]:
    title = clean(f"{student.name} ({student.key})" if student.name else student.key).replace("\n", " ")
    yield title
    yield "=" * len(title)
    yield f"{points(student.points(book.exercises), book.max_points)} in all"
    for exercise in book.exercises:
        yield ""
        yield ""
        yield exercise.title
        yield "-" * len(exercise.title)
        yield from _exercise(student, exercise)


def _exercise(student: Student, exercise: Exercise) -> Iterator[str]:
    entry = student.entries.get(exercise.id)
    if entry is None:
        yield f"0 of {max_points(exercise)} points: nothing was handed in"
        return
    result = entry.result
    if result["outcome"] == "grader_error":
        yield "Not graded: the grader itself failed. This costs you nothing; your course will grade it again."
        return
    yield f"{points(entry.points, result['max_points'])}: {OUTCOMES[result['outcome']]}"
    if entry.late:
        yield "saved after the deadline"
    yield f"code {result['code_sha256'][:12]}, checks {result['checks_sha256'][:12]}, lab {result['lab_version']}"
    if result["problem"] is not None:
        yield ""
        yield from problem_lines(result["problem"])
        return
    for name, verdict, lines in told_to_students(result):
        yield ""
        mark = "ok " if verdict["outcome"] == "passed" else "NO "
        yield f"{mark} {name}: {OUTCOMES[verdict['outcome']]}, {points(verdict['points'], verdict['max_points'])}"
        yield from ("    " + line for line in lines)
