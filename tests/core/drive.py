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
