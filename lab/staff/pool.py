"""Grades many submissions side by side: one process a job, each with one solution at a time in a box of its own."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lab.exercises import Exercise
from lab.grading.report import Result
from lab.staff.attribution import Submission
from lab.staff.box.processes import end_descendants
from lab.staff.box.system import PR_SET_CHILD_SUBREAPER, die_with_parent, prctl
from lab.staff.grading import faulty, grade_submission
from lab.staff.plan import Plan

LOST = 2
"""How many workers a submission may take with it before it is given up."""

Task = tuple[Submission, Exercise]
Work = Callable[[Submission, Exercise, Plan, int], Result]

Graded = tuple[int, Result, float]
"""Which task, its result, and the seconds that it took."""


def run(tasks: Sequence[Task], plan: Plan, jobs: int, work: Work = grade_submission) -> Iterator[Graded]:
    """The results of `tasks`, as they come. Leaving the loop early ends everything that was started.

    work: what is done with each: ``work(submission, exercise, plan, job)``
    """
    pending = list(range(len(tasks)))[::-1]
    lost: dict[int, int] = {}
    workers: list[_Worker] = []
    selector = selectors.DefaultSelector()
    try:
        for job in range(min(jobs, len(tasks))):
            workers.append(_Worker(tasks, plan, job, work))
            selector.register(workers[-1].answers, selectors.EVENT_READ, workers[-1])
            workers[-1].give(pending.pop())
        busy = len(workers)
        while busy:
            for key, _ in selector.select():
                worker: _Worker = key.data
                told = worker.hear()
                if told is None:
                    continue
                index = worker.task
                if told:
                    yield index, told["result"], told["seconds"]
                else:  # the worker is gone: killed by what it ran, or by somebody
                    selector.unregister(worker.answers)
                    worker.end()
                    lost[index] = lost.get(index, 0) + 1
                    if lost[index] < LOST:
                        pending.append(index)
                    else:
                        reason = "the process that graded it was killed more than once"
                        yield index, faulty(*tasks[index], plan, reason), 0.0
                    job = workers.index(worker)
                    worker = workers[job] = _Worker(tasks, plan, job, work)
                    selector.register(worker.answers, selectors.EVENT_READ, worker)
                if pending:
                    worker.give(pending.pop())
                else:
                    busy -= 1
    finally:
        for worker in workers:
            worker.end()
        selector.close()
        end_descendants(20.0)


class _Worker:
    """One forked process. It is told the number of a task, and tells its result, one line each."""

    def __init__(self, tasks: Sequence[Task], plan: Plan, job: int, work: Work) -> None:
        numbers, self._numbers = os.pipe()
        self.answers, answers = os.pipe()
        self.task = -1
        self._heard: list[bytes] = []
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                os.close(self._numbers)
                os.close(self.answers)
                _work(tasks, plan, job, work, parent, numbers, answers)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(numbers)
        os.close(answers)

    def give(self, task: int) -> None:
        """Have it grade a task. A worker that is gone is noticed when its answer is awaited."""
        self.task = task
        with contextlib.suppress(OSError):
            os.write(self._numbers, b"%d\n" % task)

    def hear(self) -> dict[str, Any] | None:
        """What it tells: None if that is not all there yet, empty if it is gone."""
        piece = os.read(self.answers, 1 << 20)
        if not piece:
            return {}
        self._heard.append(piece)
        if not piece.endswith(b"\n"):
            return None
        line = b"".join(self._heard)
        self._heard = []
        told: dict[str, Any] = json.loads(line)
        return told

    def end(self) -> None:
        """End it. What it runs ends with it: the keeper sees the lifeline close."""
        if self._pid:
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(self._pid, 0)
            os.close(self._numbers)
            os.close(self.answers)
            self._pid = 0


def _work(tasks: Sequence[Task], plan: Plan, job: int, work: Work, parent: int, numbers: int, answers: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends this one
    for action in (die_with_parent, lambda: prctl(PR_SET_CHILD_SUBREAPER, 1)):
        with contextlib.suppress(OSError):
            action()
    if os.getppid() != parent:
        return
    with os.fdopen(numbers, "rb") as told:
        for line in told:
            submission, exercise = tasks[int(line)]
            start = time.monotonic()
            try:
                result = work(submission, exercise, plan, job)
            except Exception as error:
                traceback.print_exc()
                result = faulty(submission, exercise, plan, f"{type(error).__name__}: {error}")
            seconds = round(time.monotonic() - start, 3)
            _send(answers, json.dumps({"result": result, "seconds": seconds}).encode() + b"\n")


def _send(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
