"""What is installed by `pip install .`: every file that git has of the packages, and the core as it can be had."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from lab import core

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lab", "app", "traces", "checks")
NOTE = f"lab/{core.note_name()}"
EXTENSIONS = {f"lab/{core.extension_of(name)}" for name in core.HOT}


@pytest.fixture
def source(tmp_path):
    """A copy of what git has, without what builds have left beside it."""
    listed = ["git", "ls-files", "-z", *PACKAGES, "pyproject.toml", "README.md", "LICENSE"]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in tracked:
        if name and (ROOT / name).is_file():
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "source" / name)
    return tmp_path / "source"


def wheel(source, **variables):
    """Builds; returns what came of it: the name, the files by path, and what was said."""
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "--wheel-dir", str(source.parent), str(source)]
    env = {**os.environ, **variables}
    done = subprocess.run(command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    made = next(source.parent.glob("*.whl"), None)
    assert done.returncode == 0 or made is None, done.stderr
    if made is None:
        return None, {}, done.stdout + done.stderr
    with zipfile.ZipFile(made) as opened:
        return made.name, {name: opened.read(name) for name in opened.namelist()}, done.stdout + done.stderr


def test_the_wheel_holds_every_file_of_the_packages_and_the_compiled_core(source):
    left = source / "build" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}" / "lab"
    left.mkdir(parents=True)
    (left / core.extension_of("lab.no_longer_compiled")).touch()  # of an earlier build
    files = {path.relative_to(source).as_posix() for package in PACKAGES for path in (source / package).rglob("*")}
    name, held, said = wheel(source)
    assert name is not None, said
    assert {file for file in files if (source / file).is_file()} - held.keys() == set()
    compiled = not name.endswith("-py3-none-any.whl")
    assert {file for file in held if file.endswith((".so", ".pyd"))} == (EXTENSIONS if compiled else set())
    assert [file for file in held if file.endswith((".c", ".o"))] == []
    assert [file for file in source.rglob("*.c") if "build" not in file.parts] == []
    assert [*json.loads(held[NOTE])] == (["sources", "extensions"] if compiled else ["without"])
    if os.environ.get(core.ASKED) == core.COMPILED:  # as in CI
        assert compiled, said


def test_where_nothing_compiles_the_wheel_is_pure_and_one_line_says_so(source):
    name, held, said = wheel(source, CC=shutil.which("false"), SERVING_LAB_CORE="")
    assert name.endswith("-py3-none-any.whl"), said
    assert [file for file in held if file.endswith((".so", ".pyd", ".c"))] == []
    (line,) = [line.strip() for line in said.splitlines() if "pure Python core" in line]
    why = json.loads(held[NOTE])["without"]
    assert line == f"serving-lab: pure Python core: {why}"
    assert why.startswith("it did not compile when it was installed (")


def test_what_is_required_and_cannot_be_had_ends_the_build(source):
    name, _, said = wheel(source, CC="no-such-compiler", SERVING_LAB_CORE="compiled")
    assert name is None
    lines = {line.strip() for line in said.splitlines() if line.strip().startswith("serving-lab:")}
    (line,) = lines
    assert line.startswith("serving-lab: SERVING_LAB_CORE=compiled cannot be had: no C compiler (no-such-compiler) was")
