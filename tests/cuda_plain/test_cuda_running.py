"""The child process of a replay: it ends well, dies, hangs, babbles, is stopped, and its parent stands."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from made_up import course_job, measurement

from lab.cuda import running as running_module
from lab.cuda.running import OUTCOMES, Running

FAKE = [sys.executable, str(Path(__file__).with_name("fake_child.py"))]


def start(how: str, *more: str, seconds: float = 60) -> Running:
    return Running(course_job(compare=False), seconds, [*FAKE, how, *more])


def ended(how: str, *more: str, seconds: float = 60):
    running = start(how, *more, seconds=seconds)
    events = list(running.events())
    assert running.ending is not None and running.ending.outcome in OUTCOMES
    assert "\n" not in running.ending.message
    return events, running.ending


def gone(pid: int) -> bool:
    """Whether a process has ended, also when nobody has asked for its exit status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def soon(condition, seconds: float = 10) -> bool:
    limit = time.monotonic() + seconds
    while not condition() and time.monotonic() < limit:
        time.sleep(0.02)
    return condition()


def test_progress_notices_and_a_result():
    events, ending = ended("result")
    assert [event["event"] for event in events] == ["progress", "notice", "progress"]
    assert (ending.outcome, ending.message) == ("done", "")
    assert ending.measurement == measurement(course_job(compare=False))


@pytest.mark.parametrize(
    ("how", "outcome", "words"),
    [
        ("signal", "crashed", "killed by SIGKILL); it last said: CUDA error: an illegal memory access"),
        ("exit", "crashed", "exit status 7"),
        ("garbage", "fault", "no event"),
        ("too-small", "device", "GPU 0 is too small."),
        ("input", "refused", "too large to be replayed"),
    ],
)
def test_how_else_it_can_end(how, outcome, words):
    _, ending = ended(how)
    assert (ending.outcome, ending.measurement) == (outcome, None)
    assert words in ending.message


@pytest.mark.parametrize("how", ["hang", "deaf"])
def test_one_that_takes_too_long_is_stopped(how):
    running = start(how, seconds=1)
    list(running.events())
    assert running.ending.outcome == "timed_out"
    assert "more than 1 s" in running.ending.message
    assert running._process.returncode is not None


def test_one_that_is_done_and_lingers_is_seen_off(monkeypatch):
    monkeypatch.setattr(running_module, "GRACE_SECONDS", 0.2)
    running = start("lingers")
    list(running.events())
    assert running.ending.outcome == "done"
    assert running._process.returncode is not None


def test_a_cancelled_one_ends_with_what_it_had_started(tmp_path):
    running = start("family", str(tmp_path / "pid"))
    for event in running.events():
        if event.get("stage") == "compiling":
            threading.Thread(target=running.cancel).start()
    assert running.ending.outcome == "cancelled"
    assert soon(lambda: gone(int((tmp_path / "pid").read_text())))


def test_whoever_stops_listening_stops_it():
    running = start("hang")
    events = running.events()
    next(events)
    events.close()
    assert running.ending.outcome == "cancelled"
    assert running._process.returncode is not None


def test_more_events_than_a_pipe_holds_all_arrive():
    events, ending = ended("chatty")
    assert ending.outcome == "done"
    assert len(events) == 20002


def test_a_program_that_is_not_there_is_an_error_of_the_call():
    with pytest.raises(OSError):
        Running(course_job(), 10, ["/no/such/program"])


def test_the_child_ends_when_its_parent_does():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from made_up import course_job; import json, subprocess\n"
        "from lab.cuda.spawn import python_command, python_environment\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import sys, threading, time; from lab.cuda import child; "
        "threading.Thread(target=child._leave_with_parent).start(); time.sleep(600)'], stdin=subprocess.PIPE, "
        "env=python_environment(), stdout=subprocess.DEVNULL)\n"
        "print(child.pid, flush=True)\n"
        "import os; os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True, timeout=60
    )
    assert soon(lambda: gone(int(done.stdout)))


def test_the_real_child_says_in_one_sentence_what_is_missing():
    code = (
        "import ctypes, sys; from lab.cuda import child\n"
        "def no_library(name): raise OSError(name)\n"
        "import lab.cuda.detect as detecting; real = detecting.detect\n"
        "detecting.detect = lambda **more: real(no_library, **more)\n"
        "sys.exit(child.main())"
    )
    running = Running(course_job(), 60, [sys.executable, "-c", code])
    list(running.events())
    assert running.ending.outcome == "device"
    assert running.ending.message.startswith("There is no NVIDIA driver on this machine")


def test_on_a_cpu_pytorch_is_all_that_may_be_missing():
    code = (
        "import sys; from lab.cuda import child\n"
        "child.importlib.util.find_spec = lambda name: None\n"
        "sys.exit(child.main())"
    )
    running = Running(course_job(device=-1), 60, [sys.executable, "-c", code])
    list(running.events())
    assert running.ending.outcome == "device"
    assert running.ending.message.startswith("PyTorch is not installed: pip install")


def test_the_real_child_refuses_a_log_that_a_gpu_cannot_repeat(tmp_path):
    code = (
        "import sys; from lab.cuda import child; from lab.errors import InputError\n"
        "def run(job, tell): print('noise from a library'); raise InputError('is too large', place='static')\n"
        "child.run = run; sys.exit(child.main())"
    )
    running = Running(course_job(), 60, [sys.executable, "-c", code])
    assert list(running.events()) == []
    assert (running.ending.outcome, running.ending.message) == ("refused", "static: is too large")


@pytest.mark.parametrize(
    ("raised", "outcome", "words"),
    [
        ("RuntimeError('CUDA error: boom')", "fault", "The replay failed (RuntimeError: CUDA error: boom)"),
        ("type('OutOfMemoryError', (Exception,), {})('x')", "device", "memory did not suffice"),
        ("child.DeviceError('GPU 1 is too small.')", "device", "GPU 1 is too small."),
    ],
)
def test_what_goes_wrong_inside_the_real_child_is_one_line(raised, outcome, words):
    code = (
        "import sys; from lab.cuda import child\n"
        f"def run(job, tell): raise {raised}\n"
        "child.run = run; sys.exit(child.main())"
    )
    running = Running(course_job(), 60, [sys.executable, "-c", code])
    list(running.events())
    assert running.ending.outcome == outcome
    assert words in running.ending.message
