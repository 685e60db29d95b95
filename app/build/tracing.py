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
from app.build.folders import content_hash
from app.build.paths import SITE_SOURCES
from app.build.store import Store, sha256_hex

UNPACK = SITE_SOURCES / "unpack.js"
WAYS = (node.HERE / "trace.mjs", node.HERE / "script.mjs", UNPACK)
"""A trace is kept until one of these, or what it starts, is another."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a start used: `files` are paths in site-packages, `modules` names, in the order of their import."""

    files: frozenset[str]
    modules: tuple[str, ...]


def trace_start(
    files: Mapping[str, bytes], stdlib: bytes, config: Mapping[str, Any], runtime: node.Runtime, store: Store
) -> Needed:
    """Starts `app.page.bootstrap` with `files` in site-packages, and does what a visitor may do first.

    Returns what was imported or read. Raises BuilderFault with the traceback if the app does not start.
    """
    key = " ".join([content_hash({**files, "stdlib.zip": stdlib}), content_hash(runtime.files), *map(_source, WAYS)])
    kept = store.get("traces", key)
    if kept is None:
        kept = _trace(files, stdlib, config, runtime)
        store.put("traces", key, kept)
    found = json.loads(kept)
    below = found["root"].rstrip("/") + "/"
    paths = {path.removeprefix(below) for path in [*found["modules"], *found["opened"]] if path.startswith(below)}
    return Needed(frozenset(paths & files.keys()), tuple(found["names"]))


def _source(path: Path) -> str:
    return sha256_hex(path.read_bytes())


def _trace(files: Mapping[str, bytes], stdlib: bytes, config: Mapping[str, Any], runtime: node.Runtime) -> bytes:
    with tempfile.TemporaryDirectory(prefix="serving-lab-trace-") as folder:
        job = Path(folder)
        (job / "stdlib.zip").write_bytes(stdlib)
        (job / "all.zip").write_bytes(zip_bytes(files))
        (job / "config.json").write_text(json.dumps(config), encoding="utf-8")
        unpack = job / "unpack.mjs"  # named so that Node takes it for a module
        unpack.write_bytes(UNPACK.read_bytes())
        node.run_script("trace.mjs", runtime.path, job, unpack)
        return (job / "needed.json").read_bytes()
