"""Runs a job in a child process that can die, hang or be stopped without whoever started it.

The child (`lab.cuda.child`, or a fake one in tests) gets the job as one line of JSON on stdin and writes one JSON
object a line: {"event": "notice", "text"}, {"event": "progress", "stage", "done", "of"}, and last either
{"event": "result", "measurement"} or {"event": "error", "kind": "input" | "device" | "fault", "message"}. Its stdin
stays open: when that closes, because this process is gone, the child ends itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lab.cuda.spawn import python_command, python_environment

MOST_LINE_BYTES = 64 * 2**20
KEPT_ERROR_LINES = 40
GRACE_SECONDS = 2.0

OUTCOMES = ("done", "refused", "device", "crashed", "timed_out", "cancelled", "fault")
"""How a job can end: with a measurement; with input that cannot be replayed; with a device that is missing, busy or
too small; with the child dead; past its time; stopped by whoever asked; by a fault of ours."""


class Described(Protocol):
    """What can be sent to a child: a `lab.cuda.job.Job`."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Ending:
    """How a job ended. `message`: one line, empty when it is done; `measurement`: only then."""

    outcome: str
    message: str = ""
    measurement: dict[str, Any] | None = None
    details: str = ""


class Running:
    """A job under way. `events` yields what the child reports; after that `ending` says how it came out."""

    def __init__(self, job: Described, seconds: float, command: Sequence[str] | None = None) -> None:
        """Start it. `seconds`: what it may take in all. `command`: another child, for tests. Raises OSError."""
        self.ending: Ending | None = None
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._cancelled = threading.Event()
        self._process = subprocess.Popen(
            list(command) if command is not None else python_command("lab.cuda.child"),
            env=python_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",  # so that a compiler that Triton starts goes with it
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue(1000)
        self._errors: deque[bytes] = deque(maxlen=KEPT_ERROR_LINES)
        self._done_reading = False
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._read_events, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._write, args=(json.dumps(job.to_dict()).encode() + b"\n",), daemon=True).start()

    def cancel(self) -> None:
        """Stop it soon; may be called from another thread, and more than once."""
        self._cancelled.set()

    def events(self) -> Iterator[dict[str, Any]]:
        """Notices and progress as they come. When this ends, or is closed, the child is gone and `ending` is set."""
        said: Ending | None = None
        last_word = False
        try:
            while said is None:
                said = self._stopped()
                if said is not None:
                    break
                try:
                    line = self._lines.get(timeout=0.1)
                except queue.Empty:
                    continue
                if line is None:
                    said = self._died()
                    break
                event = _event(line)
                if event is None:
                    said = Ending("fault", "The replay's process wrote something that is no event.")
                elif event["event"] in ("progress", "notice"):
                    yield event
                else:
                    said, last_word = _ending(event), True
        finally:
            self._end(last_word)
            self.ending = said or Ending("cancelled", "The replay was cancelled.")

    def _stopped(self) -> Ending | None:
        if self._cancelled.is_set():
            return Ending("cancelled", "The replay was cancelled.")
        if time.monotonic() > self._deadline:
            return Ending(
                "timed_out", f"The replay took more than {self._seconds:g} s and was stopped; use a shorter trace."
            )
        return None

    def _died(self) -> Ending:
        code = self._process.wait()
        for thread in self._threads:
            thread.join(GRACE_SECONDS)
        why = f"exit status {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                why = f"killed by {signal.Signals(-code).name}"
        details = b"".join(self._errors).decode("utf-8", "replace")
        last = next((line.strip() for line in reversed(details.splitlines()) if line.strip()), "")
        said = f"; it last said: {last[:300]}" if last else ""
        return Ending("crashed", f"The replay's process died ({why}){said}", details=details)

    def _end(self, by_itself: bool) -> None:
        """See the child gone. One that has said its last word may leave by itself; the others are killed."""
        self._done_reading = True
        if by_itself:
            with contextlib.suppress(subprocess.TimeoutExpired, OSError):
                if self._process.stdin is not None:
                    self._process.stdin.close()
                self._process.wait(GRACE_SECONDS)
        if self._process.poll() is None:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(self._process.pid, signal.SIGKILL)  # its own session: what it started goes as well
            with contextlib.suppress(OSError):
                self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(GRACE_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            # A pipe that somebody still reads is left to the garbage collector: closing it would wait.
            if pipe is not None and not (pipe is not self._process.stdin and self._reading()):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _reading(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def _write(self, line: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read_events(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdout is not None
            while line := self._process.stdout.readline(MOST_LINE_BYTES):
                if not self._put(line):
                    return
        self._put(None)

    def _put(self, line: bytes | None) -> bool:
        while not self._done_reading:
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=0.2)
                return True
        return False

    def _read_errors(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stderr is not None
            while line := self._process.stderr.readline(4096):
                self._errors.append(line)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict):
        return None
    kinds = {
        "progress": ("stage", "done", "of"),
        "notice": ("text",),
        "result": ("measurement",),
        "error": ("message",),
    }
    wanted = kinds.get(event.get("event", ""))
    return event if wanted is not None and all(key in event for key in wanted) else None


def _ending(event: dict[str, Any]) -> Ending:
    if event["event"] == "result":
        return Ending("done", measurement=event["measurement"])
    outcome = {"input": "refused", "device": "device"}.get(event.get("kind", ""), "fault")
    return Ending(outcome, str(event["message"]), details=str(event.get("details", "")))
