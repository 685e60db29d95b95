"""Exercises: folders with a statement, starter, reference, saved checks and known mistakes.

``<id>/exercise.json``, ``starter.py``, ``reference.py``, ``checks.json`` (visible checks), ``hidden.json`` (hidden
ones; a built site does not have it), ``wrong/*.py`` with ``wrong/expected.json``. Their JSON Schemas lie beside the
exercises. Everything is checked as it is read; whether the solutions behave as they should is for the tests.
"""

from __future__ import annotations

import hashlib
import json
import keyword
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from lab.errors import InputError
from lab.exercise_files import KINDS, SCHEMA_VERSION, Refuse, read_checks, read_document, read_wrong
from lab.exercise_parts import Call, Cause, Check, Example, Exercise, Field, Replay, Wrong
from lab.formats.json_text import parse_json
from lab.values import shown

__all__ = [
    "HIDDEN",
    "KINDS",
    "PARTS",
    "SCHEMA_VERSION",
    "VISIBLE",
    "Call",
    "Cause",
    "Check",
    "Example",
    "Exercise",
    "Field",
    "Replay",
    "Wrong",
    "check_id",
    "faults",
    "load",
    "load_all",
    "more_hidden",
    "shipped",
]

VISIBLE, HIDDEN = "visible", "hidden"
PARTS = ("exercise.json", "starter.py", "reference.py", "checks.json", "hidden.json", "wrong")
"""What an exercise's folder is known by."""

_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")


def shipped() -> Traversable:
    """The folder with the exercises that come with the lab; in a site, with those of the site."""
    return files("checks")


def load_all(folder: Traversable | None = None) -> dict[str, Exercise]:
    """Every exercise in `folder` (the shipped ones, if None), by id, in order of id.

    Raises InputError for the first file, place or field that is not as it should be.
    """
    root = shipped() if folder is None else folder
    found = [entry for entry in root.iterdir() if entry.is_dir() and entry.joinpath("exercise.json").is_file()]
    return {entry.name: load(entry) for entry in sorted(found, key=lambda entry: entry.name)}


def load(folder: Traversable) -> Exercise:
    """The exercise in `folder`, whose name is its id. Raises the first InputError, naming file, place and field."""
    exercise = _gathered(folder, _raise)
    assert exercise is not None
    return exercise


def faults(folder: Traversable) -> list[InputError]:
    """All that `load` has to say against the exercise in `folder`, not only the first."""
    found: list[InputError] = []
    _gathered(folder, found.append)
    return found


def check_id(text: str) -> str:
    """`text` if it can be an exercise's id: its folder's, its file's and its key's name. Raises InputError."""
    if not _ID.fullmatch(text) or keyword.iskeyword(text):
        raise InputError(
            f"{shown(text)} is no id of an exercise; write small letters, digits and _, beginning with a letter, "
            "at most 64, and no word of Python's own"
        )
    return text


def _raise(error: InputError) -> None:
    raise error


