"""Whose solution of which exercise each file is, and what could not be attributed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from lab.errors import InputError
from lab.exercises import Exercise
from lab.grading.report import code_sha256
from lab.staff.handed_in import File
from lab.staff.saved import read_saved

NAMED, DEFINES, OTHER = 0, 1, 2
"""Why a file counts as a solution of an exercise, what counts most first."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One student's solution of one exercise.

    source:   a file's bytes, or the text of a saved solution; empty if the file cannot be used: then `problem` says why
    place:    where it was found, for people
    saved_at: when it was saved; `exported` says that the page has noted it, otherwise it is the file's own time
    notes:    what staff should know of it, sentences
    """

    student: str
    exercise: str
    source: bytes | str
    place: str
    problem: str = ""
    saved_at: datetime | None = None
    exported: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unplaced:
    """What is not graded: where it is, whose it seems to be (or None), and why."""

    place: str
    student: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: int
    submission: Submission


def attribute(
    files: Iterable[File], exercises: Mapping[str, Exercise], only: str | None = None
) -> tuple[list[Submission], list[Unplaced]]:
    """Submissions, in order of student and exercise, and what is not graded, in order of place.

    only: the exercise that every file is of, or None where names and code tell
    """
    unplaced: list[Unplaced] = []
    found: dict[tuple[str, str], list[_Candidate]] = {}
    for file in files:
        candidates = list(_candidates(file, exercises, only, unplaced))
        for candidate in candidates:
            submission = candidate.submission
            found.setdefault((submission.student, submission.exercise), []).append(candidate)
    chosen = []
    for candidates in found.values():
        one = _choose(candidates, unplaced)
        if one is not None:
            chosen.append(one)
    chosen.sort(key=lambda one: (one.student, one.exercise))
    unplaced.sort(key=lambda one: (one.place, one.reason))
    return chosen, unplaced


def _candidates(
    file: File, exercises: Mapping[str, Exercise], only: str | None, unplaced: list[Unplaced]
) -> Iterator[_Candidate]:
    student = file.student
    suffix = file.name.lower().rpartition(".")[2] if "." in file.name else ""
    if student is None:
        unplaced.append(Unplaced(file.place, None, "neither folder nor file name says whose it is"))
    elif suffix == "json" and file.data is not None:
        yield from _exported(file, student, file.data, exercises, only, unplaced)
    elif suffix == "py":
        yield from _code(file, student, exercises, only, unplaced)
    else:
        unplaced.append(Unplaced(file.place, student, file.problem or "is neither Python nor saved work of the lab"))


def _exported(
    file: File,
    student: str,
    data: bytes,
    exercises: Mapping[str, Exercise],
    only: str | None,
    unplaced: list[Unplaced],
) -> Iterator[_Candidate]:
    try:
        saved = read_saved(data, "saved work")
    except InputError as error:
        unplaced.append(Unplaced(file.place, student, str(error).removeprefix("saved work: ")))
        return
    for one in saved:
        if one.exercise not in exercises:
            unplaced.append(
                Unplaced(file.place, student, f"has a solution of {one.exercise}, which is no exercise here")
            )
        elif only in (None, one.exercise):
            notes = ("The code is not the code that was saved: the file was edited.",) if one.altered else ()
            submission = Submission(
                student, one.exercise, one.code, file.place, "", one.saved_at, exported=True, notes=notes
            )
            yield _Candidate(NAMED, submission)


def _code(
    file: File, student: str, exercises: Mapping[str, Exercise], only: str | None, unplaced: list[Unplaced]
) -> Iterator[_Candidate]:
    submission = Submission(student, "", file.data or b"", file.place, file.problem, file.saved_at)
    defined = [name for name, one in exercises.items() if file.data and defines(file.data, one.name)]
    if file.exercise is not None and only in (None, file.exercise):
        yield _Candidate(NAMED, replace(submission, exercise=file.exercise))
    elif file.exercise is not None:  # named for an exercise that is not asked for
        return
    elif only is not None:
        yield _Candidate(DEFINES if only in defined else OTHER, replace(submission, exercise=only))
    elif defined:
        for name in defined:
            yield _Candidate(DEFINES, replace(submission, exercise=name))
    else:
        reason = file.problem or "matches no exercise; name it after one, or use --exercise"
        unplaced.append(Unplaced(file.place, student, reason))


def defines(source: bytes, name: str) -> bool:
    """Whether `source` looks as if it defines `name` at its top. Only looks at the text: it may be anybody's."""
    pattern = rf"^(?:async[ \t]+def|def|class)[ \t]+{re.escape(name)}\b|^{re.escape(name)}[ \t]*=(?!=)"
    return (
        re.search(pattern.encode(), source.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n"), re.MULTILINE)
        is not None
    )


def _choose(candidates: list[_Candidate], unplaced: list[Unplaced]) -> Submission | None:
    """The one that counts: what is named for the exercise before what defines it; of saved ones the newest."""
    best = min(candidate.rank for candidate in candidates)
    left = [candidate.submission for candidate in candidates if candidate.rank == best]
    for candidate in candidates:
        if candidate.rank != best:
            one = candidate.submission
            reason = f"is not needed: {left[0].place} is the solution of {one.exercise}"
            unplaced.append(Unplaced(one.place, one.student, reason))
    if all(one.exported and one.saved_at is not None for one in left):
        left.sort(key=lambda one: (one.saved_at, one.place))
        for older in left[:-1]:
            reason = f"has an older solution of {older.exercise} than {left[-1].place}"
            unplaced.append(Unplaced(older.place, older.student, reason))
        return left[-1]
    usable = [one for one in left if not one.problem] or left
    if len({code_sha256(one.source) for one in usable}) == 1:
        return usable[0]
    for one in usable:
        reason = f"is one of {len(usable)} different files for {one.exercise}, none of which is graded; keep one"
        unplaced.append(Unplaced(one.place, one.student, reason))
    return None
