"""The records of a replay as JSON Lines: one object a busy iteration or idle span."""

from __future__ import annotations

import json

from lab.files import Writable
from lab.records import Idle, Iteration


class EventLog:
    """Writes records as they are made; `policy` is the first key of every line, the rest is the record's row."""

    def __init__(self, out: Writable) -> None:
        self.out = out

    def __call__(self, policy: str, record: Iteration | Idle) -> None:
        """Write one line. Raises InputError if there are more seats than a row can list."""
        row = {"policy": policy, **record.to_row()}
        self.out.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")
