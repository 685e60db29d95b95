"""Every way to come to the figures of a replay, laid beside the records."""

from contextlib import contextmanager

from lab import figures as module
from lab.engine import replay, screen
from lab.figures import figures
from lab.metrics import summarize
from lab.records import Iteration

WAYS = ("loop", "buckets", "heap")
"""One iteration after the other; spans with a bucket for each place in a page; spans with a heap of who needs one."""


@contextmanager
def _buckets(most):
    before, module.MOST_BUCKETS = module.MOST_BUCKETS, most
    try:
        yield
    finally:
        module.MOST_BUCKETS = before


def outcome(case, policy, way, most=None):
    """Metrics, figures of the requests, and iterations a gate, as `way` has them."""
    with _buckets(0 if way == "heap" else 4096):
        found = figures(case.requests, case.limits, policy, spans=way != "loop", most=most)
    assert found.way == ("loop: asked for" if way == "loop" else "closed form")
    return found.metrics, found.requests(), found.gates


def from_records(case, policy):
    """The same from the engine's records."""
    servable, rejected = screen(case.requests, case.limits, policy)
    records = list(replay(servable, case.limits, policy))
    summary = summarize(records, case.requests, case.limits, rejected)
    gates = dict.fromkeys(("seats", "tokens", "pages", "batch"), 0)
    for record in records:
        if isinstance(record, Iteration) and record.gate is not None:
            gates[record.gate] += 1
    return summary["metrics"], summary["requests"], gates


def apart(case, policies=("static", "continuous"), ways=WAYS, against=from_records):
    """In which ways the figures of `case` are not those `against`: a list of lines, empty when all are the same."""
    lines = []
    for policy in policies:
        expected = against(case, policy)
        for way in ways:
            found = outcome(case, policy, way)
            if found != expected or list(found[1]) != list(expected[1]):
                pairs = zip(("metrics", "requests", "gates"), found, expected, strict=True)
                said = [f"{name} {a} not {b}" for name, a, b in pairs if a != b] or ["requests in another order"]
                lines.append(f"{policy}, {way}, {case}: {'; '.join(said)}")
    return lines


def by_loop(case, policy):
    """What the kernel comes to one iteration after the other, for replays that are long for records."""
    return outcome(case, policy, "loop")
