"""Finds out what a start of the app really needs, by starting it in the runtime."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.build import node
from app.build.archive import zip_bytes
from app.build.paths import SITE_SOURCES


@dataclass(frozen=True, slots=True)
class Needed:
    """`files`: paths in site-packages of what was imported or read; `render`: what the app handed to the page."""

    files: frozenset[str]
    render: dict[str, Any]


def trace_start(
    files: Mapping[str, bytes], stdlib: bytes, config: Mapping[str, Any], runtime: node.Runtime
) -> Needed:
    """Starts `app.page.bootstrap` with `files` in site-packages. Raises BuildError with the traceback if it fails."""
    with tempfile.TemporaryDirectory(prefix="serving-lab-trace-") as folder:
        job = Path(folder)
        (job / "stdlib.zip").write_bytes(stdlib)
        (job / "all.zip").write_bytes(zip_bytes(files))
        (job / "config.json").write_text(json.dumps(config), encoding="utf-8")
        unpack = job / "unpack.mjs"  # named so that Node takes it for a module
        unpack.write_bytes((SITE_SOURCES / "unpack.js").read_bytes())
        node.run_script("trace.mjs", runtime.path, job, unpack)
        found = json.loads((job / "needed.json").read_text(encoding="utf-8"))
    below = found["root"].rstrip("/") + "/"
    paths = {path.removeprefix(below) for path in [*found["modules"], *found["opened"]] if path.startswith(below)}
    return Needed(frozenset(paths & files.keys()), found["render"])
