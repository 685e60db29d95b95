"""`serving-lab build`, as far as it is not the site itself: its options, its refusals, its last line."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.build import command, paths
from app.build.content import Content
from app.build.errors import BuilderFault
from app.build.out import NAME, SITE_FILE
from app.build.paths import ROOT
from app.build.site import Site

COMMAND = [sys.executable, "-c", "import sys; from lab.cli import main; sys.exit(main())", "build"]


def call(*options: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(options))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The frame ancestors of each site that was made."""
    asked: list[Any] = []

    def make(store: object, quality: int, ancestors: list[str], content: Content) -> Site:
        asked.append(ancestors)
        return Site("1", {SITE_FILE: f'{{"site": "{NAME}"}}'.encode(), "index.html": b"page"}, {})

    monkeypatch.setattr(command, "make_site", make)
    return asked


def test_it_builds_and_says_what_is_there(made: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--out", str(tmp_path / "site"), "--allow-frame", "https://Courses.example.org:8443/") == 0
    assert made == [["https://courses.example.org:8443"]]
    assert (tmp_path / "site" / "index.html").read_bytes() == b"page"
    last = capsys.readouterr().err.splitlines()[-1]
    assert str(tmp_path / "site") in last and "2 files" in last


@pytest.mark.parametrize(
    "text",
    [
        *("courses.example.org", "https://", "*", "'unsafe-inline'", "https://a.example/path", "https://a.example?x"),
        *("https://a.example; script-src *", "https://a.example https://b.example", "javascript:1", "https://a:b"),
        *("https://user@a.example", "", "https://a.example\nx"),
    ],
)
def test_what_is_no_origin_is_refused_before_anything_is_made(
    made: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert call("--out", str(tmp_path / "site"), "--allow-frame", text) == 2
    said = capsys.readouterr().err
    assert "is not an origin" in said and said.count("\n") == 1
    assert made == []


@pytest.mark.parametrize(
    ("text", "is_origin"),
    [
        ("https://courses.example.org", "https://courses.example.org"),
        ("http://127.0.0.1:8888", "http://127.0.0.1:8888"),
        ("https://*.example.org", "https://*.example.org"),
    ],
)
def test_what_is_an_origin(text: str, is_origin: str) -> None:
    assert command.origin(text) == is_origin


def test_somebodys_folder_is_refused_before_anything_is_made(
    made: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    assert call("--out", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert "not a site built by serving-lab" in said and said.count("\n") == 1
    assert made == []


def test_a_fault_of_ours_has_a_status_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> Site:
        raise BuilderFault("trace.mjs failed")

    monkeypatch.setattr(command, "make_site", fail)
    assert call("--out", str(tmp_path / "site")) == 3
    assert "trace.mjs failed" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_without_node_one_line_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--out", str(tmp_path / "site")],
        capture_output=True,
        text=True,
        env={"PATH": "", "SERVING_LAB_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 2
    assert "needs Node.js" in done.stderr and done.stderr.count("\n") == 1


def test_without_a_home_a_folder_for_the_cache_is_asked_for(
    made: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "in_checkout", lambda: False)
    for name in ("HOME", "XDG_CACHE_HOME", "SERVING_LAB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000)  # nobody that the system knows
    assert call("--out", str(tmp_path / "site")) == 2
    said = capsys.readouterr().err.strip()
    assert "SERVING_LAB_CACHE" in said and "\n" not in said
    monkeypatch.setenv("SERVING_LAB_CACHE", str(tmp_path / "cache"))
    assert call("--out", str(tmp_path / "site")) == 0
