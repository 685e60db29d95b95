"""What a trace teaches: its figures under both policies side by side, the gates met, and one sentence."""

from __future__ import annotations

from typing import Any

from lab.policies import POLICIES
from lab.records import Idle, Iteration
from lab.replay import Replay

GATES = ("seats", "tokens", "pages", "batch")
"""Why the head of the queue can be held back, in the order in which the engine asks; `batch` under static only."""

FIGURES: tuple[tuple[str, str, str], ...] = (
    ("utilization", "Utilization", "share"),
    ("iterations", "Iterations", "iterations"),
    ("wait_mean", "Wait, mean", "iterations"),
    ("wait_p95", "Wait, P95", "iterations"),
    ("wait_max", "Wait, longest", "iterations"),
    ("latency_mean", "Latency, mean", "iterations"),
    ("latency_p95", "Latency, P95", "iterations"),
    ("peak_pages", "Peak pages", "pages"),
    ("preemptions", "Preemptions", "times"),
    ("completed", "Completed", "requests"),
    ("rejected", "Rejected", "requests"),
)
"""(name as in `lab.metrics`, label, unit) of each figure. A P95 is by the rule `lab.metrics.P95_RULE`."""


class GateCount:
    """Counts, as a replay's `watch`, the iterations in which each gate held back the head of the queue."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {policy: dict.fromkeys(GATES, 0) for policy in POLICIES}

    def __call__(self, policy: str, record: Iteration | Idle) -> None:
        """Count one record."""
        if isinstance(record, Iteration) and record.gate is not None:
            counts = self.counts[policy]
            counts[record.gate] = counts.get(record.gate, 0) + 1  # an option may have a gate of its own


def figure(metrics: dict[str, Any], name: str) -> int | float:
    """The figure `name` of FIGURES as a number; rejected requests are counted."""
    value = metrics[name]
    return len(value) if isinstance(value, list) else value


def teaches(replay: Replay, gates: GateCount) -> dict[str, Any]:
    """What `replay`, of both policies and watched by `gates`, shows; plain JSON data.

    ``figures``:  ``[{"name", "label", "unit", "static", "continuous"}, …]``; a utilization is from 0 to 1
    ``gates``:    ``{policy: {gate: iterations}}``: for how long the head of the queue waited for what
    ``sentence``: what students will see
    """
    return {
        "figures": [
            {
                "name": name,
                "label": label,
                "unit": unit,
                **{policy: figure(outcome.metrics, name) for policy, outcome in replay.policies.items()},
            }
            for name, label, unit in FIGURES
        ],
        "gates": gates.counts,
        "sentence": sentence(replay, gates),
    }


def sentence(replay: Replay, gates: GateCount) -> str:
    """What students will see, in one sentence."""
    if not replay.trace.requests:
        return "The trace has no requests, so there is nothing to see yet."
    static, continuous = (replay.policies[policy].metrics for policy in ("static", "continuous"))
    if not static["completed"] and not continuous["completed"]:
        turned_away = continuous["rejected"]
        if len(turned_away) == len(replay.trace.requests) and all(entry["reason"] != "limit" for entry in turned_away):
            return "No request can ever be served: each needs more than these limits allow."
        return "No request is completed: clients leave before, or their limit turns them away."
    clauses = [_comparison(static, continuous, gates)]
    clauses += [_preempted(replay, static, continuous) or _queue(continuous, gates), *_rejected(static, continuous)]
    return "; ".join(clause for clause in clauses if clause) + "."


def _comparison(static: dict[str, Any], continuous: dict[str, Any], gates: GateCount) -> str:
    slow, fast = static["iterations"], continuous["iterations"]
    if slow == fast:
        return _same_length(static, continuous)
    said = f"Static batching takes {_iterations(slow)} and continuous {fast}"
    if static["completed"] != continuous["completed"]:
        return said  # they did not do the same work: the requests turned away say why
    if slow > fast:
        shares = f"utilization {static['utilization']:.0%} against {continuous['utilization']:.0%}"
        return f"{said}, since a seat that falls free stays empty until its whole batch is done ({shares})"
    if continuous["preemptions"]:
        return f"{said}, which gives seats out early and has to take some back"
    if gates.counts["continuous"]["tokens"]:
        return f"{said}, since only continuous keeps to the token budget"
    return said


def _same_length(static: dict[str, Any], continuous: dict[str, Any]) -> str:
    said = f"Both policies take {_iterations(static['iterations'])}"
    if static["wait_mean"] != continuous["wait_mean"]:
        waits = f"{static['wait_mean']:.1f} iterations under static and {continuous['wait_mean']:.1f} under continuous"
        return f"{said}, but a request waits on average {waits}"
    if not static["wait_max"] and not continuous["wait_max"]:
        return f"{said}, and nobody waits under either"
    if static["latency_mean"] != continuous["latency_mean"]:
        return f"{said} with the same waits, but not the same latencies"
    return f"{said}, with the same waits under either"


def _preempted(replay: Replay, static: dict[str, Any], continuous: dict[str, Any]) -> str:
    counts = {name: metrics["preemptions"] for name, metrics in (("static", static), ("continuous", continuous))}
    some = [f"{policy} preempts {_times(count)}" for policy, count in counts.items() if count]
    dry = f", since the pool of {_counted(replay.limits.num_pages, 'page')} runs dry"
    return " and ".join(some) + dry if some else ""


def _queue(continuous: dict[str, Any], gates: GateCount) -> str:
    """What the queue waits for longest under continuous batching, empty if there is none."""
    counts = gates.counts["continuous"]
    gate = max(GATES, key=lambda name: counts[name])
    if not counts[gate]:
        return ""
    what = {"seats": "a seat", "pages": "pages", "tokens": "room in the token budget"}[gate]
    busy = _counted(continuous["busy_iterations"], "busy iteration")
    return f"under continuous the queue waits for {what} in {counts[gate]} of {busy}"


def _rejected(static: dict[str, Any], continuous: dict[str, Any]) -> list[str]:
    """Who is turned away. What a client's limit refuses is not too large for the engine, so it is told apart."""
    rejected = {"static": static["rejected"], "continuous": continuous["rejected"]}
    too_large = {name: sum(entry["reason"] != "limit" for entry in entries) for name, entries in rejected.items()}
    refused = {name: len(entries) - too_large[name] for name, entries in rejected.items()}
    clauses = []
    if any(too_large.values()):
        clauses.append(f"{_by_policy(too_large)} can never be served")
    if any(refused.values()):
        are = "is" if set(refused.values()) <= {0, 1} else "are"
        clauses.append(f"{_by_policy(refused)} {are} turned away by their client's limit")
    return clauses


def _by_policy(counts: dict[str, int]) -> str:
    """So many requests, once where it is the same under either policy."""
    if counts["static"] == counts["continuous"]:
        return _counted(counts["static"], "request")
    return " and ".join(f"{_counted(count, 'request')} under {policy}" for policy, count in counts.items() if count)


def _iterations(n: int) -> str:
    return _counted(n, "iteration")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")
