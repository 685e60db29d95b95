"""One run of `serving-lab grade`, from what was handed in to the files that are written."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.exercises import Exercise
from lab.grading.report import Result
from lab.staff import compare, pool
from lab.staff.attribution import Submission, Unplaced, attribute
from lab.staff.extra_checks import exercises
from lab.staff.feedback import feedback
from lab.staff.gradebook import Gradebook, gradebook, to_document
from lab.staff.grades_csv import grades_csv
from lab.staff.gradescope import gradescope
from lab.staff.handed_in import Names, collect
from lab.staff.isolation import Kept, prepared
from lab.staff.junit import junit
from lab.staff.plan import Limits, Plan
from lab.staff.report_html import report_html
from lab.staff.roster import Roster
from lab.staff.store import FEEDBACK, GRADESCOPE, Store, file_name, opened, to_json
from lab.staff.terminal import Progress

FORMATS = ("json", "gradescope", "csv", "junit")


@dataclass(frozen=True, slots=True)
class Options:
    """What one run is asked to do; see `serving-lab grade --help`."""

    paths: Sequence[str]
    out: str
    formats: Sequence[str] = ("json", "csv")
    exercise: str | None = None
    student: str | None = None
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    hidden: str | None = None
    checks: str | None = None
    force: bool = False
    roster: Roster | None = None
    deadline: datetime | None = None
    compare: str | None = None
    without: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """book: what it came to; kept: results that held from an earlier run"""

    book: Gradebook
    kept: int


def run(options: Options, say: Callable[[str], None]) -> Done:
    """Grade, and write everything. `say` hears what staff should know while it runs. Raises InputError, NoIsolation."""
    every = exercises(options.hidden, options.checks)
    if options.exercise is not None and options.exercise not in every:
        known = ", ".join(every)
        raise InputError(f"there is no exercise {options.exercise!r}; there are {known}", field="--exercise")
    old = compare.read_old(options.compare) if options.compare is not None else None
    files_found = collect(options.paths, Names(list(every)), options.student, Path(options.out).resolve())
    found, unplaced = attribute(files_found, every, options.exercise)
    if options.roster is not None:
        found = [replace(one, student=options.roster.student(one.student)) for one in found]
    found, unplaced = _once(found, unplaced)
    with opened(options.out) as store:
        graded, kept, plan = _graded(options, found, every, store, say)
        compared = compare.compare(old, graded) if old is not None else None
        chosen = [one for one in every.values() if options.exercise in (None, one.id)]
        book = gradebook(
            graded,
            unplaced,
            chosen,
            plan,
            roster=options.roster,
            student=options.student,
            deadline=options.deadline,
            compared=compared,
        )
        _write(book, store, options.formats)
    return Done(book, kept)


def _once(found: list[Submission], unplaced: list[Unplaced]) -> tuple[list[Submission], list[Unplaced]]:
    """Two folders that the roster gives to one student must not both have a solution of one exercise."""
    seen: dict[tuple[str, str], list[Submission]] = {}
    for one in found:
        seen.setdefault((one.student, one.exercise), []).append(one)
    for (student, exercise), many in seen.items():
        if len(many) > 1:
            reason = f"is one of {len(many)} solutions of {exercise} by {student}, none of which is graded; keep one"
            unplaced = [*unplaced, *(Unplaced(one.place, student, reason) for one in many)]
    unplaced = sorted(unplaced, key=lambda one: (one.place, one.reason))
    return sorted(
        (many[0] for many in seen.values() if len(many) == 1), key=lambda s: (s.student, s.exercise)
    ), unplaced


def _graded(
    options: Options,
    found: Sequence[Submission],
    every: dict[str, Exercise],
    store: Store,
    say: Callable[[str], None],
) -> tuple[list[tuple[Submission, Result]], int, Plan]:
    """Every submission with its result, how many of them held from before, and how the others were run."""
    results: dict[int, Result] = {}
    if not options.force:
        for i, one in enumerate(found):
            kept = store.kept(one, every[one.exercise], options.limits)
            if kept is not None:
                results[i] = kept
    kept_count = len(results)
    left = [i for i in range(len(found)) if i not in results]
    tasks = [(found[i], every[found[i].exercise]) for i in left]
    times = _Times(store)
    jobs = max(1, min(options.jobs, len(tasks)))
    secret = Kept(
        _checks(options.hidden, options.checks),
        sorted({_file_of(one.place) for one in found}),
        [str(store.root.resolve())],
    )
    with prepared(options.limits, jobs, secret, without=options.without, say=say) as plan:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        progress = Progress(sys.stderr, len(tasks)) if terminal else None
        try:
            for index, result, seconds in pool.run(tasks, plan, jobs):
                submission = tasks[index][0]
                store.keep(submission, result)
                times.add(submission, seconds)
                results[left[index]] = result
                if progress is not None:
                    progress.step(submission.student)
        finally:
            times.write()
            if progress is not None:
                progress.clear()
    return [(one, results[i]) for i, one in enumerate(found)], kept_count, plan


def _checks(*own: str | None) -> list[str]:
    """The files that no solution may read: the lab's, and those in folders of the course's own."""
    roots = [Path(str(files("checks"))).resolve(), *(Path(folder).resolve() for folder in own if folder is not None)]
    return [str(path) for root in roots for path in sorted(root.rglob("*.json"))]


def _file_of(place: str) -> str:
    """The file that a submission is in: itself, or the zip that it is a part of."""
    path = Path(place).absolute()
    return str(next((part for part in (path, *path.parents) if part.is_file()), path))


class _Times:
    """times.json: what differs from run to run, kept away from the results."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.root / "times.json"
        self._seconds: dict[str, float] = _seconds_before(self._path)

    def add(self, submission: Submission, seconds: float) -> None:
        self._seconds[f"{submission.student}/{submission.exercise}"] = seconds

    def write(self) -> None:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        seconds = dict(sorted(self._seconds.items()))
        self._store.write(self._path, to_json({"graded_at": now, "seconds": seconds}))


def _seconds_before(path: Path) -> dict[str, float]:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return dict(json.loads(path.read_text("utf-8"))["seconds"])
    return {}


def _write(book: Gradebook, store: Store, formats: Sequence[str]) -> None:
    root = store.root
    store.write(root / "report.html", report_html(book))
    for student in book.students:
        store.write(root / FEEDBACK / f"{file_name(student.key)}.txt", feedback(book, student))
    if "json" in formats:
        store.write(root / "summary.json", to_json(to_document(book)))
    if "csv" in formats:
        store.write(root / "grades.csv", grades_csv(book))
    if "junit" in formats:
        store.write(root / "junit.xml", junit(book))
    if book.compared is not None:
        store.write(root / "compared.json", to_json({"schema_version": 1, **book.compared}))
    if "gradescope" in formats:
        for student in book.students:
            path = root / GRADESCOPE / file_name(student.key) / "results.json"
            document: dict[str, Any] | None = gradescope(book, student)
            if document is None:
                path.unlink(missing_ok=True)
            else:
                store.write(path, to_json(document))
