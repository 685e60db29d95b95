"""Short ways to write a scenario: requests as tuples, rows by iteration."""

from pathlib import Path

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
