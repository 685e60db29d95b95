"""Talking to the terminal: notices, and progress of long replays, on stderr."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from lab.errors import printable

SECONDS_A_LINE = 0.5


def notice(text: str) -> None:
    """One line on stderr."""
    if sys.stderr is not None:
        print(printable(text), file=sys.stderr)


class ReplayProgress:
    """Shows, on a terminal and once a replay takes long, which iteration it has reached."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self._due = time.monotonic() + SECONDS_A_LINE
        self._shown = 0

    def __call__(self, policy: str, iteration: int) -> None:
        """Show `iteration`, unless one was shown just now."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + SECONDS_A_LINE
        line = f"replaying {policy}: iteration {iteration}"
        self.out.write("\r" + line.ljust(self._shown))
        self.out.flush()
        self._shown = len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self.out.write("\r" + " " * self._shown + "\r")
            self.out.flush()
            self._shown = 0
