"""Exercises and hidden checks of a course's own, in folders that are not part of the lab."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lab.errors import InputError
from lab.exercises import Exercise, load, load_all, more_hidden
from lab.staff.validate import folders
from lab.values import shown


def exercises(hidden: str | None, checks: str | None = None) -> dict[str, Exercise]:
    """The exercises, with the checks in the folder `hidden` among their hidden ones.

    checks: the folder of the exercises, if it is not the lab's
    The folder has ``<exercise>.json`` or ``<exercise>/hidden.json``, in the form of an exercise's own hidden.json.
    Raises InputError.
    """
    found = load_all() if checks is None else {folder.name: load(folder) for folder in folders(checks)}
    if hidden is None:
        return found
    folder = Path(hidden)
    if not folder.is_dir():
        raise InputError("is no folder; name the one with the extra checks", source=hidden, field="--hidden")
    files = {entry: entry.stem for entry in folder.glob("*.json")}
    files |= {entry: entry.parent.name for entry in folder.glob("*/hidden.json")}
    if not files:
        raise InputError("has no checks; write <exercise>.json in it, as an exercise's hidden.json", source=hidden)
    for path, name in sorted(files.items()):
        found[name] = _with(found, name, path)
    return found


def _with(found: Mapping[str, Exercise], name: str, path: Path) -> Exercise:
    if name not in found:
        raise InputError(f"there is no exercise {shown(name)}; there are {', '.join(found)}", source=str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); check its permissions", source=str(path)) from None
    return more_hidden(found[name], data, str(path))
