"""`serving-lab checks new`: what it makes is valid as it stands, and what it refuses."""

import json
import shutil

import pytest
from classroom import finish, grade, result, start, write

from lab.exercises import load

pytestmark = pytest.mark.cpython_only("starts processes")


def checks(*arguments):
    return finish(start("checks", *arguments))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    parent = tmp_path_factory.mktemp("course") / "exercises"
    assert checks("new", "reference_counts", "--in", parent) == (
        0,
        f"{parent / 'reference_counts'} is an exercise; its README.md says what each file is for\n",
        "",
    )
    return parent


def test_it_is_valid_with_every_change_to_its_reference(made):
    status, out, err = checks("validate", made)
    assert (status, err) == (0, ""), out
    assert out.startswith("reference_counts: ok; 5 checks, 5 points, 2 known mistakes, 3 mutants")
    exercise = load(made / "reference_counts")
    assert (exercise.name, len(exercise.visible), len(exercise.hidden)) == ("reference_counts", 3, 2)


def test_its_page_names_every_file(made):
    folder = made / "reference_counts"
    page = (folder / "README.md").read_text("utf-8")
    assert page.startswith("# reference_counts\n") and "EXERCISE_ID" not in page
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        assert path.is_dir() or name == "README.md" or name in page or f"`{path.parent.name}/*.py`" in page, name


def test_what_it_refuses(made):
    before = sorted(made.rglob("*"))
    status, out, err = checks("new", "reference_counts", "--in", made)
    assert (status, out, err.count("\n")) == (2, "", 1) and "is there already" in err
    status, out, err = checks("new", "Not-An-Id", "--in", made)
    assert (status, out, err.count("\n")) == (2, "", 1) and "is no id of an exercise" in err
    (made.parent / "file").write_text("")
    status, out, err = checks("new", "fine", "--in", made.parent / "file")
    assert (status, out, err.count("\n")) == (2, "", 1) and "cannot be made" in err
    assert sorted(made.rglob("*")) == before


def test_as_json_and_quickly(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "reference_counts"
    (folder / "reference.py").write_text("def reference_counts(waiting, free_seats:\n", "utf-8")
    (tmp_path / "half_done").mkdir()
    shutil.copy(folder / "starter.py", tmp_path / "half_done")
    (tmp_path / "notes").mkdir()
    status, out, _ = checks("validate", tmp_path, "--quick", "--json")
    half_done, whole = json.loads(out)["exercises"]
    assert status == 1
    assert (half_done["exercise"], whole["exercise"]) == ("half_done", "reference_counts")
    assert half_done["problems"][0].startswith("half_done/exercise.json: cannot be read")
    (problem,) = whole["problems"]  # and not one more for each check
    assert problem.startswith("reference_counts/reference.py: does not run: ")
    assert "mutants" not in whole["text"]


def test_a_course_grades_its_own_exercises(made, tmp_path):
    right = (made / "reference_counts" / "reference.py").read_text("utf-8")
    write(
        tmp_path / "in",
        {"ann/reference_counts.py": right, "bob/reference_counts.py": "def reference_counts(a, b): 1\n"},
    )
    status, _, err = grade(tmp_path / "in", "--out", tmp_path / "out", "--checks", made)
    assert status == 1, err
    found = {name: result(tmp_path / "out", name, "reference_counts") for name in ("ann", "bob")}
    assert {name: (one["points"], one["max_points"]) for name, one in found.items()} == {"ann": (5, 5), "bob": (0, 5)}
    status, _, err = grade(tmp_path / "in", "--out", tmp_path / "out2", "--checks", tmp_path / "in")
    assert (status, "holds no exercise" in err) == (2, True)
