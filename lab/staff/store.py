"""The folder that a run writes to: one file a result, each whole or not there, so that a run can be taken up again."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.exercises import Exercise
from lab.files import whole_file
from lab.grading.report import Result, code_sha256, lab_version
from lab.staff.attribution import Submission
from lab.staff.grading import UNUSABLE
from lab.staff.plan import Limits

RESULTS, FEEDBACK, GRADESCOPE = "results", "feedback", "gradescope"
LOCK = ".lock"
_LEFTOVER = re.compile(r"\..*\.[0-9a-f]{8}\.tmp")


def file_name(student: str) -> str:
    """`student` as the name of a file: the same wherever that can be, and never another student's."""
    plain = re.sub(r"[^\w.@+-]", "_", student).lstrip(".")[:80]
    if plain == student:
        return plain
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def to_json(value: Any) -> str:
    """`value` as the JSON of a file: the same bytes for the same value."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


class Store:
    """The folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, student: str, exercise: str) -> Path:
        """Where the result of a submission is."""
        return self.root / RESULTS / file_name(student) / f"{exercise}.json"

    def kept(self, submission: Submission, exercise: Exercise, limits: Limits) -> Result | None:
        """The result of `submission` from an earlier run, if it still holds: same code, checks, lab and limits."""
        found = read_result(self.path(submission.student, submission.exercise))
        if found is None or found.get("outcome") == "grader_error":
            return None
        expected = {
            "exercise": exercise.id,
            "code_sha256": code_sha256(submission.source),
            "checks_sha256": exercise.checks_sha256(hidden=True),
            "lab_version": lab_version(),
            "limits": limits.document(),
        }
        if any(found.get(key) != value for key, value in expected.items()):
            return None
        problem = found.get("problem") or {}
        message = str(problem.get("message", ""))
        said = message if message.startswith(UNUSABLE) else ""
        return found if said == (f"{UNUSABLE}{submission.problem}." if submission.problem else "") else None

    def keep(self, submission: Submission, result: Result) -> None:
        """Write a result."""
        self.write(self.path(submission.student, submission.exercise), to_json(result))

    def write(self, path: Path, text: str) -> None:
        """Write a file of the folder, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(str(path)) as out:
            out.write(text)


def read_result(path: Path) -> Result | None:
    """The result in the file at `path`; None if there is none that can be read."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    shape = ("exercise", "code_sha256", "checks_sha256", "lab_version", "outcome", "points", "max_points", "checks")
    return found if isinstance(found, dict) and all(key in found for key in shape) else None


@contextlib.contextmanager
def opened(folder: str) -> Iterator[Store]:
    """The store in `folder`, which is made if need be, for this run alone. Raises InputError.

    Nobody else can read what is written: it holds the hidden checks.
    """
    root = Path(folder)
    os.umask(0o077)
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror}); choose another folder", source=folder) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("another run writes there; wait for it, or choose another folder", source=folder) from None
        for leftover in root.rglob("*.tmp"):
            if _LEFTOVER.fullmatch(leftover.name):
                leftover.unlink(missing_ok=True)
        yield Store(root)
    finally:
        os.close(lock)
