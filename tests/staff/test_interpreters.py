"""The Python that runs solutions where an unprivileged user cannot start the grader's own."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from classroom import AS_ROOT, PAGES, RIGHT, grade, result, write

from lab.staff.interpreter import _copy, others, ours

pytestmark = [
    pytest.mark.cpython_only("starts processes"),
    pytest.mark.skipif(not AS_ROOT or not sys.platform.startswith("linux"), reason="needs to become another user"),
]

WALLS = "process_namespace,network_namespace,ipc_namespace,own_root"


@pytest.fixture
def place():
    """A folder that everybody may pass through, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="serving-lab-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(python, *arguments):
    options = {"user": 65534, "group": 65534, "extra_groups": []}
    return subprocess.run([str(python), *arguments], cwd="/", capture_output=True, timeout=60, **options)


def test_a_private_interpreter_is_noticed_once_and_worked_round(place):
    """As with a virtual environment in root's home: the grader runs, and an unprivileged user could not."""
    private = _copy(ours(), str(place))
    assert private is not None
    (place / "python").chmod(0o700)
    with pytest.raises(PermissionError):
        as_nobody(private.python, "-c", "import decimal")
    write(place, {f"class/alice/{PAGES}.py": RIGHT, f"class/bob/{PAGES}.py": RIGHT})
    command = [private.python, "-m", "lab.cli"]
    status, _, err = grade(place / "class", "--out", place / "out", "--without", WALLS, command=command)
    assert status == 0, err
    assert err.count("cannot be used by an unprivileged user; solutions run in") == 1
    assert result(place / "out", "alice")["isolation"]["own_user"]
    # With a root of its own the solution sees the interpreter, whatever folder that is in.
    status, _, err = grade(place / "class", "--out", place / "out", "--force", command=command)
    assert (status, "cannot be used" in err) == (0, not result(place / "out", "alice")["isolation"]["own_root"])


def test_a_copy_can_be_used_by_everybody(place):
    found = {words: interpreter for interpreter, words in others(ours(), str(place))}
    copied = found["a copy of it"]
    assert as_nobody(copied.python, "-S", "-c", "import decimal, ctypes, json, socket, unittest").returncode == 0
    assert copied.version == sys.version_info[:2]
    assert not os.access(copied.python, os.W_OK) or os.geteuid() == 0
    assert (Path(copied.python).stat().st_mode & 0o022) == 0
