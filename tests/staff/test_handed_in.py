"""Whose each file is, of which exercise, and what is listed instead: files, folders, exports, zips."""

import json
import os

import pytest
from classroom import EXERCISES, PAGES, RIGHT, STEP, export, saved, write, zipped

from lab.errors import InputError
from lab.staff.attribution import attribute
from lab.staff.handed_in import Names, collect
from lab.staff.saved import read_saved

pytestmark = pytest.mark.cpython_only("lab.staff is not in the browser")

NAMES = Names(list(EXERCISES))
STEPS = "def scheduler_step(running, waiting, free_pages, max_num_seqs=3, page_size=16):\n    return {}\n"


def found(*paths, only=None, student=None):
    """(student, exercise) of each submission, and (student, reason) of what is listed."""
    submissions, unplaced = attribute(collect([str(path) for path in paths], NAMES, student), EXERCISES, only)
    return [(one.student, one.exercise) for one in submissions], [(one.student, one.reason) for one in unplaced]


@pytest.mark.parametrize(
    ("name", "student", "exercise"),
    [
        ("allocate_kv_pages", None, PAGES),
        ("allocate_kv_pages (1)", None, PAGES),
        ("Allocate_KV_Pages-2", None, PAGES),
        ("alice", "alice", None),
        ("alice-allocate_kv_pages", "alice", PAGES),
        ("smithjane_LATE_123_456_scheduler_step-1", "smithjane_LATE_123_456", STEP),
        ("scheduler_step_alice", "alice", STEP),
        ("serving-lab-work-2026-01-31", None, None),
        ("alice serving-lab-work-2026-01-31 (2)", "alice", None),
        ("solution", None, None),
        ("a.b@c.example", "a.b@c.example", None),
    ],
)
def test_names(name, student, exercise):
    assert NAMES.read(name) == (student, exercise)


def test_a_folder_a_student(tmp_path):
    write(
        tmp_path,
        {
            f"alice/{PAGES}.py": RIGHT,
            f"alice/{STEP}.py": STEPS,
            "bob/my solution.py": RIGHT,
            "carol/deep/er/work.py": RIGHT + STEPS,
            "dave/notes.txt": "",
            "erin/helper.py": "x = 1",
            ".git/x.py": RIGHT,
            "__pycache__/x.py": RIGHT,
        },
    )
    submissions, unplaced = found(tmp_path)
    assert submissions == [
        ("alice", PAGES),
        ("alice", STEP),
        ("bob", PAGES),
        ("carol", PAGES),
        ("carol", STEP),
    ]
    assert [student for student, _ in unplaced] == ["dave", "erin"]


def test_a_folder_of_files(tmp_path):
    write(
        tmp_path, {"alice.py": RIGHT, f"bob_{STEP}.py": STEPS, "carol.json": export(saved(RIGHT), saved(STEPS, STEP))}
    )
    assert found(tmp_path)[0] == [("alice", PAGES), ("bob", STEP), ("carol", PAGES), ("carol", STEP)]


def test_one_students_own_folder_and_file(tmp_path):
    write(tmp_path, {f"alice/{PAGES}.py": RIGHT})
    assert found(tmp_path / "alice")[0] == [("alice", PAGES)]
    assert found(tmp_path / "alice" / f"{PAGES}.py")[0] == [("alice", PAGES)]
    assert found(tmp_path / "alice", student="Alice B.")[0] == [("Alice B.", PAGES)]


def test_a_folder_an_exercise(tmp_path):
    write(tmp_path, {f"{PAGES}/alice.py": RIGHT, f"{PAGES}/bob.py": RIGHT, f"{STEP}/alice.py": STEPS})
    assert found(tmp_path)[0] == [("alice", PAGES), ("alice", STEP), ("bob", PAGES)]


def test_zips(tmp_path):
    write(
        tmp_path,
        {
            "work/alice.zip": zipped({f"{PAGES}.py": RIGHT, "__MACOSX/._x": b""}),
            "work/bob/all.zip": zipped({"src/x.py": STEPS}),
            "class.zip": zipped({f"class/carol/{PAGES}.py": RIGHT, "class/dave/d.zip": zipped({"y.py": RIGHT})}),
            "flat.zip": zipped({"erin.zip": zipped({f"{PAGES}.py": RIGHT}), "frank.py": RIGHT}),
        },
    )
    assert found(tmp_path / "work")[0] == [("alice", PAGES), ("bob", STEP)]
    assert found(tmp_path / "class.zip")[0] == [("carol", PAGES), ("dave", PAGES)]
    assert found(tmp_path / "flat.zip")[0] == [("erin", PAGES), ("frank", PAGES)]


def test_a_zip_that_is_none_and_one_that_nests(tmp_path):
    nest = zipped({f"{PAGES}.py": RIGHT})
    for _ in range(5):
        nest = zipped({"inner.zip": nest})
    write(tmp_path, {"alice/x.zip": b"PK\x03\x04 nonsense", "bob/x.zip": nest})
    submissions, unplaced = found(tmp_path)
    assert submissions == []
    assert ("alice", "is no zip that can be read") in unplaced
    assert ("bob", "is a zip too deep inside others") in unplaced


