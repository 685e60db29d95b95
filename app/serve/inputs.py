"""A fingerprint of all that a site is made from, to know whether the one built last will do."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

from app.build import sources
from app.build.packages import HOST_PACKAGES, OUR_PACKAGES
from app.build.paths import ROOT
from app.build.store import sha256_hex
from app.setup import toolchain


def fingerprint(*settings: object) -> str:
    """Changes with our sources, with the versions of what is installed, with what is fetched, with what compiles
    the core for the page, and with `settings`."""
    total = hashlib.sha256(repr(settings).encode())
    for line in _lines():
        total.update(line.encode() + b"\n")
    return total.hexdigest()[:32]


def _lines() -> Iterator[str]:
    yield f"{sources.runtime().file} {sources.runtime().sha256}"
    yield toolchain.in_reach()
    distributions = importlib.metadata.packages_distributions()
    for name in sorted({name for package in HOST_PACKAGES for name in distributions.get(package, ())}):
        yield f"{name} {importlib.metadata.version(name)}"
    yield importlib.metadata.version("serving-lab")
    for package in OUR_PACKAGES:
        for path in _files(ROOT / package):
            yield f"{path.relative_to(ROOT).as_posix()} {sha256_hex(path.read_bytes())}"


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
            yield path
