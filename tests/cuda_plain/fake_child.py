"""A device process without a device: `python fake_child.py HOW` reads a job and ends as HOW says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from made_up import measurement

from lab.cuda.job import job_from_dict


def tell(**event: object) -> None:
    print(json.dumps(event), flush=True)


def main(how: str, *more: str) -> None:
    if how == "deaf":  # does not even read its job
        time.sleep(600)
    job = job_from_dict(json.loads(sys.stdin.readline()))
    tell(event="progress", stage="verify static", done=0, of=2)
    tell(event="notice", text="The GPU is in use by others.")
    if how == "result":
        tell(event="progress", stage="verify static", done=2, of=2)
        tell(event="result", measurement=measurement(job))
    elif how == "lingers":  # done, but does not leave
        tell(event="result", measurement=measurement(job))
        time.sleep(600)
    elif how == "hang":
        time.sleep(600)
    elif how == "family":  # hangs, with a compiler of its own at work; its number goes into a file
        compiler = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(more[0]).write_text(str(compiler.pid))
        tell(event="progress", stage="compiling", done=1, of=2)
        time.sleep(600)
    elif how == "wait":  # until a file is there
        while not Path(more[0]).exists():
            time.sleep(0.02)
        tell(event="result", measurement=measurement(job))
    elif how == "signal":
        print("CUDA error: an illegal memory access was encountered", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "exit":
        sys.exit(7)
    elif how == "garbage":
        print("Loading checkpoint shards...", flush=True)
        time.sleep(600)
    elif how == "too-small":
        tell(event="error", kind="device", message="GPU 0 is too small.")
    elif how == "input":
        tell(event="error", kind="input", message="static: is too large to be replayed on a GPU")
    elif how == "chatty":  # far more than a pipe holds
        for number in range(20000):
            tell(event="progress", stage="verify static", done=number, of=20000)
        tell(event="result", measurement=measurement(job))


if __name__ == "__main__":
    main(*sys.argv[1:])
