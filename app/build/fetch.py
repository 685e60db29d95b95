"""Fetches the runtime: each place in turn, believing only the pinned SHA-256."""

from __future__ import annotations

import http.client
import io
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
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
"""How long npm may take in all."""


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


def _from(place: Source, file: str) -> bytes:
    if place.kind == "npm":
        return _with_npm(place.location, file)
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


def _tool(command: list[str], folder: str) -> None:
    """Runs npm in `folder`; its last line of complaint is the reason when it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TOOL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SourceError(str(problem)) from None
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise SourceError(lines[-1].strip() if lines else f"exit status {done.returncode}")
