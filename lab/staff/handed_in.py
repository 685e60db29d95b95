"""Everything that was handed in: the files in files, folders and zips, each with whose it seems to be.

Nothing is executed, no link is followed, no zip is unpacked to a disk, and nothing is read beyond a bound.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lab.errors import InputError, printable
from lab.grading.show import printable as printable_text
from lab.staff import zips

BIGGEST_CODE = 2_000_000
BIGGEST_EXPORT = 16_000_000
DEEPEST = 8
MOST_FILES = 5_000
"""Files that one student's folder may have."""

_JUNK = re.compile(r"\.|__MACOSX$|__pycache__$|Thumbs\.db$|desktop\.ini$")
_COPY = r"(?:[ ._-]*\(?\d{1,3}\)?)?"
_EXPORT = re.compile(r"(?P<student>.*?)[ ._-]*serving-lab-work(?:-\d{4}-\d\d-\d\d)?" + _COPY, re.IGNORECASE)
_NOBODYS = ("solution", "submission", "main", "answer", "code")


@dataclass(frozen=True, slots=True)
class File:
    """A file that was handed in.

    student:  by the folder or the file's name; None where neither says
    exercise: by the file's name, or None
    place:    where it is, for people
    data:     its bytes; None if it cannot be used, and then `problem` says why
    saved_at: the file's own time of change, or None
    """

    student: str | None
    exercise: str | None
    place: str
    name: str
    data: bytes | None
    problem: str = ""
    saved_at: datetime | None = None


class Names:
    """Tells students and exercises from names of files."""

    def __init__(self, exercises: Sequence[str]) -> None:
        either = "|".join(map(re.escape, exercises)) or "(?!)"
        self._last = re.compile(f"(?P<student>.*?)[ ._-]*(?P<exercise>{either}){_COPY}", re.IGNORECASE)
        self._first = re.compile(f"(?P<exercise>{either})[ ._-]+(?P<student>.*[^0-9() ._-].*)", re.IGNORECASE)

    def read(self, name: str) -> tuple[str | None, str | None]:
        """The student and the exercise that `name` (without its ending) names."""
        for pattern in (self._last, self._first):
            if match := pattern.fullmatch(name):
                return match["student"].strip() or None, match["exercise"].lower()
        if match := _EXPORT.fullmatch(name):
            return match["student"].strip() or None, None
        return (None if name.lower() in _NOBODYS else name), None

    def student(self, name: str) -> str:
        """The student that a folder or a zip of this name belongs to."""
        return self.read(name)[0] or name

    def is_exercise(self, name: str) -> bool:
        """Whether a folder of this name is of an exercise, and not of a student."""
        student, exercise = self.read(name)
        return student is None and exercise is not None


def collect(paths: Sequence[str], names: Names, student: str | None = None, skip: Path | None = None) -> Iterator[File]:
    """The files in `paths`, in order of path. `student`: whose everything is, if that is known.

    skip: a folder that is no part of it, wherever it lies: what is written to
    Raises InputError for a path that is not there.
    """
    for file in _collect(paths, names, student, skip):
        whose = file.student and printable_text(file.student)
        yield replace(file, student=whose, place=printable_text(file.place), name=printable_text(file.name))


def _collect(paths: Sequence[str], names: Names, student: str | None, skip: Path | None) -> Iterator[File]:
    for path in paths:
        here = Path(path)
        try:
            mode = here.stat().st_mode
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be read ({reason}); check the path", source=path) from None
        if stat.S_ISDIR(mode) and not _is_code(here.name):
            yield from _folder(here, student or _name_of(here), names, student, skip)
        elif here.suffix.lower() == ".zip" and stat.S_ISREG(mode):
            yield from _class_zip(here, names, student)
        else:
            yield from _one(here, student, _name_of(here.absolute().parent), names)


def _name_of(path: Path) -> str:
    return path.resolve().name or "student"


