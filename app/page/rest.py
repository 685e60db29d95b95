"""Late imports: an archive of modules is fetched, once, when the first of them is asked for that is not there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import FileFinder, ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

SITE_PACKAGES = Path(__file__).resolve().parents[2]
INDEX = SITE_PACKAGES / "archives.txt"
"""`archive module` on each line; absent where everything is installed."""


class RestFinder:
    """Stands last among the finders: asked only for modules that nobody else has. `names`: module → its archive."""

    def __init__(self, names: Mapping[str, str], read: Callable[[str], Any]) -> None:
        self._names = names
        self._read = read
        self._fetched: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's question. Fetches the archive that has `name`, if one has; the page waits meanwhile.

        Raises ImportError with a plain sentence when the archive cannot be had.
        """
        archive = self._names.get(name)
        if archive is None or archive in self._fetched:
            return None
        try:
            _unpack(bytes(self._read(archive)))
        except Exception as problem:
            raise ImportError(
                f"{name} is one of the modules that are fetched when they are first needed, and that failed: {problem}",
                name=name,
            ) from problem
        self._fetched.add(archive)
        look_again()
        return PathFinder.find_spec(name, path, target)


def look_again() -> None:
    """Has Python look into its folders again; not into its archives, as `importlib.invalidate_caches` would."""
    for finder in sys.path_importer_cache.values():
        if isinstance(finder, FileFinder):
            finder.invalidate_caches()


def _unpack(content: bytes) -> None:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(SITE_PACKAGES)


def install(read: Callable[[str], Any]) -> None:
    """Adds the finder. `read(file name)` returns the bytes of a file beside the archives, and waits for them."""
    if INDEX.exists():
        lines = INDEX.read_text(encoding="utf-8").splitlines()
        names = {module: archive for archive, module in (line.split(" ", 1) for line in lines)}
        sys.meta_path.append(RestFinder(names, read))
