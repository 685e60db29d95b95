"""A snapshot of Python's memory with the packages imported: the browser goes on from there, and imports nothing again.

It holds the standard library's and the packages' modules and nothing of ours, so it stays when ours change, and
compiled modules of ours are loaded after it. What a browser needs to go on is in app/site/snapshot.js.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.build import node
from app.build.archive import zip_bytes
from app.build.errors import BuilderFault
from app.build.folders import content_hash
from app.build.paths import SITE_SOURCES
from app.build.say import say
from app.build.store import Store, sha256_hex

UNPACK = SITE_SOURCES / "unpack.js"
WAYS = (node.HERE / "snapshot.mjs", node.HERE / "script.mjs", UNPACK)
"""A snapshot is kept until one of these, or what it is made from, is another."""

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
    key = " ".join([*parts, *(sha256_hex(path.read_bytes()) for path in WAYS)])
    kept = store.get("snapshots", key)
    if kept is None:
        try:
            kept = _make(files, stdlib, job, runtime)
        except BuilderFault as problem:
            say(f"the page starts without a snapshot of Python, as none could be made: {problem}")
            return None
        store.put("snapshots", key, kept)
    return kept


def in_parts(image: bytes) -> dict[str, bytes]:
    """The files of a snapshot, by name, in order."""
    starts = range(0, len(image), PART)
    return {f"snapshot-{number}.bin": image[at : at + PART] for number, at in enumerate(starts, 1)}


def _make(files: Mapping[str, bytes], stdlib: bytes, job: Mapping[str, object], runtime: node.Runtime) -> bytes:
    with tempfile.TemporaryDirectory(prefix="serving-lab-snapshot-") as folder:
        at = Path(folder)
        (at / "stdlib.zip").write_bytes(stdlib)
        (at / "start.zip").write_bytes(zip_bytes(files))
        (at / "job.json").write_text(json.dumps(job), encoding="utf-8")
        unpack = at / "unpack.mjs"  # named so that Node takes it for a module
        unpack.write_bytes(UNPACK.read_bytes())
        node.run_script("snapshot.mjs", runtime.path, at, unpack)
        return (at / "snapshot.bin").read_bytes()