def _folder(folder: Path, name: str, names: Names, student: str | None, skip: Path | None) -> Iterator[File]:
    """A folder named by the one who grades: of students' folders, of students' files, or of one student."""
    for entry in sorted(folder.iterdir()):
        if _JUNK.match(entry.name) or entry.resolve() == skip:
            continue
        if not entry.is_dir() or entry.is_symlink() or _is_code(entry.name):
            yield from _one(entry, student, name, names)
        elif names.is_exercise(entry.name):  # a folder of one exercise: of files of students, or of this student
            yield from _folder(entry, name, names, student, skip)
        else:
            yield from _everything(entry, student or names.student(entry.name), names, 1)


def _everything(folder: Path, student: str, names: Names, depth: int) -> Iterator[File]:
    """Everything in one student's folder."""
    count = 0
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield File(student, None, str(folder), folder.name, None, f"cannot be read ({error.strerror})")
        return
    for entry in entries:
        if _JUNK.match(entry.name):
            continue
        count += 1
        if count > MOST_FILES:
            yield File(student, None, str(folder), folder.name, None, f"has more than {MOST_FILES} files")
            return
        if entry.is_dir() and not entry.is_symlink() and not _is_code(entry.name):
            if depth >= DEEPEST:
                yield File(student, None, str(entry), entry.name, None, "is a folder too deep inside others")
            else:
                yield from _everything(entry, student, names, depth + 1)
        else:
            yield from _one(entry, student, student, names)


def _is_code(name: str) -> bool:
    return name.lower().endswith(".py")


def _one(path: Path, student: str | None, otherwise: str, names: Names) -> Iterator[File]:
    """One file, of `student`, else of whom its name says, else of `otherwise`."""
    named, exercise = names.read(path.stem)
    student = student or named or otherwise
    place, suffix = str(path), path.suffix.lower()
    if suffix == ".zip":
        data, problem, _ = _read(path, zips.BIGGEST)
        if data is None:
            yield File(student, None, place, path.name, None, problem)
        else:
            yield from _members(data, place, names, lambda parts: (student, student))
        return
    data, problem, saved_at = _read(path, BIGGEST_EXPORT if suffix == ".json" else BIGGEST_CODE)
    yield File(student, exercise, place, path.name, data, problem, saved_at)


def _class_zip(path: Path, names: Names, student: str | None) -> Iterator[File]:
    """A zip named by the one who grades: like a folder of that name."""
    data, problem, _ = _read(path, zips.BIGGEST)
    if data is None:
        raise InputError(f"{problem}; unpack it", source=str(path))
    named = student or names.read(path.stem)[0] or path.stem
    top = zips.common_folder(data)

    def whose(parts: tuple[str, ...]) -> tuple[str | None, str]:
        inside = parts[1:] if top is not None and parts[0] == top else parts
        if student or len(inside) < 2 or names.is_exercise(inside[0]):
            return student, named
        return names.student(inside[0]), named

    yield from _members(data, str(path), names, whose)


def _members(data: bytes, place: str, names: Names, whose: zips.Whose) -> Iterator[File]:
    for member in zips.members(data, BIGGEST_CODE, BIGGEST_EXPORT, whose):
        path = Path(member.name)
        named, exercise = names.read(path.stem)
        where = f"{place}/{printable(member.name)}" if member.name else place
        student = (names.student(member.student) if member.student else named) or member.otherwise
        yield File(student, exercise, where, path.name, member.data, member.problem)


def _read(path: Path, most: int) -> tuple[bytes | None, str, datetime | None]:
    """The bytes of a regular file, or None and why not; and its time of change."""
    try:
        if path.is_symlink():
            return None, "is a link to another file, which is not followed", None
        if path.is_dir():
            return None, "is a folder, and not a file", None
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return None, f"cannot be read ({reason})", None
    with contextlib.closing(os.fdopen(descriptor, "rb")) as file:
        state = os.fstat(descriptor)
        saved_at = datetime.fromtimestamp(int(state.st_mtime), UTC)
        if not stat.S_ISREG(state.st_mode):
            return None, "is no regular file", None
        if state.st_size > most:
            return None, too_large(state.st_size, most), saved_at
        data = file.read(most + 1)
        return (data, "", saved_at) if len(data) <= most else (None, too_large(len(data), most), saved_at)


def too_large(size: int, most: int) -> str:
    """Why a file of `size` bytes is not read."""
    return f"has {size / 1e6:.0f} MB, and at most {most / 1e6:.0f} MB are read"
