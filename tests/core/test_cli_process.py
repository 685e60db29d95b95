"""The console script as a process of its own: exit statuses, pipes, signals, imports."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from drive import COURSE, said_of_the_core, trace_of

from lab.formats.trace_json import dump_trace

pytestmark = pytest.mark.cpython_only("starts a process")

ROOT = COURSE.parents[1]
LAB = [sys.executable, "-m", "lab.cli"]

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes as POSIX has them")


def start(*arguments, **options):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*LAB, *map(str, arguments)], cwd=ROOT, **streams)


def finish(process):
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, out.decode() if out else "", err.decode() if err else ""


def endless(tmp_path):
    """A trace whose replay takes for ever."""
    path = tmp_path / "endless.json"
    trace = trace_of(("a", 0, 1, 2**53 - 2), max_num_seqs=1, num_pages=1, page_size=2**53 - 1)
    path.write_text(dump_trace(trace), "utf-8")
    return path


def test_replay():
    status, out, err = finish(start("replay", COURSE))
    assert (status, err) == (0, said_of_the_core())
    assert "utilization            61%          86%" in out


def test_a_bad_call_is_one_line():
    status, out, err = finish(start("replay", "none.json"))
    assert (status, out, err) == (2, "", "none.json: there is no such file; check the path\n")


def test_output_is_utf_8_whatever_the_locale(tmp_path):
    path = tmp_path / "t.json"
    trace = trace_of(("ä", 0, 1, 1), max_num_seqs=1, num_pages=1, page_size=4)
    path.write_text(dump_trace(trace), "utf-8")
    for flags in (["--json"], ["--events", "-"]):
        environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
        status, out, _ = finish(start("replay", path, *flags, env=environment))
        assert status == 0
        assert '"ä"' in out


@on_posix
def test_a_closed_pipe_is_quiet(tmp_path):
    process = start("replay", endless(tmp_path), "--events", "-")
    assert process.stdout.readline().startswith(b'{"policy":"static","iteration":1,')
    process.stdout.close()
    process.stdout = None
    assert finish(process) == (141, "", "")


@on_posix
def test_ctrl_c_is_quiet_and_leaves_no_file(tmp_path):
    path = endless(tmp_path)
    process = start("replay", path, "--events", tmp_path / "e.jsonl")
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".e.jsonl.*.tmp")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "", "")
    assert [entry.name for entry in tmp_path.iterdir()] == ["endless.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line():
    for flags in (["--json"], ["--events", "-"]):
        with Path("/dev/full").open("w") as full:
            status, _, err = finish(start("replay", COURSE, *flags, stdout=full))
        assert (status, err.count("\n")) == (2, 1)
        assert "No space left on device" in err
    status, _, err = finish(start("replay", COURSE, "--events", "/dev/full"))
    assert (status, err) == (2, "/dev/full: cannot be written (No space left on device); choose another path\n")


def test_the_core_runs_without_the_app_and_without_site_packages(tmp_path):
    # -S and -I leave only the standard library; a folder with nothing but lab stands before it.
    (tmp_path / "lab").symlink_to(ROOT / "lab", target_is_directory=True)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from lab.cli import main\n"
        f"status = main(['replay', {str(COURSE)!r}, '--json'])\n"
        "assert not {'app', 'panel', 'bokeh', 'numpy', 'torch'} & set(sys.modules)\n"
        "sys.exit(status)"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    status, out, err = finish(process)
    assert (status, err) == (0, said_of_the_core())
    assert out.startswith('{\n  "schema_version": 1,')
