"""A snapshot of Python's memory with the packages imported: the browser goes on from there, and imports nothing again.

It holds the standard library's and the packages' modules and nothing of ours, so it stays when ours change, and
compiled modules of ours are loaded after it. What a browser needs to go on is in app/site/snapshot.js.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from app.build import node
from app.build.archive import zip_bytes
from app.build.errors import BuilderFault
from app.build.folders import content_hash
from app.build.job import run_job, ways
from app.build.say import say
from app.build.store import Store

SCRIPT = "snapshot.mjs"

PART = 10_000_000
"""Bytes of the files that it is handed out in: small enough for the cache of a private window, which keeps no file of
more than some 6 MB as sent."""

OURS = ("app/__init__.pyc", "app/page/__init__.pyc", "app/page/packages.pyc", "app/page/no_arrays.pyc")
"""What of ours runs before the snapshot is made; none of it is a module in it."""


def snapshot(
    files: Mapping[str, bytes],
    stdlib: bytes,
    modules: Sequence[str],
    vendor: str,
    runtime: node.Runtime,
    store: Store,
) -> bytes | None:
    """The snapshot after importing `modules`; None when none can be made, which costs a page time and nothing else.

    `files`: what is in site-packages, by path, with OURS. `vendor`: the site's folder of that kind.
    """
    job = {"vendor": vendor, "modules": list(modules)}
    parts = [content_hash({**files, "stdlib.zip": stdlib}), content_hash(runtime.files), json.dumps(job)]
    key = " ".join([*parts, *ways(SCRIPT)])
    kept = store.get("snapshots", key)
    if kept is None:
        try:
            given = {"stdlib.zip": stdlib, "start.zip": zip_bytes(files), "job.json": json.dumps(job).encode()}
            kept = run_job(SCRIPT, runtime, given, "snapshot.bin")
        except BuilderFault as problem:
            say(f"the page starts without a snapshot of Python, as none could be made: {problem}")
            return None
        store.put("snapshots", key, kept)
    return kept


def in_parts(image: bytes) -> dict[str, bytes]:
    """The files of a snapshot, by name, in order."""
    starts = range(0, len(image), PART)
    return {f"snapshot-{number}.bin": image[at : at + PART] for number, at in enumerate(starts, 1)}