def _gathered(folder: Traversable, refuse: Refuse) -> Exercise | None:
    """The exercise; None if something of it was refused."""
    refused: list[InputError] = []

    def note(error: InputError) -> None:
        refused.append(error)
        refuse(error)

    def tried(source: str, read: Callable[[Refuse], Any], otherwise: Any = None) -> Any:
        """What `read` gives, with its errors noted as of `source`."""
        try:
            return read(lambda error: note(error.at(source=source)))
        except InputError as error:
            note(error.at(source=source))
            return otherwise

    exercise_id = folder.name
    tried(exercise_id, lambda _: check_id(exercise_id))
    document = tried(f"{exercise_id}/exercise.json", lambda bad: read_document(_json(folder, "exercise.json"), bad), {})
    visible_value, visible = tried(
        f"{exercise_id}/checks.json",
        lambda bad: read_checks(_json(folder, "checks.json"), exercise_id, VISIBLE, bad),
        (None, ()),
    )
    hidden_value, hidden = None, ()
    if folder.joinpath("hidden.json").is_file():
        hidden_value, hidden = tried(
            f"{exercise_id}/hidden.json",
            lambda bad: read_checks(_json(folder, "hidden.json"), exercise_id, HIDDEN, bad),
            (None, ()),
        )
    whole = not refused
    starter = tried(f"{exercise_id}/starter.py", lambda _: _text(folder, "starter.py"), "")
    reference = None
    if folder.joinpath("reference.py").is_file():
        reference = tried(f"{exercise_id}/reference.py", lambda _: _text(folder, "reference.py"))
    # Where the hidden checks are not at hand, or not all could be read, a name that is not known may be right.
    names = {check.name for check in (*visible, *hidden)} if whole and hidden else None
    wrong = tried(f"{exercise_id}/wrong/expected.json", lambda bad: _wrong(folder, names, bad), ())
    if refused:
        return None
    exercise = Exercise(
        id=exercise_id,
        **document,
        starter=starter,
        reference=reference,
        visible=visible,
        hidden=hidden,
        wrong=wrong,
        visible_sha256=_sha256(visible_value),
        all_sha256=_sha256([visible_value, hidden_value]),
    )
    for error in _disagreements(exercise):
        note(error.at(source=f"{exercise_id}/exercise.json"))
    return None if refused else exercise


def more_hidden(exercise: Exercise, data: bytes, source: str) -> Exercise:
    """`exercise` with further hidden checks: those in `data`, in the form of a hidden.json. Raises InputError."""
    try:
        value, more = read_checks(parse_json(data, source), exercise.id, HIDDEN, _raise)
        taken = {check.name for check in exercise.checks(hidden=True)}
        for check in more:
            if check.name in taken:
                raise InputError(f"there is a check {shown(check.name)} already; give this one another name")
            taken.add(check.name)
    except InputError as error:
        raise error.at(source=source) from None
    return replace(
        exercise,
        hidden=exercise.hidden + more,
        hidden_points=exercise.hidden_points + sum(check.points for check in more),
        hidden_count=exercise.hidden_count + len(more),
        all_sha256=_sha256([exercise.all_sha256, value]),
    )


def _disagreements(exercise: Exercise) -> list[InputError]:
    """Where what `exercise.json` announces is not what the checks' files hold."""
    found = []
    names: set[str] = set()
    for check in exercise.checks(hidden=True):
        if check.name in names:
            found.append(InputError(f"two checks are called {shown(check.name)}; give each a name of its own"))
        names.add(check.name)
    totals = [("visible", exercise.visible_points, exercise.visible)]
    if exercise.hidden:
        totals.append(("hidden", exercise.hidden_points, exercise.hidden))
        if exercise.hidden_count != len(exercise.hidden):
            found.append(
                InputError(
                    f"must be {len(exercise.hidden)}, as many as there are in hidden.json, "
                    f"not {exercise.hidden_count}; correct it",
                    field="hidden_checks",
                )
            )
    for field, announced, checks in totals:
        total = sum(check.points for check in checks)
        if total != announced:
            found.append(
                InputError(
                    f"must be {total}, the sum of the checks' points, not {announced}; correct it",
                    field=field,
                    place="points",
                )
            )
    return found


def _json(folder: Traversable, name: str) -> Any:
    return parse_json(_bytes(folder, name), f"{folder.name}/{name}")


def _bytes(folder: Traversable, name: str) -> bytes:
    try:
        return folder.joinpath(name).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read ({reason}); add the file", source=f"{folder.name}/{name}") from None


def _text(folder: Traversable, name: str) -> str:
    try:
        return _bytes(folder, name).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; save it as UTF-8", source=f"{folder.name}/{name}") from None


def _wrong(folder: Traversable, names: set[str] | None, refuse: Refuse) -> tuple[Wrong, ...]:
    inside = folder.joinpath("wrong")
    if not inside.is_dir():
        return ()
    value = _json(folder, "wrong/expected.json")
    there = sorted(entry.name for entry in inside.iterdir() if entry.name.endswith(".py"))
    return read_wrong(value, {name: _text(folder, f"wrong/{name}") for name in there}, names, refuse)


def _sha256(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
