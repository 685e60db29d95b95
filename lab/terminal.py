"""Talking to the terminal: notices, and progress of long replays, on stderr."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from lab.errors import printable
from lab.records import Idle, Iteration

RECORDS_A_LOOK = 2000
SECONDS_A_LINE = 0.5


def notice(text: str) -> None:
    """One line on stderr."""
    if sys.stderr is not None:
        print(printable(text), file=sys.stderr)


class ReplayProgress:
    """Shows, on a terminal and once a replay takes long, which iteration it has reached."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self._records = 0
        self._due = time.monotonic() + SECONDS_A_LINE
        self._shown = 0

    def __call__(self, policy: str, record: Iteration | Idle) -> None:
        """Count one record."""
        self._records += 1
        if self._records % RECORDS_A_LOOK or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + SECONDS_A_LINE
        reached = record.last if isinstance(record, Idle) else record.iteration
        line = f"replaying {policy}: iteration {reached}"
        self.out.write("\r" + line.ljust(self._shown))
        self.out.flush()
        self._shown = len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self.out.write("\r" + " " * self._shown + "\r")
            self.out.flush()
            self._shown = 0
