"""Replays on a GPU, one at a time, each in a child process; the rest wait in a bounded queue.

All methods belong to the event loop's thread, but for `look`; `_work` runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from lab.cuda.detect import INSTALL, Status, look
from lab.cuda.job import CPU, Job, Settings
from lab.cuda.running import Ending, Running

MOST_WAITING = 4
KEPT = 20
"""Replays that have ended and whose results can still be asked for."""

MOST_NOTICES = 20
LOOK_AGAIN_SECONDS = 30


class QueueFull(Exception):
    """Too many replays wait already."""


class Replay:
    """One replay that was submitted. `version` grows with each change, and `changed` wakes who waits for the next."""

    def __init__(self, job: Job) -> None:
        self.id = secrets.token_urlsafe(12)  # not to be guessed: knowing it is enough to cancel
        self.job = job
        self.ending: Ending | None = None
        self.running: Running | None = None
        self.progress: dict[str, Any] | None = None
        self.notices: list[str] = []
        self.started = False
        self.version = 0
        self._waiting: list[asyncio.Future[None]] = []

    def note(self, event: dict[str, Any]) -> None:
        """What the child process reported."""
        if event["event"] == "progress":
            self.progress = {key: event[key] for key in ("stage", "done", "of")}
        elif len(self.notices) < MOST_NOTICES:
            self.notices.append(str(event["text"]))
        self.touch()

    def touch(self) -> None:
        """Something changed: wake everybody."""
        self.version += 1
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def changed(self, version: int, seconds: float) -> None:
        """Wait until there is more than `version`, but no longer than `seconds`."""
        if self.version > version:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(future, seconds)
        if future in self._waiting:
            self._waiting.remove(future)


class Replays:
    """The queue. `settings`: how the device is used, for every replay; `seconds`: what one may take.

    command: another child process, and looker: another way to look for a GPU; both for tests.
    """

    def __init__(
        self,
        settings: Settings,
        seconds: float,
        *,
        most_waiting: int = MOST_WAITING,
        command: Sequence[str] | None = None,
        looker: Callable[[], Status] | None = None,
    ) -> None:
        self.settings = settings
        self.seconds = seconds
        self.most_waiting = most_waiting
        self._command = command
        self._looker = looker or (_cpu_status if settings.device == CPU else look)
        self._all: dict[str, Replay] = {}
        self._waiting: deque[Replay] = deque()
        self._current: Replay | None = None
        self._threads = ThreadPoolExecutor(2, "cuda")  # a replay, and a look at the device
        self._task: asyncio.Task[None] | None = None
        self._status: asyncio.Future[Status] | None = None
        self._looked = 0.0
        self._closed = False

    async def status(self) -> Status:
        """What is there. Looked at again after a while, and by one process however many ask.

        Not while a replay runs: a look puts a context on the GPU, and so on the times that are being measured.
        """
        if self._status is None or (
            self._status.done() and self._current is None and time.monotonic() - self._looked > LOOK_AGAIN_SECONDS
        ):
            self._looked = time.monotonic()
            self._status = asyncio.get_running_loop().run_in_executor(self._threads, self._looker)
        return self._of_device(await asyncio.shield(self._status))

    def look(self) -> Status:
        """What is there, looked at now, in any thread; takes seconds."""
        return self._of_device(self._looker())

    def _of_device(self, status: Status) -> Status:
        """`status`, unless the device that replays are to run on is none of those that were found."""
        device = self.settings.device
        if not status.available or device < len(status.devices) or device == CPU:
            return status
        sentence = f"There is no GPU {device}: {status.sentence} Choose one with --cuda-device."
        return replace(status, available=False, missing="gpu", sentence=sentence)

    def submit(self, job: Job) -> Replay:
        """Take `job` into the queue. Raises QueueFull."""
        if len(self._waiting) >= self.most_waiting or self._closed:
            raise QueueFull
        replay = Replay(job)
        self._all[replay.id] = replay
        self._waiting.append(replay)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run_all())
        return replay

    def get(self, name: str) -> Replay | None:
        """The replay called `name`; None if there is none, or none any more."""
        return self._all.get(name)

    def cancel(self, replay: Replay) -> None:
        """Stop it, whether it waits or runs; nothing happens to one that has ended."""
        if replay in self._waiting:
            self._waiting.remove(replay)
            self._end(replay, Ending("cancelled", "The replay was cancelled."))
            for other in self._waiting:
                other.touch()
        elif replay.running is not None:
            replay.running.cancel()

    def snapshot(self, replay: Replay) -> dict[str, Any]:
        """How `replay` stands, as plain JSON data, without the measurement.

        state: waiting, running, or how it ended (`lab.cuda.running.OUTCOMES`); position: how many are before it
        """
        ending = replay.ending
        before = self._waiting.index(replay) + (self._current is not None) if replay in self._waiting else 0
        state = ending.outcome if ending is not None else "running" if replay.started else "waiting"
        return {
            "id": replay.id,
            "state": state,
            "position": before,
            "progress": replay.progress,
            "notices": list(replay.notices),
            "message": ending.message if ending is not None else "",
        }

    async def close(self) -> None:
        """Stop everything and wait until no child process is left."""
        self._closed = True
        for replay in [*self._waiting, *([self._current] if self._current else [])]:
            self.cancel(replay)
        if self._task is not None:
            await self._task
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            replay = self._current = self._waiting.popleft()
            ending = self._start(replay)
            for other in (replay, *self._waiting):
                other.touch()
            if ending is None:
                try:
                    ending = await loop.run_in_executor(self._threads, self._work, replay, loop)
                except Exception as error:  # a fault of ours must not keep those who wait from their turn
                    ending = Ending("fault", f"The server failed at this replay ({type(error).__name__}).")
            self._current = None
            self._end(replay, ending)

    def _start(self, replay: Replay) -> Ending | None:
        """Start the child process; returns an ending when that fails."""
        replay.started = True
        try:
            replay.running = Running(replay.job, self.seconds, self._command)
        except OSError as error:
            return Ending("fault", f"The replay's process could not be started ({error.strerror or error}).")
        return None

    @staticmethod
    def _work(replay: Replay, loop: asyncio.AbstractEventLoop) -> Ending:
        running = replay.running
        assert running is not None
        for event in running.events():
            loop.call_soon_threadsafe(replay.note, event)
        assert running.ending is not None
        return running.ending

    def _end(self, replay: Replay, ending: Ending) -> None:
        replay.ending = ending
        replay.running = None
        replay.touch()
        ended = [name for name, other in self._all.items() if other.ending is not None]
        for name in ended[: max(0, len(ended) - KEPT)]:
            del self._all[name]


def _cpu_status() -> Status:
    """For a device that is the CPU."""
    if importlib.util.find_spec("torch") is None:
        return Status(False, "pytorch", f"PyTorch is not installed: {INSTALL}.")
    return Status(True, None, "No GPU is used: replays are verified on the CPU, and their times mean nothing.")
