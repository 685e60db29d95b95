"""Runs one solution in interpreters that are shut off: the parent's end of the pipes.

Whatever comes out of there is somebody's data: it is bounded, parsed as JSON, and judged by `lab.grading`.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

from lab.exercises import Exercise
from lab.grading.reply import Reply, too_deep
from lab.staff.box.processes import children, end_descendants, waited
from lab.staff.box.serve_codes import GONE
from lab.staff.interpreter import FLAGS
from lab.staff.plan import Plan

BOOT = str(Path(__file__).parent / "box" / "boot.py")
LONGEST_ANSWER = 16 * 2**20
START_SECONDS = 30.0
STATUS_SECONDS = 5.0
MOST_EXTENSION = 5
"""A check on a busy machine gets up to so many times its deadline, as long as it waits for a processor."""

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",  # the order of a set is the same on every run
    "MALLOC_ARENA_MAX": "2",  # or each thread would claim address space that it never uses
}


class NotStarted(Exception):
    """An interpreter for a solution could not be started: a fault of ours."""


class Boxed:
    """A `lab.grading.grade.Runner`: one interpreter for as long as it lives, and after a stop or a crash the next.

    job: which of the jobs that work side by side this is; each has a user of its own
    """

    def __init__(self, plan: Plan, job: int, source: bytes | str, name: str, kind: str, checks: int) -> None:
        self._plan = plan
        self._settings = plan.settings(job, checks)
        self._open = {"kind": "open", "name": name, "what": kind, **_packed(source)}
        self._box: _Box | None = None

    @classmethod
    def of(cls, plan: Plan, job: int, exercise: Exercise, source: bytes | str) -> Boxed:
        """A runner of a solution of `exercise`."""
        return cls(plan, job, source, exercise.name, exercise.kind, len(exercise.checks(hidden=True)))

    def prepare(self) -> Reply:
        return self._ask({"kind": "prepare"})

    def run(self, request: dict[str, Any]) -> Reply:
        return self._ask({"kind": "run", "request": request})

    def close(self) -> None:
        """End the interpreter and all that came of it."""
        if self._box is not None:
            self._box.end()
            self._box = None

    def _ask(self, message: dict[str, Any]) -> Reply:
        seconds = self._plan.limits.timeout
        if self._box is None:
            try:
                self._box = _started(self._plan, self._settings)
            except NotStarted as error:
                return Reply(ended="grader", detail=str(error))
            opened = self._box.ask(self._open, seconds)
            if opened.ended is not None:
                self.close()
                # Nothing of the learner's has run yet: compiling it was too much for Python's stack.
                return too_deep() if opened.ended == "signal" else opened
        reply = self._box.ask(message, seconds)
        if _worn(reply):
            self.close()
        return reply


def _packed(source: bytes | str) -> dict[str, str]:
    return {"text": source} if isinstance(source, str) else {"bytes": b64encode(source).decode()}


def _worn(reply: Reply) -> bool:
    """Whether the interpreter that gave `reply` is not used again: it has ended, or its memory was full."""
    if reply.ended is not None:
        return True
    answer, _ = reply.read()
    problems = [answer["problem"], *(step.get("raised") for step in answer["steps"])]
    return any(problem is not None and problem["kind"] == "memory" for problem in problems)


def _started(plan: Plan, settings: dict[str, Any]) -> _Box:
    """A new interpreter. A second try is made where the first fails: a busy machine may be short of something."""
    try:
        return _Box(plan, settings)
    except NotStarted:
        return _Box(plan, settings)


class _Box:
    """One keeper and the interpreter that it keeps. `trouble`: what came of each layer, see `box.layers`."""

    def __init__(self, plan: Plan, settings: dict[str, Any]) -> None:
        """Raises NotStarted."""
        ends = [os.pipe() for _ in range(4)]
        theirs = (ends[0][0], ends[1][1], ends[2][1], ends[3][0])
        self._requests, self._answers, self._status, self._lifeline = ends[0][1], ends[1][0], ends[2][0], ends[3][1]
        self._heard = b""
        self._learner: int | None = None
        try:
            self._keeper = subprocess.Popen(
                [plan.interpreter.python, *FLAGS, BOOT, *map(str, theirs)],
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            for pair in ends:
                for end in pair:
                    os.close(end)
            raise NotStarted(f"the interpreter does not start ({error.strerror or error})") from None
        for end in theirs:
            os.close(end)
        for end in (self._requests, self._answers, self._status):
            os.set_blocking(end, False)
        try:
            line = self._exchange(json.dumps(settings).encode() + b"\n", b'{"ready":', START_SECONDS)
            if isinstance(line, Reply):
                why = line.detail if line.ended == "grader" else line.ended
                raise NotStarted(f"the interpreter was not ready ({why})")
            self.trouble: dict[str, str | None] = json.loads(line)["ready"]
            self._learner = self._find_learner()
        except BaseException:
            self.end()
            raise

    def _find_learner(self) -> int | None:
        line = children(self._keeper.pid)
        if line and self.trouble.get("process_namespace", "") is None:
            line = children(line[0])
        return line[0] if line else None

    def ask(self, message: dict[str, Any], seconds: float) -> Reply:
        """The reply to `message`; it has ended if none came within `seconds`."""
        token = secrets.token_hex(16)
        data = json.dumps({"token": token, **message}).encode() + b"\n"
        line = self._exchange(data, f'{{"token":"{token}","answer":'.encode(), seconds)
        if isinstance(line, Reply):
            return line
        try:
            return Reply(json.loads(line)["answer"])
        except (ValueError, RecursionError, MemoryError, KeyError, TypeError):
            return Reply(ended="lost")

    def _exchange(self, data: bytes, beginning: bytes, seconds: float) -> bytes | Reply:
        """Send `data` and wait for the line with `beginning`. Every other line is nobody's, and passed over."""
        start = time.monotonic()
        deadline = start + seconds
        queued = self._queued()
        heard = 0
        while True:
            now = time.monotonic()
            if now >= deadline:
                deadline = start + min(seconds * MOST_EXTENSION, seconds + self._queued() - queued)
                if now >= deadline:
                    return Reply(ended="time", detail=seconds)
            sending = [self._requests] if data else []
            readable, writable, _ = select.select([self._answers], sending, [], max(0.0, deadline - now))
            if writable:
                try:
                    data = data[os.write(self._requests, data[:65536]) :]
                except BlockingIOError:
                    pass
                except OSError:  # nobody reads any more; why, the answers' end tells
                    data = b""
            if not readable:
                continue
            piece = os.read(self._answers, 1 << 18)
            if not piece:
                return self._how_it_ended()
            heard += len(piece)
            if heard > LONGEST_ANSWER:
                return Reply(ended="lost")
            *lines, self._heard = (self._heard + piece).split(b"\n") if b"\n" in piece else (self._heard + piece,)
            for line in lines:
                if line.startswith(beginning):
                    return line

    def _queued(self) -> float:
        return waited(self._learner) if self._learner is not None else 0.0

    def _how_it_ended(self) -> Reply:
        """What the keeper says, who knows how the interpreter ended, if it did."""
        told = b""
        deadline = time.monotonic() + STATUS_SECONDS
        # An interpreter that is alive and has only closed its pipe says nothing more: that is not waited for long.
        patience = deadline if self._learner is None or not _alive(self._learner) else time.monotonic() + 0.5
        while not told.endswith(b"\n") and time.monotonic() < min(deadline, patience):
            ready, _, _ = select.select([self._status], [], [], 0.05)
            if ready:
                piece = os.read(self._status, 4096)
                if not piece:
                    break
                told += piece
        try:
            report = json.loads(told)
        except ValueError:
            return Reply(ended="lost")
        if "fault" in report:
            return Reply(ended="grader", detail=report["fault"])
        if "ended" in report:
            return Reply(ended=report["ended"])
        if report.get("signal") == signal.SIGXCPU:
            return Reply(ended="time")
        if "signal" in report:
            return Reply(ended="signal", detail=report["signal"])
        return Reply(ended="lost") if report["exit"] == GONE else Reply(ended="exit", detail=report["exit"])

    def end(self) -> None:
        """Close the lifeline, upon which the keeper ends everything, and see to it that it does."""
        for end in (self._lifeline, self._requests, self._answers):
            os.close(end)
        try:
            self._keeper.wait(timeout=15)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._keeper.pid, signal.SIGKILL)
            self._keeper.kill()
            self._keeper.wait()
        os.close(self._status)
        end_descendants()


def layers_of(plan: Plan) -> dict[str, str | None]:
    """What comes of each layer of `plan` on this machine: None if it takes hold, else why not. Raises NotStarted."""
    box = _Box(plan, plan.settings(0, 1))
    box.end()
    return box.trouble


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in ("Z", "X")
