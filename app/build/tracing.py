"""Finds out what a start of the app really needs, by starting it in the runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.build import node
from app.build.archive import zip_bytes
from app.build.folders import content_hash
from app.build.job import run_job, ways
from app.build.store import Store

SCRIPT = "trace.mjs"


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
    key = " ".join([content_hash({**files, "stdlib.zip": stdlib}), content_hash(runtime.files), *ways(SCRIPT)])
    kept = store.get("traces", key)
    if kept is None:
        given = {"stdlib.zip": stdlib, "all.zip": zip_bytes(files), "config.json": json.dumps(config).encode()}
        kept = run_job(SCRIPT, runtime, given, "needed.json")
        store.put("traces", key, kept)
    found = json.loads(kept)
    below = found["root"].rstrip("/") + "/"
    paths = {path.removeprefix(below) for path in [*found["modules"], *found["opened"]] if path.startswith(below)}
    return Needed(frozenset(paths & files.keys()), tuple(found["names"]))
