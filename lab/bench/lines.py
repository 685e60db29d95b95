"""The other end of a worker that is a process: asks by lines."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

SECONDS = 300
"""How long a worker may take for one answer."""


class WorkerError(Exception):
    """A worker did not answer, or answered that it could not; the message says what it said."""


class Worker(Protocol):
    """Something that measures. `name` is its row's heading."""

    name: str

    def ask(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to `case`; see `lab.bench.worker`. Raises WorkerError."""

    def close(self) -> None:
        """End it."""


class Process:
    """A worker in a process of its own."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # an interrupt is for us, who then end it
        )

    def ask(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to `case`. Raises WorkerError."""
        assert self._process.stdin is not None and self._process.stdout is not None
        late = threading.Timer(SECONDS, self._process.kill)
        late.start()
        try:
            self._process.stdin.write(json.dumps(case) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        finally:
            late.cancel()
        return understood(self.name, line, case)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def understood(name: str, line: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """The answer in `line`. Raises WorkerError for none, and for one that tells of a problem."""
    what = f"{name}, {case.get('workload', 'start')} {case.get('way', '')}".strip()
    if not line.strip():
        raise WorkerError(f"{what}: no answer within {SECONDS} s, or its process ended")
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        raise WorkerError(f"{what}: {line.strip()[:80]!r} is no answer") from None
    if "problem" in answer:
        raise WorkerError(f"{what}: {answer['problem']}")
    return answer
