"""A run that was interrupted and started again loses nothing, and ends with the same bytes."""

import os
import signal
import sys
import time

import pytest
from classroom import PAGES, RIGHT, WRONG, boxes, finish, gone, grade, start, tree, write
from hostile import HOSTILE, solution

pytestmark = [
    pytest.mark.cpython_only("starts processes"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

FORMATS = ("--format", "json,gradescope,csv,junit", "--timeout", "1")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A small class, and the files of a run that nobody interrupted."""
    here = tmp_path_factory.mktemp("work")
    for number in range(10):
        write(here, {f"class/s{number:02}/{PAGES}.py": RIGHT if number % 2 else WRONG})
    write(here, {f"class/s03/{PAGES}.py": solution(HOSTILE["daemon"][0])})
    write(here, {f"class/s05/{PAGES}.py": solution(HOSTILE["sleep"][0])})
    assert grade(here / "class", "--out", here / "whole", *FORMATS)[0] == 1
    return here


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_nothing_is_lost(work, number, tmp_path):
    before = boxes()
    out = tmp_path / "out"
    process = start("grade", work / "class", "--out", out, "--jobs", 2, *FORMATS)
    deadline = time.monotonic() + 60
    while len(list(out.glob("results/*/*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, number)
    status, _, err = finish(process)
    assert status == (130 if number == signal.SIGINT else -signal.SIGKILL)
    if number == signal.SIGINT:
        assert "what is graded is kept" in err
    assert gone(before)
    assert not (out / "report.html").exists()
    status, said, err = grade(work / "class", "--out", out, "--jobs", 2, *FORMATS)
    assert status == 1, err
    assert "unchanged since an earlier run" in said
    assert tree(out) == tree(work / "whole")


def test_the_order_in_which_solutions_end_changes_nothing(work, tmp_path):
    assert grade(work / "class", "--out", tmp_path / "out", "--jobs", 1, *FORMATS)[0] == 1
    assert tree(tmp_path / "out") == tree(work / "whole")


def test_two_runs_do_not_write_to_one_folder(work, tmp_path):
    first = start("grade", work / "class", "--out", tmp_path / "out", *FORMATS)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "results").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    status, _, err = grade(work / "class", "--out", tmp_path / "out", *FORMATS)
    assert (status, "another run writes there" in err) == (2, True)
    assert finish(first)[0] == 1
