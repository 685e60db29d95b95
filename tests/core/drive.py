"""Short ways to write a scenario: requests as tuples, rows by iteration."""

import os
import subprocess
import sys
from pathlib import Path

from lab.core import why
from lab.engine import replay
from lab.workload import Limits, Request, Trace

COURSE = Path(__file__).resolve().parents[2] / "traces" / "course.json"
GOLDEN = Path(__file__).resolve().parent / "golden" / "course.json"


BY_HAND = {
    "iterations": 7,
    "busy_iterations": 7,
    "decoded_tokens": 8,
    "utilization": 8 / 14,
    "wait_mean": 0.0,
    "wait_p95": 0,
    "wait_max": 0,
    "latency_mean": 5.5,
    "latency_p95": 4,
    "peak_pages": 4,
    "wasted_slots_peak": 1,
    "occupancy": 24 / 28,
    "preemptions": 1,
    "completed": 2,
    "rejected": [],
}
"""Every figure of two requests (arrival 0, 3 tokens in, 4 out) on 2 seats and 4 pages of 2 tokens, continuous.

Pages held: 4 3 3 4 3 3 4 (see test_preemption); KV tokens: 8 5 6 7 5 6 7.
"""


def requests_of(*specs):
    """Requests from (id, arrival, prompt_tokens, output_tokens) tuples."""
    return tuple(Request(*spec) for spec in specs)


def trace_of(*specs, name="scenario", **limits):
    """A trace of (id, arrival, prompt_tokens, output_tokens) tuples."""
    return Trace(name, Limits(**limits), requests_of(*specs))


def rows_of(policy, *specs, **limits):
    """Every record of a replay as its row, in order."""
    return [record.to_row() for record in replay(requests_of(*specs), Limits(**limits), policy)]


def busy_of(policy, *specs, **limits):
    """Busy rows by iteration number."""
    return {row["iteration"]: row for row in rows_of(policy, *specs, **limits) if "idle" not in row}


def said_of_the_core(since=None):
    """The line on stderr that says which core ran, and that it went through each iteration `since` …"""
    way = "quiet spans in closed form" if since is None else f"iteration by iteration, since {since}"
    return f"serving-lab: {why()}; {way}\n"


def printed_in_processes(strategies):
    """What two processes with unlike hash seeds print of the first 40 cases of the module `strategies`."""
    program = (
        f"import json, {strategies}\n"
        "for seed in range(40):\n"
        f"    replay = {strategies}.replay_of({strategies}.seeded_case(seed))\n"
        "    print(replay.to_json(), json.dumps(replay.to_document()))\n"
    )
    here = Path(__file__).resolve().parent
    path = os.pathsep.join([str(here), str(here.parents[1])])
    return [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
