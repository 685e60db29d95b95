"""Every reference and every known mistake, judged in Pyodide as on the page: two interpreters, the site's files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from app.build.fetch import runtime_files
from app.build.node import Runtime, node
from app.build.packages import our_files
from app.build.paths import cache_folder
from app.build.python_folder import for_learners
from app.build.store import Store
from lab.exercises import load_all
from lab.grading.grade import grade_here

HERE = Path(__file__).resolve().parent


def test_every_solution_is_judged_in_pyodide_as_in_cpython(tmp_path: Path) -> None:
    ours = our_files()
    assert not [name for name in ours if "reference" in name or "hidden" in name or "wrong" in name]
    for side, files in (("judge", ours), ("learner", for_learners(ours))):
        for name, content in files.items():
            path = tmp_path / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    exercises = load_all()
    solutions = [
        (exercise, source)
        for exercise in exercises.values()
        for source in (exercise.reference or "", exercise.starter, *(wrong.code for wrong in exercise.wrong))
    ]
    pairs = [[exercise.id, source] for exercise, source in solutions]
    (tmp_path / "solutions.json").write_text(json.dumps(pairs), encoding="utf-8")
    with Runtime(runtime_files(Store(cache_folder()))) as runtime:
        done = subprocess.run(
            [node(), str(HERE / "solutions.mjs"), str(runtime.path), str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(results) == len(solutions) > 16
    for (exercise, source), result in zip(solutions, results, strict=True):
        assert result["outcome"] == ("passed" if source == exercise.reference else "failed")
        assert result == json.loads(json.dumps(grade_here(exercise, source, hidden=False)))
