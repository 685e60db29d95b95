"""Setting up: what is done again, and what is done without."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from app.setup import environment, toolchain

SAID = "  ERROR: No matching distribution found for setuptools>=77\n\nnote: This is likely not a problem with pip.\n"


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Sets up where `core` is there and all else was installed, if it was, and pip ends with `status`.

    Returns pip's arguments, or none where it was not called.
    """
    monkeypatch.delenv("SERVING_LAB_CORE", raising=False)
    monkeypatch.setattr(environment, "VENV", tmp_path / "venv")
    monkeypatch.setattr(environment, "LOCK", tmp_path / "lock")
    (tmp_path / "venv").mkdir()
    monkeypatch.setattr(environment, "works", lambda *command: True)
    monkeypatch.setattr(environment, "ask", lambda code: "why")

    def run(core: str, status: int = 0, installed: bool = True) -> list[str]:
        commands: list[list[str]] = []

        def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
            commands.append(command)
            return subprocess.CompletedProcess(command, status, "", SAID)

        monkeypatch.setattr(environment, "core_now", lambda: core)
        monkeypatch.setattr(subprocess, "run", pip)
        if installed:
            (tmp_path / "venv" / ".installed").write_text(environment.stamp_for("compiled", []))
        environment.main([])
        return [argument for command in commands for argument in command]

    return run


def test_nothing_is_done_twice(setup: Callable[..., list[str]]) -> None:
    assert setup("compiled") == []
    assert "--editable" in setup("pure")  # perhaps a compiler is there now
    assert setup("pure", installed=False) == []  # it has been tried


def test_headers_that_have_come_are_worth_another_try(
    setup: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environment, "ask", lambda code: str(tmp_path))
    assert "--editable" in setup("pure")
    assert setup("pure", installed=False) == []
    (tmp_path / "Python.h").touch()
    assert "--editable" in setup("pure", installed=False)
    assert setup("pure", installed=False) == []


def test_who_asks_for_the_pure_core_changes_nothing(
    setup: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVING_LAB_CORE", "pure")
    assert setup("pure") == []  # beside the compiled one, or not


def test_what_was_cut_off_is_made_again(
    setup: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "works", lambda *command: environment.VENV.exists())
    monkeypatch.setattr(environment, "find_python", lambda: "python3")
    monkeypatch.setattr(environment, "make_environment", lambda python: environment.VENV.mkdir())
    with pytest.raises(SystemExit, match=r"^setup: the lab does not run in .*; .* there says why$"):
        setup("")  # never runs, so once is enough
    said = capsys.readouterr().err
    assert said.count("it is made again") == said.count("making the virtual environment") == 1


def test_where_nothing_can_be_written_what_is_there_runs(
    setup: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(environment, "LOCK", tmp_path / "file" / "lock")
    assert setup("compiled") == []
    assert capsys.readouterr().err == ""
    assert setup("outdated") == []
    assert "setup: the pure Python core runs, since nothing can be compiled here: " in capsys.readouterr().err
    with pytest.raises(SystemExit, match=r"^setup: .*; the lab sets itself up in a folder that it can write to$"):
        setup("")


@pytest.mark.parametrize("core", ["outdated", "pure"])
def test_the_core_alone_is_compiled_again_and_done_without(
    setup: Callable[..., list[str]], core: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--no-deps" in setup(core, status=1)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"setup: the pure Python core runs, since pip could not compile: {SAID.splitlines()[0].strip()}"
    monkeypatch.setenv("SERVING_LAB_CORE", "compiled")
    with pytest.raises(SystemExit, match="pip could not install the lab"):
        setup(core, status=1)


def test_what_is_not_installed_is_not_done_without(setup: Callable[..., list[str]]) -> None:
    for core in ("", "outdated"):
        with pytest.raises(SystemExit, match="pip could not install the lab"):
            setup(core, status=1, installed=False)


def test_what_failed_is_tried_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []
    for name in ("CI", "SERVING_LAB_CORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SERVING_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(toolchain, "emcc", lambda: "/usr/bin/emcc")
    monkeypatch.setattr(toolchain, "host_python", lambda: None)
    monkeypatch.setattr(toolchain, "bring_python", lambda: tries.append("uv"))
    seen = [toolchain.in_reach()]
    for _ in range(2):
        toolchain.main()
        seen.append(toolchain.in_reach())
    assert len(tries) == 1
    monkeypatch.setattr(toolchain, "host_python", lambda: toolchain.HostPython("python", tmp_path))
    toolchain.main()
    assert len(tries) == 1
    seen.append(toolchain.in_reach())
    assert seen == [seen[0], seen[1], seen[1], seen[0]] and seen[0] != seen[1]
