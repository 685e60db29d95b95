"""The list of a course's students: a CSV file with a header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.errors import InputError
from lab.formats.json_text import read_bytes
from lab.values import shown

KEYS = (
    "student",
    "id",
    "student id",
    "sid",
    "login",
    "login id",
    "sis login id",
    "username",
    "user",
    "email",
    "e-mail",
)
NAMES = ("name", "full name", "student name", "display name")
_MOODLE = re.compile(r"(?P<name>.+?)_\d+_assignsubmission_.*")


@dataclass(frozen=True, slots=True)
class Roster:
    """names: the name of each student, by the key that results are listed under, in the roster's order

    aliases: other ways in which a student may be called, folded, to the key
    """

    names: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def student(self, found: str) -> str:
        """The roster's key for a student who was found as `found`; `found` itself if the roster has none."""
        match = _MOODLE.fullmatch(found)
        for name in (found, match["name"] if match else found):
            if (key := self.aliases.get(_folded(name))) is not None:
                return key
        return found

    def has(self, student: str) -> bool:
        return student in self.names


def read_roster(path: str) -> Roster:
    """Read the CSV file at `path`. The first known column, else the first, is the key. Raises InputError."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; save it as UTF-8", source=path) from None
    except csv.Error as error:
        raise InputError(f"is not CSV ({error}); mend it", source=path) from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InputError("needs a header and at least one student; write student,name and one a line", source=path)
    header = [_folded(cell) for cell in rows[0]]
    key_at = next((header.index(key) for key in KEYS if key in header), 0)
    name_at = next((header.index(name) for name in NAMES if name in header), None)
    known = [i for i, cell in enumerate(header) if cell in KEYS or cell in NAMES or i == key_at]
    names: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        cells = [cell.strip() for cell in row] + [""] * (len(header) - len(row))
        key = cells[key_at]
        if not key:
            raise InputError(f"has no {rows[0][key_at]}; fill it in", source=path, place=f"row {number}")
        if key in names:
            raise InputError(f"has the student {shown(key)} twice; keep one", source=path, place=f"row {number}")
        names[key] = cells[name_at] if name_at is not None else ""
        for at in known:
            if cells[at]:
                aliases.setdefault(_folded(cells[at]), key)
    # What is somebody's key is nobody else's alias.
    aliases.update({_folded(key): key for key in names})
    return Roster(names, aliases)


def _folded(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())
