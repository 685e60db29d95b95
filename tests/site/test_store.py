"""The cache: what is damaged is absent, and what is written is whole."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from app.build import paths
from app.build.store import Store, write_atomically


def test_an_entry_comes_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("kind", "any key / at all", b"content")
    assert store.get("kind", "any key / at all") == b"content"
    assert store.get("kind", "another") is None
    assert store.get("other kind", "any key / at all") is None


def test_a_damaged_entry_is_absent_and_gone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("kind", "key", b"content")
    path = store.path("kind", "key")
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert store.get("kind", "key") is None
    assert not path.exists()


def test_a_reader_never_sees_a_part_while_others_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([byte]) * 300_000 for byte in range(8)]
    write_atomically(path, contents[0])
    writers = [
        threading.Thread(target=lambda c=content: [write_atomically(path, c) for _ in range(20)])
        for content in contents
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_bytes() in contents
    for writer in writers:
        writer.join()
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"], "temporary files are gone"


def test_the_folder_is_the_one_named_or_the_checkouts_or_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVING_LAB_CACHE", str(tmp_path / "named"))
    assert paths.cache_folder() == tmp_path / "named"
    monkeypatch.delenv("SERVING_LAB_CACHE")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "serving-lab"\n')
    assert paths.cache_folder() == tmp_path / ".cache"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "something-else"\n')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert paths.cache_folder() == tmp_path / "xdg" / "serving-lab"
