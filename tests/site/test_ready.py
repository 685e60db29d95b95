"""`serve` builds when something changed, and only then."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.build.out import NAME, SITE_FILE
from app.build.site import Site
from app.build.store import sha256_hex
from app.serve import inputs, ready
from app.serve.site_folder import is_whole, open_site


def small() -> Site:
    page, packed = b"page " * 500, b"packed"
    facts = {"bytes": len(page), "sha256": sha256_hex(page), "br": {"bytes": len(packed), "sha256": sha256_hex(packed)}}
    document = {"site": NAME, "version": "1", "frame_ancestors": [], "files": {"index.html": facts}}
    files = {SITE_FILE: json.dumps(document).encode(), "index.html": page}
    return Site("1", files, {"index.html.br": packed})


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A list that grows with each build; sources are in tmp_path/sources, the cache in tmp_path/cache."""
    made: list[int] = []

    def make(*_: object) -> Site:
        made.append(len(made))
        return small()

    source = tmp_path / "sources" / "lab" / "engine.py"
    source.parent.mkdir(parents=True)
    source.write_text("1")
    monkeypatch.setenv("SERVING_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ready, "make_site", make)
    monkeypatch.setattr(inputs, "ROOT", tmp_path / "sources")
    yield made


def test_a_second_start_builds_nothing(builds: list[int]) -> None:
    assert ready.ready_site() == ready.ready_site()
    assert len(builds) == 1


def test_an_edit_is_built_and_going_back_costs_nothing(builds: list[int], tmp_path: Path) -> None:
    source = tmp_path / "sources" / "lab" / "engine.py"
    first = ready.ready_site()
    source.write_text("2")
    assert ready.ready_site() != first
    source.write_text("1")
    assert ready.ready_site() == first
    assert len(builds) == 2


def test_a_new_file_counts_and_what_python_left_behind_does_not(builds: list[int], tmp_path: Path) -> None:
    first = ready.ready_site()
    cached = tmp_path / "sources" / "lab" / "__pycache__" / "engine.cpython-311.pyc"
    cached.parent.mkdir()
    cached.write_bytes(b"")
    assert ready.ready_site() == first
    (tmp_path / "sources" / "lab" / "new.py").write_text("")
    assert ready.ready_site() != first


@pytest.mark.parametrize("name", ["index.html", "index.html.br", SITE_FILE])
def test_a_damaged_site_is_built_again(builds: list[int], name: str) -> None:
    folder = ready.ready_site()
    (folder / name).write_bytes(b"damaged")
    assert not is_whole(folder)
    assert ready.ready_site() == folder
    assert is_whole(folder)
    assert len(builds) == 2


def test_a_site_with_a_missing_file_is_built_again(builds: list[int]) -> None:
    folder = ready.ready_site()
    (folder / "index.html").unlink()
    ready.ready_site()
    assert is_whole(folder)


def test_sites_that_nobody_asked_for_are_forgotten(builds: list[int], tmp_path: Path) -> None:
    source = tmp_path / "sources" / "lab" / "engine.py"
    folders = []
    for text in ("old", "recent", "now"):
        source.write_text(text)
        folders.append(ready.ready_site())
        if text == "old":
            long_ago = time.time() - (ready.KEPT_DAYS + 1) * 24 * 3600
            os.utime(folders[0], (long_ago, long_ago))
    assert [folder.exists() for folder in folders] == [False, True, True]


def test_versions_of_what_is_shipped_count(builds: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    first = inputs.fingerprint()
    assert inputs.fingerprint() == first
    assert inputs.fingerprint("another setting") != first
    version = inputs.importlib.metadata.version
    monkeypatch.setattr(
        inputs.importlib.metadata, "version", lambda name: version(name) + (".1" if name == "panel" else "")
    )
    assert inputs.fingerprint() != first


def test_what_compiles_the_core_counts(builds: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for asked, emcc in (("", None), ("", "/usr/bin/emcc"), ("compiled", None), ("pure", None)):
        monkeypatch.setenv("SERVING_LAB_CORE", asked)
        monkeypatch.setattr(inputs.toolchain, "emcc", lambda emcc=emcc: emcc)
        found.add(inputs.fingerprint())
    assert len(found) == 4


def test_a_folder_is_opened_as_the_list_says(builds: list[int]) -> None:
    site = open_site(ready.ready_site())
    assert site is not None
    assert set(site.forms) == {"index.html", SITE_FILE}
    assert set(site.forms["index.html"]) == {"", "br"}
    assert len({form.etag for form in site.forms["index.html"].values()}) == 2
