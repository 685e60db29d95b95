"""The child process of a replay: `python -m lab.cuda.child`. What it reads and writes is said in `lab.cuda.running`."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, TextIO

from lab.cuda import detect
from lab.cuda.detect import INSTALL
from lab.cuda.job import CPU, Job, job_from_dict
from lab.errors import InputError, printable

OUR_FAULT = 3


class DeviceError(Exception):
    """The device is missing or too small, in one sentence."""


def main() -> int:
    """Read a job, do it, report. Returns the exit status: 0 when a result or a reason was written."""
    # What libraries print goes to stderr, so that nothing but events is on the pipe that they were given for.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    line = sys.stdin.buffer.readline()
    if not line:
        return OUR_FAULT
    threading.Thread(target=_leave_with_parent, daemon=True).start()

    def tell(event: dict[str, Any]) -> None:
        _write(out, event)

    try:
        measurement = run(job_from_dict(json.loads(line)), tell)
    except InputError as error:
        tell({"event": "error", "kind": "input", "message": str(error)})
    except DeviceError as error:
        tell({"event": "error", "kind": "device", "message": str(error)})
    except Exception as error:
        details = traceback.format_exc()
        kind, message = ("device", _memory_sentence()) if _out_of_memory(error) else ("fault", _fault(error))
        tell({"event": "error", "kind": kind, "message": message, "details": details})
    else:
        tell({"event": "result", "measurement": measurement})
    return 0


def run(job: Job, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Do `job` on its device; returns the measurement. Raises InputError and DeviceError."""
    if job.settings.device == CPU:
        if importlib.util.find_spec("torch") is None:
            raise DeviceError(f"PyTorch is not installed: {INSTALL}.")
    else:
        os.environ.pop("TRITON_INTERPRET", None)  # set for tests on a CPU; on a GPU nothing could be recorded with it
        status = detect.detect(ask_memory=False)
        if not status.available:
            raise DeviceError(status.sentence)
        if job.settings.device >= len(status.devices):
            raise DeviceError(
                f"There is no GPU {job.settings.device}: {status.sentence} Choose one with --cuda-device."
            )
    from lab.cuda.measure import measure

    return measure(job, tell)


def _write(out: TextIO, event: dict[str, Any]) -> None:
    out.write(json.dumps(event, allow_nan=False) + "\n")
    out.flush()


def _leave_with_parent() -> None:
    # Nothing more comes on stdin, so that this returns only when whoever started us has gone or wants us gone.
    sys.stdin.buffer.read()
    os._exit(OUR_FAULT)


def _out_of_memory(error: BaseException) -> bool:
    return type(error).__name__ == "OutOfMemoryError"


def _memory_sentence() -> str:
    return (
        "The GPU's memory did not suffice: choose fewer layers, a smaller shape or pool, another GPU, or a larger "
        "--cuda-memory-share."
    )


def _fault(error: BaseException) -> str:
    return printable(f"The replay failed ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})")


if __name__ == "__main__":
    sys.exit(main())
