"""Brotli and gzip beside each file that gets smaller by it, kept by content."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.build import node
from app.build.say import say
from app.build.store import Store, sha256_hex

SMALLEST = 1024
"""Bytes below which a file is sent as it is."""

WORTH_IT = 0.95
"""A compressed form larger than this share of the file is not kept."""

QUICK, THOROUGH = 9, 10
"""Brotli's qualities for a lab on one's own machine and for one that is put on the web: 6 s and 40 s of one core."""

INCOMPRESSIBLE = (".png", ".jpg", ".webp", ".woff2", ".br", ".gz")


def siblings(files: Mapping[str, bytes], quality: int, store: Store) -> dict[str, bytes]:
    """The `.br` and `.gz` forms of `files`, by path."""
    wanted = {
        path: content
        for path, content in files.items()
        if len(content) > SMALLEST and not path.endswith(INCOMPRESSIBLE)
    }
    keys = {path: f"{quality} {sha256_hex(content)}" for path, content in wanted.items()}
    missing = {
        keys[path]: content
        for path, content in wanted.items()
        if store.get("brotli", keys[path]) is None or store.get("gzip", keys[path]) is None
    }
    if missing:
        say(f"compressing {len(missing)} files, {sum(map(len, missing.values())) / 1e6:.1f} MB")
        _compress(missing, quality, store)
    found = {}
    for path, content in wanted.items():
        for kind, ending in (("brotli", ".br"), ("gzip", ".gz")):
            small = store.get(kind, keys[path])
            if small is not None and len(small) < WORTH_IT * len(content):
                found[path + ending] = small
    return found


def _compress(files: Mapping[str, bytes], quality: int, store: Store) -> None:
    with tempfile.TemporaryDirectory(prefix="serving-lab-compress-") as folder:
        job = Path(folder)
        entries = []
        for number, content in enumerate(files.values()):
            (job / f"{number}").write_bytes(content)
            entries.append({"file": f"{number}", "quality": quality, "brotli": f"{number}.br", "gzip": f"{number}.gz"})
        (job / "job.json").write_text(json.dumps(entries), encoding="utf-8")
        node.run_script("compress.mjs", job)
        for number, key in enumerate(files):
            store.put("brotli", key, (job / f"{number}.br").read_bytes())
            store.put("gzip", key, (job / f"{number}.gz").read_bytes())