def test_what_a_zip_declares_of_a_size_is_not_believed(tmp_path):
    data = bytearray(zipped({f"{PAGES}.py": b"#" * 5_000_000}))
    real = (5_000_000).to_bytes(4, "little")
    while real in data:
        at = data.index(real)
        data[at : at + 4] = (100).to_bytes(4, "little")
    write(tmp_path, {"alice/x.zip": bytes(data)})
    submissions, _ = attribute(collect([str(tmp_path)], NAMES), EXERCISES)
    assert [one.problem for one in submissions] != [""]


def test_one_exercise_for_everything(tmp_path):
    write(tmp_path, {"alice/x.py": "y = 1\n", "bob/a.py": RIGHT, "bob/b.py": "y = 1\n", f"carol/{STEP}.py": STEPS})
    submissions, unplaced = found(tmp_path, only=PAGES)
    assert submissions == [("alice", PAGES), ("bob", PAGES)]
    assert [student for student, _ in unplaced] == ["bob"]  # what is named for another exercise is not asked for


def test_two_different_files_are_listed_and_neither_is_graded(tmp_path):
    write(tmp_path, {"alice/a.py": RIGHT, "alice/b.py": RIGHT + "\n", "bob/a.py": RIGHT, "bob/b.py": RIGHT})
    submissions, unplaced = found(tmp_path)
    assert submissions == [("bob", PAGES)]
    assert [reason for _, reason in unplaced] == [
        f"is one of 2 different files for {PAGES}, none of which is graded; keep one"
    ] * 2


def test_of_exports_the_newest_counts(tmp_path):
    old, new = saved("old"), saved(RIGHT, saved_at="2026-01-02T04:04:05+00:00")
    write(tmp_path, {"alice/work.json": export(new), "alice/work (1).json": export(old)})
    submissions, unplaced = attribute(collect([str(tmp_path)], NAMES), EXERCISES)
    assert [one.source for one in submissions] == [RIGHT]
    assert "older" in unplaced[0].reason


def test_an_edited_export_is_graded_and_noted(tmp_path):
    write(tmp_path, {"alice.json": json.dumps(saved(RIGHT, code_sha256="0" * 64))})
    (one,), _ = attribute(collect([str(tmp_path)], NAMES), EXERCISES)
    assert one.source == RIGHT
    assert "edited" in one.notes[0]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object"),
        ("{}", "schema_version"),
        (export(saved(RIGHT) | {"extra": 1}), "unknown key"),
        (export(saved(RIGHT), saved(RIGHT)), "two solutions"),
        (export(saved(RIGHT, saved_at="yesterday")), "saved_at"),
        (export(saved(RIGHT) | {"code": 5}), "code"),
        (export(saved(RIGHT, checks_sha256="x")), "checks_sha256"),
        (export(saved(RIGHT)).replace('"schema_version": 1', '"schema_version": 2'), "schema_version"),
    ],
)
def test_exports_that_are_none(document, said):
    with pytest.raises(InputError, match=said):
        read_saved(document.encode(), "work")


def test_a_student_who_is_a_link(tmp_path):
    write(tmp_path, {f"alice/{PAGES}.py": RIGHT})
    (tmp_path / "bob").symlink_to(tmp_path / "alice")
    (tmp_path / f"carol_{PAGES}.py").symlink_to(tmp_path / "alice" / f"{PAGES}.py")
    submissions, unplaced = attribute(collect([str(tmp_path)], NAMES), EXERCISES)
    assert [(one.student, bool(one.problem)) for one in submissions] == [("alice", False), ("carol", True)]
    assert [(one.student, one.reason) for one in unplaced] == [
        ("bob", "is a link to another file, which is not followed")
    ]


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    write(tmp_path, {f"alice/{PAGES}.py": RIGHT})

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # root, who runs tests too, may read everything
    (one,), _ = attribute(collect([str(tmp_path)], NAMES), EXERCISES)
    assert "cannot be read" in one.problem


def test_names_that_are_no_text(tmp_path):
    folder = os.fsencode(tmp_path) + b"/al\xff\xfeice"
    write(os.fsdecode(folder), {f"{PAGES}.py": RIGHT})
    (one,), _ = attribute(collect([str(tmp_path)], NAMES), EXERCISES)
    assert one.student == "al\\udcff\\udcfeice"
    assert one.source == RIGHT.encode()
    one.place.encode()


def test_what_is_written_to_is_no_work(tmp_path):
    write(tmp_path, {f"alice/{PAGES}.py": RIGHT, f"out/results/alice/{PAGES}.json": "{}"})
    submissions, unplaced = attribute(collect([str(tmp_path)], NAMES, None, tmp_path / "out"), EXERCISES)
    assert ([one.student for one in submissions], unplaced) == (["alice"], [])


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="check the path"):
        found(tmp_path / "nowhere")
