"""What the page knows of the exercises, made when the site is built. Hidden checks go no further than here."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.page.payload import dumps
from lab.exercises import Exercise, load_all
from lab.grading.child.wire import encode
from lab.grading.report import lab_version
from lab.grading.show import show, show_call


def exercises_file(*, solutions: bool = True) -> dict[str, bytes]:
    """File name → content, for the site's assets. `solutions`: whether references may be opened on the page."""
    content = {
        "exercises": [_exercise(exercise, solutions) for exercise in load_all().values()],
        "lab_version": lab_version(),
    }
    return {"exercises.json": dumps(content).encode()}


def _exercise(exercise: Exercise, solutions: bool) -> dict[str, Any]:
    """Plain data. `points` are those of the visible checks, which are what the page runs; `hidden` is a count."""
    arguments = [encode(argument) for argument in exercise.example.arguments]
    return {
        "id": exercise.id,
        "title": exercise.title,
        "name": exercise.name,
        "kind": exercise.kind,
        "drives": exercise.drives,
        "statement": list(exercise.statement),
        "signature": exercise.signature,
        "inputs": [asdict(field) for field in exercise.inputs],
        "returns": [asdict(field) for field in exercise.returns],
        "rule": exercise.rule,
        "example": {
            "call": show_call(exercise.name, arguments),
            "returns": show(encode(exercise.example.expected)),
            "text": exercise.example.text,
        },
        "hints": list(exercise.hints),
        "approach": exercise.approach if solutions else None,
        "starter": exercise.starter,
        "reference": exercise.reference if solutions else None,
        "points": exercise.visible_points,
        "checks_sha256": exercise.checks_sha256(hidden=False),
        "checks": [{"name": check.name, "points": check.points, "hint": check.hint} for check in exercise.visible],
        "hidden": exercise.hidden_count,
        "hidden_points": exercise.hidden_points,
    }
