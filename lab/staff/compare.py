"""What changed against an earlier run: whose points, and by which checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.grading.report import Result
from lab.staff.attribution import Submission
from lab.staff.store import RESULTS, file_name, read_result

Old = Mapping[tuple[str, str], Result]


def read_old(folder: str) -> Old:
    """The results of the run that wrote to `folder`, by student's file name and exercise. Raises InputError."""
    root = Path(folder) / RESULTS
    if not root.is_dir():
        raise InputError("holds no results; name the --out folder of an earlier run", source=folder, field="--compare")
    found = {(path.parent.name, path.stem): read_result(path) for path in sorted(root.glob("*/*.json"))}
    return {key: result for key, result in found.items() if result is not None}


def compare(old: Old, graded: Sequence[tuple[Submission, Result]]) -> dict[str, Any]:
    """``{"changed": [...], "new": [...], "gone": [...], "same": count}``, in order of student and exercise."""
    changed, new, same = [], [], 0
    left = dict(old)
    for submission, result in graded:
        before = left.pop((file_name(submission.student), submission.exercise), None)
        who = {"student": submission.student, "exercise": submission.exercise}
        if before is None:
            new.append({**who, "after": _brief(result)})
            continue
        checks = _checks(before, result)
        if not checks and _brief(before) == _brief(result):
            same += 1
            continue
        change = {"before": _brief(before), "after": _brief(result), "checks": checks}
        changed.append({**who, "code_changed": before["code_sha256"] != result["code_sha256"], **change})
    gone = [{"student": student, "exercise": exercise} for student, exercise in sorted(left)]
    return {"changed": changed, "new": new, "gone": gone, "same": same}


def _brief(result: Result) -> dict[str, Any]:
    return {key: result[key] for key in ("outcome", "points", "max_points")}


def _checks(before: Result, after: Result) -> list[dict[str, Any]]:
    then = {check["name"]: check for check in before["checks"]}
    now = {check["name"]: check for check in after["checks"]}
    found = []
    for name in [*now, *(name for name in then if name not in now)]:
        one, other = then.get(name), now.get(name)
        told = {
            "name": name,
            "before": one and {"outcome": one["outcome"], "points": one["points"], "max_points": one["max_points"]},
            "after": other and {key: other[key] for key in ("outcome", "points", "max_points")},
        }
        if told["before"] != told["after"]:
            found.append(told)
    return found
