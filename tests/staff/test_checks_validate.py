"""`serving-lab checks validate`: the shipped exercises are in order, and a spoilt one is told of line by line."""

import json
import shutil

import pytest
from classroom import PAGES, ROOT, STEP, finish, start

from lab.exercises import load_all
from lab.staff.mutants import mutants

pytestmark = pytest.mark.cpython_only("starts processes")


def validate(*arguments):
    return finish(start("checks", "validate", *arguments))


def change(path, **changes):
    document = json.loads(path.read_text("utf-8"))
    document.update(changes)
    path.write_text(json.dumps(document), "utf-8")


def test_the_shipped_exercises_are_in_order():
    status, out, err = validate()
    assert (status, err) == (0, ""), out
    for name, exercise in load_all().items():
        assert f"{name}: ok; {len(exercise.checks(hidden=True))} checks" in out
        assert f"{len(list(mutants(exercise.reference)))} mutants" in out
    assert list(load_all()) == [PAGES, STEP]


def test_a_spoilt_exercise(tmp_path):
    folder = tmp_path / PAGES
    shutil.copytree(ROOT / "checks" / PAGES, folder)
    visible = json.loads((folder / "checks.json").read_text("utf-8"))["checks"]
    few = [check for check in visible if check["arguments" if "arguments" in check else "calls"] == [33, 16]]
    few.append({**visible[1], "points": 0})
    change(folder / "checks.json", checks=few)
    (folder / "hidden.json").unlink()
    change(folder / "exercise.json", points={"visible": 2, "hidden": 0}, hidden_checks=0)
    for path in (folder / "wrong").glob("*.py"):
        if path.name not in ("floor_division.py", "float_ceiling.py"):
            path.unlink()
    rows = json.loads((folder / "wrong" / "expected.json").read_text("utf-8"))["wrong"]
    kept = {name: rows[name] for name in ("floor_division.py", "float_ceiling.py")}
    kept["floor_division.py"]["says"] = "something else"
    change(folder / "wrong" / "expected.json", wrong=kept)
    (folder / "starter.py").write_text("def allocate_kv_pages(:\n", "utf-8")
    listed = [{"mutant": "line 9: nothing → something", "because": "It changes nothing."}]
    (folder / "reference_mutants.json").write_text(json.dumps({"schema_version": 1, "equivalent": listed}), "utf-8")

    status, out, err = validate(tmp_path)
    assert status == 1
    for said in (
        "gives no points; give it 1 or more",
        f"{PAGES}/starter.py: does not run",
        f"{PAGES}/wrong/floor_division.py: '33 tokens on pages of 16' says",
        "without the words 'something else'",
        f"{PAGES}/wrong/float_ceiling.py: passes every visible check",
        f"{PAGES}/wrong/float_ceiling.py: is to be caught by",
        f"{PAGES}/reference.py: no check catches the change in line 1: 16 → 17",
        "lists line 9: nothing → something, and there is no such mutant",
    ):
        assert said in err
    assert f"{PAGES}: {err.count(chr(10))} problems" in out


def test_a_reference_that_does_not_pass(tmp_path):
    shutil.copytree(ROOT / "checks" / PAGES, tmp_path / PAGES)
    shutil.copy(ROOT / "checks" / PAGES / "wrong" / "floor_division.py", tmp_path / PAGES / "reference.py")
    status, out, err = validate(tmp_path / PAGES)
    assert status == 1
    assert f"{PAGES}/reference.py: does not pass '33 tokens on pages of 16'" in err
    assert "its mutants were not tried" in out


@pytest.mark.parametrize(
    ("change_it", "said"),
    [
        (lambda folder: (folder / "exercise.json").write_text("{", "utf-8"), "exercise.json: line 1"),
        (lambda folder: change(folder / "exercise.json", points={"visible": 3, "hidden": 11}), "the sum of the checks"),
        (lambda folder: change(folder / "exercise.json", hints=[]), "hints"),
        (lambda folder: change(folder / "checks.json", more=1), "unknown key"),
    ],
)
def test_what_cannot_be_read(tmp_path, change_it, said):
    shutil.copytree(ROOT / "checks" / PAGES, tmp_path / PAGES)
    change_it(tmp_path / PAGES)
    status, _, err = validate(tmp_path / PAGES)
    assert (status, err.count("\n")) == (1, 1)
    assert said in err


def test_a_folder_without_exercises(tmp_path):
    status, _, err = validate(tmp_path)
    assert (status, "holds no exercise" in err) == (2, True)
