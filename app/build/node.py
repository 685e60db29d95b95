"""Runs our scripts under Node.js, with the runtime unpacked beside them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from app.build.errors import BuilderFault, BuildError

OLDEST = 18
"""The oldest major version of Node.js that the runtime supports."""

HERE = Path(__file__).resolve().parent


@cache
def node() -> str:
    """The path of a Node.js that is new enough; raises BuildError with what to install when there is none."""
    found = shutil.which("node") or shutil.which("nodejs")
    if found is None:
        raise BuildError(f"Building the site needs Node.js {OLDEST} or newer, and no `node` is on the PATH.")
    printed = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)", printed)
    if version is None or int(version[1]) < OLDEST:
        raise BuildError(f"Building the site needs Node.js {OLDEST} or newer; {found} is {printed.strip()}.")
    return found


def run_script(script: str, *arguments: str | Path) -> str:
    """Runs app/build/`script` and returns what it printed; raises BuildError with its complaint when it fails."""
    done = subprocess.run(
        [node(), "--no-warnings", str(HERE / script), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "NODE_OPTIONS": ""},
    )
    if done.returncode:
        complaint = (done.stderr or done.stdout).strip()
        raise BuilderFault(f"{script} failed (exit status {done.returncode}):\n{complaint[-4000:]}")
    return done.stdout


class Runtime:
    """The runtime's files, unpacked into a folder of this build's own for as long as it is used."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self._folder = tempfile.TemporaryDirectory(prefix="serving-lab-runtime-")
        self.path = Path(self._folder.name)
        for name, content in files.items():
            (self.path / name).write_bytes(content)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
