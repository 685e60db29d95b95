"""How solutions are going to be run on this machine: which interpreter, which layers, which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.staff.box.layers import NAMES
from lab.staff.interpreter import Interpreter

MIB = 2**20
ROOM = 16 * MIB
"""Bytes that a solution may write to files, where it has a root of its own."""

SLACK = 64 * MIB
PROCESSES = 64
"""Processes and threads that a solution may have."""


@dataclass(frozen=True, slots=True)
class Limits:
    """timeout: seconds that one check may take; memory: MiB that a solution may use."""

    timeout: float = 5.0
    memory: int = 512

    def document(self) -> dict[str, Any]:
        """As a result shows them."""
        return {"timeout_s": self.timeout, "memory_mib": self.memory}


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan holds for a whole run, so that every solution is run alike.

    layers:   names of layers that have to hold; where one does not, no learner code is run
    off:      for each other layer, why it is off
    measured: what a trial solution could not do, by name: True is good, False means that it could
    users:    (uid, gid) to run as, one for each job; empty to stay who we are
    """

    interpreter: Interpreter
    limits: Limits
    temporary: str
    layers: tuple[str, ...]
    off: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, bool] = field(default_factory=dict)
    users: tuple[tuple[int, int], ...] = ()
    processes: int = PROCESSES
    tolerant: bool = False

    def isolation(self) -> dict[str, bool]:
        """Each layer and each measured fact by name: whether it holds."""
        return {name: name in self.layers for name in NAMES} | dict(self.measured)

    def settings(self, job: int, checks: int) -> dict[str, Any]:
        """What the keeper is told, plain data. `checks`: how many are going to be asked."""
        uid, gid = self.users[job] if self.users and "own_user" in self.layers else (None, None)
        return {
            "layers": list(self.layers),
            "tolerant": self.tolerant,
            "uid": uid,
            "gid": gid,
            "paths": list(self.interpreter.shown),
            "masks": list(self.interpreter.masks),
            "readable": list(self.interpreter.readable),
            "listable": list(self.interpreter.listable),
            "memory": self.limits.memory * MIB,
            "slack": SLACK,
            "cpu": int(self.limits.timeout * (checks + 2)) + 10,
            "processes": self.processes,
            "room": ROOM,
            "temporary": self.temporary,
        }
