"""Fetching: every place in turn, only the pinned content believed, every failure said."""

from __future__ import annotations

import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from app.build import fetch, sources
from app.build.errors import BuildError
from app.build.sources import Download, Source
from app.build.store import Store

CONTENT = b"what the wheel holds"
FILE = "thing-1.0-py3-none-any.whl"


def download(*places: Source, content: bytes = CONTENT) -> Download:
    return Download("thing", "1.0", FILE, hashlib.sha256(content).hexdigest(), places)


def file_at(path: Path) -> Source:
    return Source("file", str(path))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good" / FILE
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server's address and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", folder
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_place_that_fails_is_named_and_the_next_is_tried(
    store: Store, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "not-here.whl"
    assert fetch.obtain(download(file_at(missing), file_at(good)), store) == CONTENT
    lines = capsys.readouterr().err.splitlines()
    assert any(str(missing) in line and "No such file" in line for line in lines)


def test_a_server_that_does_not_have_it_is_named_with_its_answer(
    store: Store, good: Path, served: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, _ = served
    assert fetch.obtain(download(Source("folder", url), file_at(good)), store) == CONTENT
    assert f"{url} failed: HTTP 404" in capsys.readouterr().err


def test_an_answer_that_is_cut_short_is_a_failure_of_that_place(
    store: Store, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Short(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"not a thousand bytes")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Short)
    threading.Thread(target=server.handle_request).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    assert fetch.obtain(download(Source("folder", url), file_at(good)), store) == CONTENT
    assert f"{url} failed" in capsys.readouterr().err
    server.server_close()


def test_a_folder_on_a_server_is_asked_for_the_file_by_name(store: Store, served: tuple[str, Path]) -> None:
    url, folder = served
    (folder / FILE).write_bytes(CONTENT)
    assert fetch.obtain(download(Source("folder", url)), store) == CONTENT


def test_a_server_that_is_not_there_is_named(
    store: Store, good: Path, served: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        url = f"http://127.0.0.1:{closed.server_address[1]}/"
    assert fetch.obtain(download(Source("folder", url), file_at(good)), store) == CONTENT
    assert f"{url} failed: " in capsys.readouterr().err


def test_another_file_than_the_pinned_one_is_refused(
    store: Store, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = tmp_path / "forged.whl"
    forged.write_bytes(CONTENT + b"!")
    assert fetch.obtain(download(file_at(forged), file_at(good)), store) == CONTENT
    assert f"{forged} failed: not the file that is pinned" in capsys.readouterr().err


def test_when_no_place_works_one_message_says_what_to_do(store: Store, tmp_path: Path) -> None:
    places = [file_at(tmp_path / "a.whl"), file_at(tmp_path / "b.whl")]
    with pytest.raises(BuildError) as caught:
        fetch.obtain(download(*places), store)
    message = str(caught.value)
    assert "\n" not in message
    assert FILE in message
    assert "2 places" in message
    assert sources.EXTRA_SOURCES in message
    assert caught.value.status == 2


def test_what_was_fetched_is_kept_and_not_fetched_again(store: Store, good: Path) -> None:
    assert fetch.obtain(download(file_at(good)), store) == CONTENT
    good.unlink()
    assert fetch.obtain(download(file_at(good)), store) == CONTENT


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 200], ids=["emptied", "cut", "overwritten"])
def test_a_damaged_cache_heals(store: Store, good: Path, damage: bytes) -> None:
    wanted = download(file_at(good))
    fetch.obtain(wanted, store)
    entry = store.path("downloads", wanted.sha256)
    entry.write_bytes(damage)
    assert fetch.obtain(wanted, store) == CONTENT
    assert store.get("downloads", wanted.sha256) == CONTENT


def test_a_cache_entry_that_is_whole_but_not_the_pinned_file_is_not_believed(store: Store, good: Path) -> None:
    wanted = download(file_at(good))
    store.put("downloads", wanted.sha256, b"something else")
    assert fetch.obtain(wanted, store) == CONTENT


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, good: Path) -> None:
    (tmp_path / "taken").write_text("a file where the cache's folder should be")
    assert fetch.obtain(download(file_at(good)), Store(tmp_path / "taken")) == CONTENT


def test_places_named_by_the_user_come_first(
    store: Store, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    never = file_at(tmp_path / "never-tried.whl")
    assert fetch.obtain(download(never), store, [file_at(good)]) == CONTENT
    assert "never-tried" not in capsys.readouterr().err


def test_a_named_file_is_tried_only_for_what_its_ending_says(
    store: Store, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "runtime.tgz"
    archive.write_bytes(b"")
    assert fetch.obtain(download(file_at(good)), store, [file_at(archive)]) == CONTENT
    assert "runtime.tgz" not in capsys.readouterr().err


def test_the_environment_names_urls_folders_and_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    folder.mkdir()
    monkeypatch.setenv(sources.EXTRA_SOURCES, f"https://example.org/full/ https://example.org/a.whl {tmp_path}")
    assert [(place.kind, place.location) for place in sources.extra_sources()] == [
        ("folder", "https://example.org/full/"),
        ("file", "https://example.org/a.whl"),
        ("folder", str(tmp_path)),
    ]
    monkeypatch.setenv(sources.EXTRA_SOURCES, str(folder))
    assert sources.extra_sources() == (Source("folder", str(folder)),)
    monkeypatch.delenv(sources.EXTRA_SOURCES)
    assert sources.extra_sources() == ()


def test_a_tool_that_is_missing_is_a_place_that_fails(
    store: Store, good: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch.shutil, "which", lambda name: None)
    places = [Source("npm", "thing@1.0"), file_at(good)]
    assert fetch.obtain(download(*places), store) == CONTENT
    said = capsys.readouterr().err
    assert "npm thing@1.0 failed: npm is not installed" in said


def test_the_last_line_of_a_tool_that_failed_is_the_reason(tmp_path: Path) -> None:
    with pytest.raises(fetch.SourceError, match=r"^the reason$"):
        fetch._tool(["sh", "-c", "echo noise >&2; echo the reason >&2; exit 3"], str(tmp_path))


def test_the_runtime_is_unpacked_from_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in {"package/pyodide.mjs": b"loader", "package/pyodide.asm.wasm": b"engine"}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    (tmp_path / "runtime.tgz").write_bytes(packed.getvalue())
    pinned = Download(
        "pyodide",
        "1",
        "runtime.tgz",
        hashlib.sha256(packed.getvalue()).hexdigest(),
        (file_at(tmp_path / "runtime.tgz"),),
    )
    monkeypatch.setattr(sources, "runtime", lambda: pinned)
    monkeypatch.delenv(sources.EXTRA_SOURCES, raising=False)
    assert fetch.runtime_files(store) == {"pyodide.mjs": b"loader", "pyodide.asm.wasm": b"engine"}


def test_the_runtime_has_the_python_that_the_list_says() -> None:
    import json

    from app.build.paths import cache_folder

    lock = json.loads(fetch.runtime_files(Store(cache_folder()))["pyodide-lock.json"])
    assert lock["info"]["python"].startswith(sources.python_version() + ".")
