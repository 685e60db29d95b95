"""Where a machine offers less, grades are right all the same, nothing stays behind, and what does not hold is said."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from classroom import AS_ROOT, LAB, PAGES, RIGHT, ROOT, boxes, gone, grade, result, write
from hostile import FIRST, HOSTILE, solution

pytestmark = [
    pytest.mark.cpython_only("starts processes"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layers are Linux's"),
]

NAMESPACES = "user_namespace,process_namespace,network_namespace,ipc_namespace,own_root"
SPOILS = ("daemon", "fork_bomb", "memory_in_many_processes", "exit_at_once", "write_everywhere", "fill_the_disk")
FACTS = {
    "read_the_checks": "checks_unreadable",
    "read_others_work": "others_work_unreadable",
    "connect": "no_network",
    "kill_the_grader": "grader_out_of_reach",
}
NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def _python_for_everybody():
    """A Python that an unprivileged user can start, for a grader that is not root."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        check = [python, "-c", "import sys, json, ctypes, zipfile; sys.exit(sys.version_info < (3, 11))"]
        try:
            if subprocess.run(check, cwd="/", capture_output=True, timeout=60, **AS_NOBODY).returncode == 0:
                return python
        except (OSError, subprocess.SubprocessError):
            continue
    return None


def _as_nobody():
    if not AS_ROOT:
        return LAB, {}
    python = _python_for_everybody()
    if python is None or not os.access(ROOT, os.R_OK):
        pytest.skip("no Python here that an unprivileged user can start")
    return [python, "-m", "lab.cli"], AS_NOBODY


def _as_root():
    if not AS_ROOT:
        pytest.skip("needs root, to become an unprivileged user")
    return LAB, {}


def _in_a_container():
    """Root with the capabilities that containers have as a rule: none over namespaces and mounts."""
    given = ["chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service"]
    bounds = ",".join(["-all", *(f"+{name}" for name in given)])
    return ["setpriv", "--bounding-set", bounds, "--inh-caps", "-all", *_as_root()[0]], {}


MODES = {
    "root, nothing but another user": (_as_root, f"{NAMESPACES},landlock,call_filter"),
    "root in a plain container": (_in_a_container, ""),
    "not root, user namespaces": (_as_nobody, ""),
    "not root in a plain container": (_as_nobody, NAMESPACES),
}


@pytest.fixture(scope="module", params=MODES)
def graded(request):
    """The folder written to, stdout, stderr."""
    command, without = MODES[request.param]
    command, options = command()
    base = Path(tempfile.mkdtemp(prefix="serving-lab-test-"))
    base.chmod(0o755)
    here, out = base / "class", base / "out"
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            names = {"here": here, "out": out, "checks": ROOT / "checks", "port": listener.getsockname()[1]}
            for name in (*SPOILS, *FACTS, "leave_a_file", "look_for_files"):
                write(here, {f"{name}/{PAGES}.py": solution(HOSTILE[name][0], **names)})
            write(here, {f"honest/{PAGES}.py": RIGHT})
            if AS_ROOT:
                for path in [base, *base.rglob("*")]:
                    os.chown(path, NOBODY, NOBODY)
            before = boxes()
            arguments = [here, "--out", out, "--jobs", 2, "--timeout", 1, "--without", without]
            status, said, err = grade(*arguments, command=command, **options)
        assert status == 1, err
        assert gone(before)
        yield out, said, err
    finally:
        shutil.rmtree(base)


def test_honest_work_is_graded(graded):
    found = result(graded[0], "honest")
    assert (found["outcome"], found["points"]) == ("passed", 27)


@pytest.mark.parametrize("name", SPOILS)
def test_harm_is_a_result(graded, name):
    found = result(graded[0], name)
    first = next(check for check in found["checks"] if check["name"] == FIRST)
    assert first["outcome"] in (*HOSTILE[name][1], "stopped"), first["message"]
    assert found["outcome"] != "grader_error"


@pytest.mark.parametrize("name", FACTS)
def test_what_is_said_of_the_isolation_is_true(graded, name):
    out, said, _ = graded
    found = result(out, name)
    first = next(check for check in found["checks"] if check["name"] == FIRST)
    holds = found["isolation"][FACTS[name]]
    assert (first["outcome"] == "passed") == holds or (name == "connect" and not holds), first["returned"]
    assert (FACTS[name] in said) == (not holds)


def test_what_is_off_is_said_once(graded):
    out, said, err = graded
    isolation = result(out, "honest")["isolation"]
    assert isolation["limits"] and isolation["no_new_privileges"] and isolation["own_session"]
    for line in err.splitlines():
        if line.startswith("isolation: "):
            assert err.count(line) == 1
    off = [name for name, holds in isolation.items() if not holds]
    assert all(name in said for name in off)


def test_nobody_finds_what_another_left(graded):
    out, *_ = graded
    found = result(out, "look_for_files")
    if found["isolation"]["writes_only_inside"]:
        assert found["outcome"] == "passed"
    assert [path for path in map(Path, ("/tmp", "/var/tmp", "/dev/shm")) if (path / "left-behind").exists()] == []
