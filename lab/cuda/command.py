"""`serving-lab replay TRACE --backend cuda`: the same replay on a real GPU, with measured times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lab.cuda.job import Job
from lab.cuda.plan import plans_of
from lab.cuda.running import Ending, Running
from lab.files import whole_file
from lab.measurement.saved import dump_measurement
from lab.measurement.table import render_measurement
from lab.terminal import notice

DONE, NOT_VALID, CANNOT, OUR_FAULT = 0, 1, 2, 3


def replay_on_device(
    job: Job, *, seconds: float, as_json: bool, save: str | None = None, command: list[str] | None = None
) -> int:
    """Do `job` in a child process, print the measurement, and save it; returns the exit status.

    0 done; 1 done, but the measurement is not valid; 2 there is no such device, or the trace cannot be replayed there;
    3 a fault of ours, or the child process died. `command`: another child, for tests.
    Raises InputError for a log that a GPU cannot repeat, before a process is started.
    """
    plans_of(job.trace, job.policies)
    running = Running(job, seconds, command)
    show = _progress()
    for event in running.events():
        if event["event"] == "notice":
            notice(f"serving-lab replay: {event['text']}")
        else:
            show(event)
    show({})
    assert running.ending is not None
    return _finish(running.ending, as_json, save)


def _finish(ending: Ending, as_json: bool, save: str | None) -> int:
    if ending.measurement is None:
        if ending.details:
            print(ending.details.rstrip(), file=sys.stderr)
        notice(f"serving-lab replay: {ending.message}")
        return OUR_FAULT if ending.outcome in ("crashed", "fault") else CANNOT
    measurement = ending.measurement
    text = dump_measurement(measurement)
    if save is not None:
        with whole_file(save) as file:
            file.write(text)
    print(text if as_json else render_measurement(measurement), end="")
    if not measurement["valid"]:
        notice(f"serving-lab replay: the measurement is not valid: {' '.join(measurement['invalid_because'])}")
        return NOT_VALID
    return DONE


def _progress() -> Callable[[dict[str, Any]], None]:
    """Shows progress on one line of a terminal, and nothing elsewhere; an empty event clears the line."""
    out = sys.stderr
    if out is None or not out.isatty():
        return lambda event: None
    shown = 0

    def show(event: dict[str, Any]) -> None:
        nonlocal shown
        line = f"{event['stage']}: {event['done']} of {event['of']}" if event else ""
        out.write("\r" + line.ljust(shown) + ("" if line else "\r"))
        out.flush()
        shown = len(line)

    return show
