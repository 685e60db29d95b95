"""What was measured, to be asked for by where and what. Plain data inside, as it goes into the JSON file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from lab.bench.plan import Case


@dataclass(slots=True)
class Measured:
    """One case in one worker. `seconds` of one run, a round each; `first_s`: of the round that does not count."""

    section: str
    workload: str
    n: int
    policy: str
    way: str
    worker: str
    seconds: list[float] = field(default_factory=list)
    first_s: float | None = None
    peak_mb: list[float] = field(default_factory=list)
    peak_all_mb: list[float] = field(default_factory=list)
    requests: int = 0
    tokens: int = 0
    preemptions: int = 0
    sha256: list[str] = field(default_factory=list)

    def add(self, answer: dict[str, Any], counts: bool) -> None:
        """Take one answer of a worker; see `lab.bench.measuring.timed`."""
        if counts:
            self.seconds.append(answer["seconds"])
        else:
            self.first_s = answer["seconds"]
        self.requests, self.tokens = answer["requests"], answer["decoded_tokens"]
        self.preemptions = answer["preemptions"]
        if answer["sha256"] not in self.sha256:
            self.sha256.append(answer["sha256"])
        for name in ("peak_mb", "peak_all_mb"):
            if name in answer:
                getattr(self, name).append(answer[name])

    @property
    def key(self) -> tuple[object, ...]:
        """What it is that was measured."""
        return self.section, self.workload, self.n, self.policy, self.way, self.worker

    def a(self, what: str) -> tuple[float, float, float]:
        """Median, least and most seconds a ``run``, nanoseconds a ``token``, microseconds a ``request``."""
        unit = {"run": 1.0, "token": self.tokens / 1e9, "request": self.requests / 1e6}[what]
        ordered = sorted(self.seconds)
        return median(ordered) / unit, ordered[0] / unit, ordered[-1] / unit


class Results:
    """All that was measured, and the problems that there were."""

    def __init__(self, measured: Iterable[Measured] = ()) -> None:
        self._entries = {one.key: one for one in measured}
        self.problems: list[str] = []

    def entry(self, case: Case, worker: str) -> Measured:
        """The entry of `case` in `worker`, made if it is not there."""
        made = Measured(case.section, case.workload, case.n, case.policy, case.way, worker)
        return self._entries.setdefault(made.key, made)

    @property
    def measured(self) -> list[Measured]:
        """All that was measured at least once, in that order."""
        return [one for one in self._entries.values() if one.seconds]

    def of(
        self,
        section: str,
        workload: str | None = None,
        n: int | None = None,
        policy: str | None = None,
        way: str | None = None,
        worker: str | None = None,
    ) -> Iterator[Measured]:
        """Those of `section` that are as asked, in the order in which they were measured."""
        asked = (workload, n, policy, way, worker)
        for one in self.measured:
            has = (one.workload, one.n, one.policy, one.way, one.worker)
            if one.section == section and all(a is None or a == h for a, h in zip(asked, has, strict=True)):
                yield one

    def differences(self) -> list[str]:
        """A line for each replay whose figures are not the same in every worker, way and round."""
        return [
            f"{workload} of {n:,} requests, {policy}: {len(found)} different answers ("
            + "; ".join(f"{sha256[:60]} in {', '.join(where)}" for sha256, where in found.items())
            + ")"
            for (workload, n, policy), found in self._answers().items()
            if len(found) > 1
        ]

    def replays(self, way: str | None = None) -> int:
        """How many different replays were measured, or were also made in this way."""
        ways = {(one.workload, one.n, one.policy) for one in self.measured if way in (None, one.way)}
        return len(ways)

    def _answers(self) -> dict[tuple[str, int, str], dict[str, list[str]]]:
        answers: dict[tuple[str, int, str], dict[str, list[str]]] = {}
        for one in self.measured:
            found = answers.setdefault((one.workload, one.n, one.policy), {})
            for sha256 in one.sha256:
                found.setdefault(sha256, []).append(f"{one.worker} {one.way}")
        return answers

    def to_list(self) -> list[dict[str, Any]]:
        """Plain data, for the JSON file."""
        return [asdict(one) for one in self.measured]
