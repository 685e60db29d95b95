"""Jobs that start Python in the runtime under Node, with files of a build."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.build import node
from app.build.paths import SITE_SOURCES
from app.build.store import sha256_hex

UNPACK = SITE_SOURCES / "unpack.js"


def ways(script: str) -> list[str]:
    """SHA-256 of each file that decides how a job of app/build/`script` is done, for the key of what it made."""
    return [sha256_hex(path.read_bytes()) for path in (node.HERE / script, node.HERE / "script.mjs", UNPACK)]


def run_job(script: str, runtime: node.Runtime, files: Mapping[str, bytes], answer: str) -> bytes:
    """Runs app/build/`script` on a folder with `files`, by name; returns the file `answer` that it leaves there.

    Raises BuilderFault with its complaint when it fails.
    """
    with tempfile.TemporaryDirectory(prefix="serving-lab-job-") as folder:
        place = Path(folder)
        for name, content in files.items():
            (place / name).write_bytes(content)
        unpack = place / "unpack.mjs"  # named so that Node takes it for a module
        unpack.write_bytes(UNPACK.read_bytes())
        node.run_script(script, runtime.path, place, unpack)
        return (place / answer).read_bytes()
