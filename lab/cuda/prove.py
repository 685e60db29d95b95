"""Proves the backend on a machine with a GPU, in under eight minutes: its tests there, then the whole measurement.

    python lab/cuda/prove.py [--out measurement.json] [--skip-tests]

Run from a checkout, with PyTorch, Triton and pytest (`make prove` installs them). The measurement of the course trace
is printed as tables and written as JSON, which the page opens. Exit status 0: the tests passed and it is valid.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lab.cuda.command import replay_on_device  # noqa: E402
from lab.cuda.detect import look  # noqa: E402
from lab.cuda.job import CPU, Settings, make_job  # noqa: E402
from lab.formats.trace_json import read_trace  # noqa: E402

SECONDS = 470
"""For everything together: under eight minutes."""

LOOK_SECONDS = 90
"""PyTorch, read from a disk for the first time, takes longer to import than a server's user would wait."""

TEST_SECONDS = 230


def main() -> int:
    """Returns the exit status: 0 proven, 1 not, 2 there is nothing to prove it on."""
    parser = argparse.ArgumentParser(description="Prove the CUDA backend on this machine's GPU.")
    parser.add_argument("--out", default="measurement.json", help="where the measurement goes (default: %(default)s)")
    parser.add_argument("--skip-tests", action="store_true", help="measure only")
    parser.add_argument("--rehearse", action="store_true", help="on the CPU, with a tiny shape: proves the script only")
    options = parser.parse_args()
    begun = time.monotonic()
    if not options.rehearse:
        status = look(seconds=LOOK_SECONDS)
        print(status.sentence, flush=True)
        if not status.available:
            return 2
    passed = None if options.skip_tests else _tests()
    settings = Settings()
    if options.rehearse:
        settings = Settings(device=CPU, shape="tiny", layers=2, dtype="float32", warmup=1, repeats=3)
    job = make_job(read_trace(ROOT / "traces" / "course.json"), settings=settings)
    left = round(SECONDS - (time.monotonic() - begun))
    code = replay_on_device(job, seconds=left, as_json=False, save=options.out)
    tests = {None: "were not run", True: "passed", False: "FAILED"}[passed]
    print(f"\n{time.monotonic() - begun:.0f} s in all; the tests {tests}.", flush=True)
    return code or (1 if passed is False else 0)


def _tests() -> bool:
    command = [sys.executable, "-m", "pytest", str(ROOT / "tests" / "cuda"), "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, timeout=TEST_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"The tests took more than {TEST_SECONDS} s.", flush=True)
        return False


if __name__ == "__main__":
    sys.exit(main())
