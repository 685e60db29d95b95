"""Late imports: modules that no start needs are fetched together, once, when the first of them is asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

SITE_PACKAGES = Path(__file__).resolve().parents[2]
INDEX = SITE_PACKAGES / "rest_index.txt"
"""The names of the modules in the archive, one a line; absent where everything is installed."""

ARCHIVE = "rest.zip"


class RestFinder:
    """Stands last among the finders: asked only for modules that nobody else has."""

    def __init__(self, names: frozenset[str], read: Callable[[str], Any]) -> None:
        self._names = names
        self._read = read
        self._fetched = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's question. Fetches the archive if `name` is in it; the page waits meanwhile.

        Raises ImportError with a plain sentence when the archive cannot be had.
        """
        if self._fetched or name not in self._names:
            return None
        try:
            _unpack(bytes(self._read(ARCHIVE)))
        except Exception as problem:
            raise ImportError(
                f"{name} is one of the modules that are fetched when they are first needed, and that failed: {problem}",
                name=name,
            ) from problem
        self._fetched = True
        importlib.invalidate_caches()
        return PathFinder.find_spec(name, path, target)


def _unpack(content: bytes) -> None:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(SITE_PACKAGES)


def install(read: Callable[[str], Any]) -> None:
    """Adds the finder. `read(file name)` returns the bytes of a file beside the archive, and waits for them."""
    if INDEX.exists():
        names = frozenset(INDEX.read_text(encoding="utf-8").split())
        sys.meta_path.append(RestFinder(names, read))
