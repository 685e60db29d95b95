"""The lab as Pyodide gets it for the benchmark: its sources as they are, and what was compiled for it."""

from __future__ import annotations

from collections.abc import Mapping

from app.build.archive import zip_bytes
from app.build.paths import ROOT

LEFT_OUT = ("cuda", "staff")
"""Folders of `lab` that nothing here imports."""


def lab_archive(compiled: Mapping[str, bytes]) -> bytes:
    """A zip of `lab`, with `compiled` (content by path) beside."""
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in sorted((ROOT / "lab").rglob("*.py"))
        if path.relative_to(ROOT).parts[1] not in LEFT_OUT
    }
    return zip_bytes(sources | dict(compiled))
