"""Visits in turn, so that what the machine does besides falls on all that is compared."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.bench.line import FULL_SPEED, Network
from app.bench.visit import Bench, Side, VisitFailed, visit
from app.build.say import say

EXPECTED = {
    ("site", True): 14,
    ("plain", True): 30,
    ("bare", True): 9,
    ("site", False): 26,
    ("plain", False): 64,
    ("bare", False): 14,
}
"""Seconds of a cold and a warm visit together by kind and whether at full speed, for the time said beforehand."""


def expected(sides: Sequence[Side], networks: Sequence[Network], runs: int) -> float:
    """Seconds that the visits take, roughly, on two cores of 2026."""
    return runs * sum(EXPECTED[side.kind, network is FULL_SPEED] for side in sides for network in networks)


def measured(bench: Bench, sides: Sequence[Side], networks: Sequence[Network], runs: int) -> Iterator[dict[str, Any]]:
    """The records of all visits, each as soon as it is made: what `visit` returns, with where it belongs.

    In each run every side is visited cold, with a fresh profile, and then warm: the browser is started again with that
    profile. The order of the sides turns from run to run. A visit that fails is a record with `failed`.
    """
    for run in range(runs):
        for network in networks:
            turned = [sides[(run + place) % len(sides)] for place in range(len(sides))]
            for side in turned:
                yield from _pair(bench, side, network, run)


def _pair(bench: Bench, side: Side, network: Network, run: int) -> Iterator[dict[str, Any]]:
    from playwright.sync_api import Error

    profile = Path(tempfile.mkdtemp(prefix="serving-lab-bench-"))
    try:
        for turn in ("cold", "warm"):
            record: dict[str, Any] = {"side": side.name, "network": network.name, "visit": turn, "run": run + 1}
            try:
                record |= visit(bench, side, network, profile)
                said = f"interactive after {record['interactive']:.2f} s"
            except (VisitFailed, Error) as problem:
                record["failed"] = str(problem).splitlines()[0]
                said = f"failed: {problem}"
            say(f"run {run + 1}, {network.name}, {side.name}, {turn}: {said}")
            yield record
            if "failed" in record:
                return
    finally:
        shutil.rmtree(profile, ignore_errors=True)
