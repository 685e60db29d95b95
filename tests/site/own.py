"""Content of an instructor's own, for tests: a trace, and exercises with or without an error."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from lab.staff.new_exercise import new_exercise

ROWS = [("p", 0, 9, 4), ("q", 0, 17, 12), ("r", 1, 8, 6), ("s", 2, 20, 3)]
TRACE: dict[str, Any] = {
    "schema_version": 1,
    "name": "two-seats",
    "title": "Four requests on two seats",
    "source": "Made for CS 123",
    "limits": {"max_num_seqs": 2, "page_size": 8, "num_pages": 12},
    "requests": [dict(zip(("id", "arrival", "prompt_tokens", "output_tokens"), row, strict=True)) for row in ROWS],
}


def write_trace(path: Path, **changes: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**TRACE, **changes}), encoding="utf-8")
    return path


def change(path: Path, **changes: Any) -> None:
    """Change keys of a JSON file; ... takes one away."""
    document = {**json.loads(path.read_text("utf-8")), **changes}
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not ...}), "utf-8")


def break_schema(folder: Path) -> str:
    change(folder / "exercise.json", title=...)
    return f'{folder.name}/exercise.json: lacks the key "title"'


def break_reference(folder: Path) -> str:
    (folder / "reference.py").write_text(f"def {folder.name}(waiting, free_seats):\n    return 2\n", "utf-8")
    return f"{folder.name}/reference.py: does not pass 'Seats are left over'"


def break_wrong(folder: Path) -> str:
    shutil.copy(folder / "reference.py", folder / "wrong" / "below_zero.py")
    return f"{folder.name}/wrong/below_zero.py: is to be caught by 'Seats are left over', which it passes"


def break_hint(folder: Path) -> str:
    checks = json.loads((folder / "checks.json").read_text("utf-8"))["checks"]
    del checks[1]["hint"]
    change(folder / "checks.json", checks=checks)
    return f'{folder.name}/checks.json: check "Seats are left over": lacks the key "hint"'


BREAKS = {
    "schema": break_schema,
    "reference": break_reference,
    "wrong": break_wrong,
    "hint": break_hint,
}


def exercise(parent: Path, exercise_id: str = "reference_counts") -> Path:
    return new_exercise(exercise_id, parent)
