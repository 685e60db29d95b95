"""What the builder fetches from elsewhere, and from where: the list itself is data, in app/sources.json."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.build.paths import APP

EXTRA_SOURCES = "SERVING_LAB_WHEEL_SOURCES"
"""Environment variable: more places (URLs or paths of a file or of its folder), tried before all others."""


@dataclass(frozen=True, slots=True)
class Source:
    """One place to try. `kind` is `npm`, `folder` (URL or path of a folder) or `file` (URL or path)."""

    kind: str
    location: str

    def __str__(self) -> str:
        return f"npm {self.location}" if self.kind == "npm" else self.location


@dataclass(frozen=True, slots=True)
class Download:
    """One file that we need: it is accepted from anywhere, as long as its SHA-256 is the one pinned."""

    name: str
    version: str
    file: str
    sha256: str
    sources: tuple[Source, ...]


def _download(entry: dict) -> Download:
    sources = tuple(Source(s["kind"], s.get("package") or s["location"]) for s in entry["sources"])
    return Download(entry["name"], entry["version"], entry["file"], entry["sha256"], sources)


@cache
def _document() -> dict:
    document: dict = json.loads((APP / "sources.json").read_text(encoding="utf-8"))
    return document


def runtime() -> Download:
    """The Python runtime: the npm package's archive."""
    return _download(_document()["runtime"])


def python_version() -> str:
    """The runtime's Python, as in `3.12`."""
    version: str = _document()["runtime"]["python"]
    return version


def extra_sources() -> tuple[Source, ...]:
    """The places that the user named in SERVING_LAB_WHEEL_SOURCES, separated by white space.

    A URL of a folder ends in a slash. A single path may have spaces in it.
    """
    named = os.environ.get(EXTRA_SOURCES, "").strip()
    places = [named] if named and Path(named).expanduser().exists() else named.split()
    return tuple(Source("folder" if _is_folder(place) else "file", place) for place in places)


def _is_folder(place: str) -> bool:
    return place.endswith("/") or ("://" not in place and Path(place).expanduser().is_dir())
