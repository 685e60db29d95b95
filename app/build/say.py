"""Progress lines for whoever watches a build."""

from __future__ import annotations

import sys
import time

_start = time.monotonic()


def say(line: str) -> None:
    """Writes one line about what is going on to stderr, with the seconds since the start."""
    print(f"[{time.monotonic() - _start:5.1f} s] {line}", file=sys.stderr, flush=True)
