"""Runs one case in this interpreter, as often as it takes to time it, and fingerprints what came out.

A case is a workload, a policy and a way:

loop, spans: `lab.figures.figures` one iteration after the other, or with quiet spans in closed form
records:     `lab.engine.replay`, which makes a record of every iteration, counted by `lab.metrics.Tally`
plain:       the second implementation of the rules, in the tests; only where the checkout's tests are
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import lab
from lab.bench.workloads import Workload, made

PLAIN_ENGINE = Path(lab.__file__).resolve().parents[1] / "tests" / "core" / "plain_engine.py"
A_PIECE = 1000
"""Requests that are put into text at a time: of a million, all at once would be what takes the memory."""

KEPT = 4
"""Workloads that stay made: those of a group take turns."""

WITHIN = 1e-12
"""How far a mean or share may be off in the plain implementation, which adds in another order."""


class Outcome(NamedTuple):
    """The figures of one replay; `requests` is called for those of each request."""

    metrics: dict[str, Any]
    requests: Callable[[], dict[str, dict[str, Any]]]


Way = Callable[[Workload, str], Outcome]


def _figures(spans: bool) -> Way:
    def way(workload: Workload, policy: str) -> Outcome:
        from lab.figures import CLOSED_FORM, figures

        found = figures(workload.requests, workload.limits, policy, spans=spans)
        if spans and found.way != CLOSED_FORM:
            raise ValueError(f"not in closed form, but by the {found.way}")
        return Outcome(found.metrics, found.requests)

    return way


def _records(workload: Workload, policy: str) -> Outcome:
    from lab.engine import replay
    from lab.metrics import Tally
    from lab.screening import screen

    servable, rejected = screen(workload.requests, workload.limits, policy)
    tally = Tally(workload.requests, workload.limits, rejected)
    for record in replay(servable, workload.limits, policy):
        tally.add(record)
    return Outcome(tally.metrics(), tally.requests)


def _plain(workload: Workload, policy: str) -> Outcome:
    found = _plain_engine().plain_replay(workload.requests, workload.limits, policy)
    return Outcome(found["metrics"], lambda: found["requests"])


@cache
def _plain_engine() -> Any:
    spec = importlib.util.spec_from_file_location("plain_engine", PLAIN_ENGINE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WAYS: dict[str, Way] = {"loop": _figures(False), "spans": _figures(True), "records": _records, "plain": _plain}


def fingerprint(outcome: Outcome) -> str:
    """SHA-256 of every figure, those of each request too."""
    digest = hashlib.sha256(json.dumps(outcome.metrics, sort_keys=True).encode())
    entries = iter(outcome.requests().items())
    while piece := list(islice(entries, A_PIECE)):
        digest.update(repr(piece).encode())
    return digest.hexdigest()


def fingerprint_beside(plain: Outcome, ours: Outcome) -> str:
    """That of `ours` if `plain` has the same figures, means and shares to twelve digits; else what differs."""
    for name in sorted({*plain.metrics, *ours.metrics}):
        a, b = plain.metrics.get(name), ours.metrics.get(name)
        if not (math.isclose(a, b, rel_tol=WITHIN) if isinstance(a, float) and isinstance(b, float) else a == b):
            return f"{name} is {b}, in the plain implementation {a}"
    return fingerprint(ours) if plain.requests() == ours.requests() else "the figures of single requests differ"


def timed(case: dict[str, Any], clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """Run `case`: ``workload``, ``n``, ``policy``, ``way``, and ``at_least``: seconds to spend, 0 for a single run.

    Returns ``seconds`` of one run (the mean of `runs`), ``sha256`` of the figures, and some of them. What is timed
    starts from requests and ends with the metrics. With ``peak`` in the case also ``peak_mb``: the most memory that
    this process has had after the metrics, and ``peak_all_mb`` after the figures of each request.
    """
    workload = _made(case["workload"], case["n"])
    way = WAYS[case["way"]]
    gc.collect()
    runs = 0
    started = clock()
    while True:
        outcome = way(workload, case["policy"])
        runs += 1
        spent = clock() - started
        if spent >= case["at_least"]:
            break
    answer = {
        "seconds": spent / runs,
        "runs": runs,
        "requests": len(workload.requests),
        **{name: outcome.metrics[name] for name in ("decoded_tokens", "preemptions", "completed", "iterations")},
    }
    if case.get("peak"):
        answer["peak_mb"] = peak_mb()
        everything = outcome.requests()
        answer["peak_all_mb"] = peak_mb()
        del everything
    if case["way"] == "plain":
        answer["sha256"] = fingerprint_beside(outcome, _records(workload, case["policy"]))
    else:
        answer["sha256"] = fingerprint(outcome)
    return answer


@lru_cache(maxsize=KEPT)
def _made(name: str, n: int) -> Workload:
    return made(name, n)


def peak_mb() -> float:
    """The most memory that this process has had, in MB of 10**6 bytes: of a browser's, the size of its heap.

    Not `ru_maxrss` where Linux says better: that starts with what the parent process had.
    """
    if sys.platform == "emscripten":
        runtime: Any = importlib.import_module("pyodide_js")  # there is one only inside Pyodide
        return float(runtime._module.HEAP8.length) / 1e6
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6
