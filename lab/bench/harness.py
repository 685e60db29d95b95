"""Lets the cases of each group take turns in their workers, and keeps what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from lab.bench.lines import Worker, WorkerError
from lab.bench.plan import Case, Group
from lab.bench.results import Results

Start = Callable[[], Worker]
WARM_UP = {"workload": "steady", "n": 9, "policy": "continuous", "way": "spans", "at_least": 0}


class Harness:
    """Measures, with the workers that can be started here. To be closed."""

    def __init__(self, starts: Mapping[str, Start], say: Callable[[str], None]) -> None:
        """starts: by name (see `lab.bench.plan.WORKERS`), what starts a worker; those that are not there are left out

        say: is told what is being done
        """
        self._starts = dict(starts)
        self._say = say
        self._running: dict[str, Worker] = {}
        self.about: dict[str, dict[str, object]] = {}
        self.results = Results()

    def start(self) -> None:
        """Start all workers, and ask each what it is. One that does not start is told as a problem, and left out."""
        for name in list(self._starts):
            self._guard(name, partial(self._ask_about, name))

    def measure(self, groups: Iterable[Group]) -> Results:
        """Measure all of `groups`."""
        for group in groups:
            self._say(group.title)
            for turn in range(0 if group.warm_up else 1, group.rounds + 1):
                for case in group.cases:
                    for name in case.workers:
                        if name in self._starts:
                            self._guard(name, partial(self._take, case, name, turn > 0))
        return self.results

    def _ask_about(self, name: str) -> None:
        self.about[name] = self._worker(name).ask({"about": True})

    def _take(self, case: Case, name: str, counts: bool) -> None:
        if case.way == "plain" and not self.about[name].get("plain"):
            return
        worker = self._fresh(name) if case.fresh else self._worker(name)
        try:
            answer = worker.ask(
                {
                    **{"workload": case.workload, "n": case.n, "policy": case.policy, "way": case.way},
                    **{"at_least": case.at_least if counts else 0, "peak": case.fresh},
                }
            )
        finally:
            if case.fresh:
                worker.close()
        self.results.entry(case, name).add(answer, counts)

    def _fresh(self, name: str) -> Worker:
        worker = self._starts[name]()
        worker.ask(WARM_UP)  # what is imported at the first call is not what is measured
        return worker

    def _worker(self, name: str) -> Worker:
        if name not in self._running:
            self._running[name] = self._starts[name]()
        return self._running[name]

    def _guard(self, name: str, act: Callable[[], None]) -> None:
        try:
            act()
        except WorkerError as error:
            self.results.problems.append(str(error))
            self._say(str(error))
            self.leave_out(name)

    def leave_out(self, name: str) -> None:
        """Measure nothing more in the worker `name`."""
        if name in self._running:
            self._running.pop(name).close()
        self._starts.pop(name, None)
        self.about.pop(name, None)

    def close(self) -> None:
        """End all workers."""
        while self._running:
            self._running.popitem()[1].close()
