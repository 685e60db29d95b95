"""One process at a time, where two would spoil each other's work."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def alone(path: Path) -> Iterator[Sequence[int]]:
    """Waits until no other process is in here with the same `path`, a file that stays behind, empty.

    Yields the handles that a child process is to inherit: what it does goes on when this process is killed, and until
    it ends nobody else comes in. OSError if the file cannot be made. Without such locks, as on Windows, nobody waits.
    """
    if sys.platform == "win32":
        yield ()
        return
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield (file.fileno(),)
