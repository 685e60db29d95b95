"""Makes the folder of a new exercise: whole, valid, and with a page that says what each file is for."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.exercises import check_id
from lab.files import whole_file

ROWS = (
    ("Some have to wait", "visible", (5, 3), 2, "Three of five may start."),
    ("Seats are left over", "visible", (2, 3), 0, "Nobody waits when there are seats for all."),
    ("Exactly as many as seats", "visible", (3, 3), 0, "Every seat is taken and nobody is left."),
    ("Nobody is there", "hidden", (0, 4), 0, "An empty queue stays empty."),
    ("No seat is free", "hidden", (7, 0), 7, "Everybody waits."),
)
"""The checks of the example: name, visibility, arguments, expected value, hint. One point each."""

STARTER = '''\
def {id}(waiting, free_seats):
    """How many of the waiting requests still wait once the free seats are taken."""
    return waiting
'''
REFERENCE = '''\
def {id}(waiting, free_seats):
    """How many of the waiting requests still wait once the free seats are taken."""
    return max(0, waiting - free_seats)
'''
BELOW_ZERO = """\
def {id}(waiting, free_seats):
    return waiting - free_seats
"""
NOBODY_ENTERS = """\
def {id}(waiting, free_seats):
    return waiting if waiting > free_seats else 0
"""

README = "new_exercise.md"
"""The file beside this one that a new exercise gets as its README.md, with its own id in the place of ID."""

ID = "EXERCISE_ID"


def new_exercise(exercise_id: str, parent: Path) -> Path:
    """Make the folder `exercise_id` in `parent`, and return it. Raises InputError if there is one, or it cannot be."""
    check_id(exercise_id)
    folder = parent / exercise_id
    if folder.exists():
        raise InputError("is there already; choose another id, or another folder with --in", source=str(folder))
    try:
        (folder / "wrong").mkdir(parents=True)
    except OSError as error:
        raise InputError(
            f"cannot be made ({error.strerror or error}); choose another place", source=str(folder)
        ) from None
    for name, content in files_of(exercise_id).items():
        with whole_file(str(folder / name)) as out:
            out.write(content)
    return folder


def files_of(exercise_id: str) -> dict[str, str]:
    """The files of a new exercise, by path in its folder."""
    code = {
        "starter.py": STARTER,
        "reference.py": REFERENCE,
        "wrong/below_zero.py": BELOW_ZERO,
        "wrong/nobody_enters.py": NOBODY_ENTERS,
    }
    data = {
        "exercise.json": _exercise(exercise_id),
        "checks.json": _checks(exercise_id, "visible"),
        "hidden.json": _checks(exercise_id, "hidden"),
        "wrong/expected.json": _expected(),
    }
    readme = files("lab.staff").joinpath(README).read_text(encoding="utf-8")
    return (
        {"README.md": readme.replace(ID, exercise_id)}
        | {name: text.format(id=exercise_id) for name, text in code.items()}
        | {name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in data.items()}
    )


def _exercise(exercise_id: str) -> dict[str, Any]:
    counts = {kind: sum(row[1] == kind for row in ROWS) for kind in ("visible", "hidden")}
    return {
        "schema_version": 1,
        "title": exercise_id.replace("_", " ").capitalize(),
        "entry": {"name": exercise_id, "kind": "function"},
        "statement": [
            "Requests wait for a seat. Each free seat takes one of them.",
            "Write how many still wait once the free seats are taken.",
        ],
        "signature": f"{exercise_id}(waiting, free_seats)",
        "inputs": [
            {"name": "waiting", "type": "int, 0 or more", "text": "requests in the queue"},
            {"name": "free_seats", "type": "int, 0 or more", "text": "seats that nobody has"},
        ],
        "returns": [{"name": "still waiting", "type": "int, 0 or more", "text": "requests that got no seat"}],
        "rule": "what is left of waiting after free_seats were taken, and never less than 0",
        "example": {"arguments": [5, 3], "expected": 2, "text": "Three of the five get a seat."},
        "hints": ["How many get a seat, at most?", "There are never fewer than 0 requests: max(0, …) sees to that."],
        "points": counts,
        "hidden_checks": counts["hidden"],
        "approach": "Subtract, and stop at 0.",
    }


def _checks(exercise_id: str, visibility: str) -> dict[str, Any]:
    rows = []
    for name, seen, arguments, expected, hint in ROWS:
        if seen != visibility:
            continue
        row: dict[str, Any] = {
            "name": name,
            "visibility": seen,
            "points": 1,
            "arguments": list(arguments),
            "expected": expected,
            "hint": hint,
        }
        if expected == 0 and arguments[0] < arguments[1] and seen == "visible":
            cause = "There are more seats than requests: the difference is below 0, and a count never is."
            row["causes"] = [{"at": [], "is": arguments[0] - arguments[1], "because": cause}]
        rows.append(row)
    return {"schema_version": 1, "exercise": exercise_id, "checks": rows}


def _expected() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "wrong": {
            "below_zero.py": {
                "mistake": "Lets the queue become shorter than empty.",
                "caught_by": ["Seats are left over"],
                "says": "below 0",
            },
            "nobody_enters.py": {
                "mistake": "Forgets that some of the waiting get a seat also where not all do.",
                "caught_by": ["Some have to wait"],
                "says": "expected 2",
            },
        },
    }
