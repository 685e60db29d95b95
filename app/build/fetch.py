"""Fetches the runtime and the wheels: each place in turn, believing only the pinned SHA-256."""

from __future__ import annotations

import http.client
import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path

from app.build import sources
from app.build.errors import BuildError
from app.build.say import say
from app.build.sources import Download, Source
from app.build.store import Store, sha256_hex

CONNECT_SECONDS = 10
"""How long a place may stay silent before the next one is tried."""

TOOL_SECONDS = 600
"""How long npm or pip may take in all."""


class SourceError(Exception):
    """This place did not give the file; the message says why."""


def obtain(download: Download, store: Store, extra: Sequence[Source] = ()) -> bytes:
    """The content of `download`: from the store, else from the first place that gives the right file.

    Raises BuildError when no place does; each place's reason has been said by then.
    """
    kept = store.get("downloads", download.sha256)
    if kept is not None and sha256_hex(kept) == download.sha256:
        return kept
    # A file that is named as such can only be what its ending says.
    places = [p for p in extra if p.kind != "file" or p.location.endswith(Path(download.file).suffix)]
    places += download.sources
    for place in places:
        say(f"{download.name} {download.version}: trying {place}")
        try:
            content = _from(place, download.file)
            found = sha256_hex(content)
            if found != download.sha256:
                raise SourceError(f"not the file that is pinned (SHA-256 {found[:12]}…)")
        except SourceError as problem:
            say(f"{download.name} {download.version}: {place} failed: {problem}")
            continue
        say(f"{download.name} {download.version}: fetched, SHA-256 as pinned")
        store.put("downloads", download.sha256, content)
        return content
    raise BuildError(
        f"{download.file} could not be fetched from any of {len(places)} places (each said above). "
        f"Get that file by any means and name its path or URL in {sources.EXTRA_SOURCES}, then build again."
    )


def runtime_files(store: Store) -> dict[str, bytes]:
    """The files of the runtime's npm package, by name."""
    archive = obtain(sources.runtime(), store, sources.extra_sources())
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            opened = tar.extractfile(member) if member.isfile() else None
            if opened is not None:
                files[Path(member.name).name] = opened.read()
    return files


def wheel_files(download: Download, store: Store) -> dict[str, bytes]:
    """The files inside a wheel, by path."""
    with zipfile.ZipFile(io.BytesIO(obtain(download, store, sources.extra_sources()))) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}


def _from(place: Source, file: str) -> bytes:
    if place.kind == "npm":
        return _with_npm(place.location, file)
    if place.kind == "pip":
        return _with_pip(place.location, place.member + file)
    where = place.location if place.kind == "file" else place.location.rstrip("/") + "/" + file
    return _from_url(where) if "://" in where else _from_path(Path(where).expanduser())


def _from_path(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise SourceError(problem.strerror or str(problem)) from None


def _from_url(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "serving-lab"})
    try:
        with urllib.request.urlopen(request, timeout=CONNECT_SECONDS) as response:
            content: bytes = response.read()
    except urllib.error.HTTPError as problem:
        raise SourceError(f"HTTP {problem.code} {problem.reason}") from None
    except urllib.error.URLError as problem:
        raise SourceError(str(problem.reason)) from None
    except (OSError, ValueError, http.client.HTTPException) as problem:
        raise SourceError(str(problem) or type(problem).__name__) from None
    return content


def _with_npm(package: str, file: str) -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise SourceError("npm is not installed (it comes with Node.js)")
    with tempfile.TemporaryDirectory() as folder:
        limits = ["--fetch-retries=1", f"--fetch-timeout={TOOL_SECONDS * 1000}"]
        _tool([npm, "pack", package, "--silent", *limits, "--pack-destination", folder], folder)
        return _from_path(Path(folder) / file)


def _with_pip(package: str, member: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _tool(
            [
                *(*_pip(), "download", package, "--no-deps", "--dest", folder),
                *("--no-input", "--quiet", "--disable-pip-version-check", "--no-cache-dir"),
                *("--retries", "1", "--timeout", str(CONNECT_SECONDS)),
                *("--only-binary", ":all:", "--python-version", "3.12"),
            ],
            folder,
        )
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise SourceError(f"pip brought {len(wheels)} wheels where one was expected")
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                return wheel.read(member)
        except (KeyError, zipfile.BadZipFile) as problem:
            raise SourceError(str(problem)) from None


def _pip() -> list[str]:
    """How to call pip: an environment made by uv has none of its own."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise SourceError("pip is not installed")


def _tool(command: list[str], folder: str) -> None:
    """Runs npm or pip in `folder`; its last line of complaint is the reason when it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TOOL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SourceError(str(problem)) from None
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise SourceError(lines[-1].strip() if lines else f"exit status {done.returncode}")
