"""Reads saved solutions: one, or the file with all work that the page exports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from lab.errors import InputError
from lab.exercise_values import Fields
from lab.formats.json_text import parse_json
from lab.grading.report import code_sha256
from lab.values import shown

SCHEMA_VERSION = 1
_EXERCISE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved solution. `altered`: its code is not the code that was saved."""

    exercise: str
    code: str
    saved_at: datetime
    altered: bool


def read_saved(data: bytes, source: str) -> list[Saved]:
    """The saved solutions in a file's bytes, at most one for each exercise. Raises InputError."""
    try:
        top = Fields(parse_json(data, source), "the file")
        if top.has("code"):
            return [_saved(top)]
        _version(top)
        found = [_saved(row) for row in top.objects("solutions")]
        top.finish()
        names = [one.exercise for one in found]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"has two solutions of {name}; keep one")
    except InputError as error:
        raise error.at(source=source) from None
    return found


def _version(row: Fields) -> None:
    version = row.take("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise InputError(
            f"must be {SCHEMA_VERSION}, not {shown(version)}; this lab reads {SCHEMA_VERSION}", field="schema_version"
        )


def _saved(row: Fields) -> Saved:
    _version(row)
    exercise, checks, sha256, time = (row.text(key) for key in ("exercise", "checks_sha256", "code_sha256", "saved_at"))
    code = row.take("code")
    row.finish()
    if not _EXERCISE.fullmatch(exercise):
        raise InputError(f"is not the name of an exercise: {shown(exercise)}; export the work again", field="exercise")
    if type(code) is not str:
        raise InputError(f"must be text, not {shown(code)}; export the work again", field="code")
    for key, value in (("checks_sha256", checks), ("code_sha256", sha256)):
        if not _HEX.fullmatch(value):
            raise InputError("is not a SHA-256 in hexadecimal; export the work again", field=key)
    return Saved(exercise, code, time_of(time, "saved_at"), code_sha256(code) != sha256)


def time_of(text: str, field: str) -> datetime:
    """The moment that `text`, in ISO 8601 with its offset from UTC, names. Raises InputError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InputError(
            f"must be a date and time with its offset, not {shown(text)}; write one such as 2026-01-31T23:59:59+01:00",
            field=field,
        )
    return moment
