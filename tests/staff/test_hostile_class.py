"""A class in which everybody does harm: every outcome is right, everybody else is graded, and nothing stays behind."""

import os
import socket
import stat
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from classroom import PAGES, RIGHT, ROOT, WRONG, boxes, gone, grade, result, write
from hostile import FIRST, HOSTILE, WHOLE, solution

pytestmark = [
    pytest.mark.cpython_only("starts processes"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is refused is Linux's to refuse"),
]

LEFT_BEHIND = [Path(folder) / "left-behind" for folder in ("/tmp", "/var/tmp", "/dev/shm", "/")]


@pytest.fixture(scope="module")
def hostile_class(tmp_path_factory):
    """Everything was graded once: the folder written to, stdout and stderr, and the folder of work."""
    here = tmp_path_factory.mktemp("class")
    out = tmp_path_factory.mktemp("graded") / "out"
    listener = socket.create_server(("127.0.0.1", 0))
    names = {"here": here, "out": out, "checks": ROOT / "checks", "port": listener.getsockname()[1]}
    for name, (body, _) in HOSTILE.items():
        write(here, {f"{name}/{PAGES}.py": solution(body, **names)})
    for name, (content, _) in WHOLE.items():
        write(here, {f"{name}/{PAGES}.py": content})
    write(here, {f"honest/{PAGES}.py": RIGHT, f"mistaken/{PAGES}.py": WRONG, "secret.txt": "secret"})
    _odd_files(here)
    before = boxes()
    temporary = {path.name for path in Path(tempfile.gettempdir()).glob("serving-lab-*")}
    status, said, err = grade(here, "--out", out, "--jobs", 2, "--timeout", 1, "--exercise", PAGES)
    assert status == 1, err
    assert gone(before)
    left = [
        path
        for path in Path(tempfile.gettempdir()).glob("serving-lab-*")
        if path.name not in temporary and path.name.startswith(("serving-lab-grade-", "serving-lab-0", "serving-lab-1"))
    ]
    # A grader that another test runs meanwhile has its folder there too, and takes it away; what is left behind stays.
    patience = time.monotonic() + 60
    while any(path.exists() for path in left) and time.monotonic() < patience:
        time.sleep(0.2)
    assert not [path.name for path in left if path.exists()]
    listener.close()
    return out, said, err, here


def _odd_files(here):
    (here / "a_folder" / f"{PAGES}.py").mkdir(parents=True)
    for name in ("a_link", "a_fifo", "large", "climbing", "bomb"):
        (here / name).mkdir()
    (here / "a_link" / f"{PAGES}.py").symlink_to(here / "honest" / f"{PAGES}.py")
    os.mkfifo(here / "a_fifo" / f"{PAGES}.py")
    with (here / "large" / f"{PAGES}.py").open("wb") as file:
        file.truncate(100_000_000)
    with zipfile.ZipFile(here / "climbing" / "work.zip", "w") as archive:
        archive.writestr(f"../honest/{PAGES}.py", WRONG)
        archive.writestr(f"/etc/{PAGES}.py", WRONG)
    with zipfile.ZipFile(here / "bomb" / "work.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{PAGES}.py", b"#" * 50_000_000)
    with zipfile.ZipFile(here / "linked.zip", "w") as archive:
        info = zipfile.ZipInfo(f"{PAGES}.py")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, str(here / "honest" / f"{PAGES}.py"))


@pytest.mark.parametrize("name", HOSTILE)
def test_harm_costs_the_check_in_which_it_is_done(hostile_class, name):
    out, *_ = hostile_class
    found = result(out, name)
    verdicts = {check["name"]: check for check in found["checks"]}
    first = verdicts.pop(FIRST)
    assert first["outcome"] in HOSTILE[name][1], (first["message"], first["returned"])
    if name not in ("fork_bomb", "patched_builtins", "many_threads"):  # these go on to spoil their own interpreter
        assert {check["name"]: check["message"] for check in verdicts.values() if check["outcome"] != "passed"} == {}
    assert found["points"] == sum(check["points"] for check in found["checks"])
    assert all(check["points"] in (0, check["max_points"]) for check in found["checks"])
    assert found["outcome"] != "grader_error"


@pytest.mark.parametrize("name", WHOLE)
def test_odd_sources(hostile_class, name):
    found = result(hostile_class[0], name)
    assert found["outcome"] == WHOLE[name][1], found["problem"]


def test_honest_work_among_all_that(hostile_class):
    out, *_ = hostile_class
    assert (result(out, "honest")["outcome"], result(out, "honest")["points"]) == ("passed", 27)
    assert result(out, "mistaken")["outcome"] == "failed"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a_folder", "is a folder, and not a file"),
        ("a_link", "is a link to another file"),
        ("a_fifo", "is no regular file"),
        ("large", "has 100 MB"),
        ("bomb", "is larger than"),
        ("linked", "is a link or a device"),
    ],
)
def test_what_is_no_file_of_code_is_told(hostile_class, name, said):
    found = result(hostile_class[0], name)
    assert found["outcome"] == "did_not_run"
    assert said in found["problem"]["message"]


def test_names_that_climb_out_of_a_zip(hostile_class):
    out, *_ = hostile_class
    found = result(out, "climbing")
    assert found["outcome"] == "did_not_run"
    assert "leads out of the zip" in found["problem"]["message"]
    assert result(out, "honest")["points"] == 27


def test_other_files_are_listed_and_not_graded(hostile_class):
    _, said, _, here = hostile_class
    assert f"{here}/secret.txt" in said
    assert "is neither Python nor saved work" in said


def test_no_file_stays_behind(hostile_class):
    assert [path for path in LEFT_BEHIND if path.exists()] == []


def test_what_was_measured_of_the_isolation_is_told(hostile_class):
    out, said, err, _ = hostile_class
    isolation = result(out, "honest")["isolation"]
    assert result(out, "loop")["isolation"] == isolation
    for name, holds in isolation.items():
        if not holds and name not in ("user_namespace", "own_user"):
            assert name in said
    assert isolation["limits"] and isolation["own_session"]
    assert err.count("isolation: without") <= len(isolation)
