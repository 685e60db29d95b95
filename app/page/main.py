"""The Panel app: controls and charts, and the replay that they drive.

The page owns the seat timeline, the page grid and the scrubber, and is sent a replay payload whenever the
limits change. The same code runs at build time in CPython, to draw the page before Python has started,
and in the browser under Pyodide.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from app.page import bootstrap
from app.page.charts import PagesChart
from app.page.controls import Controls
from app.page.instruct import Workshop, refusal, trace_asked
from app.page.payload import payload
from app.page.sheet import judge_trace, write_trace
from app.page.site_traces import site_traces
from lab.errors import InputError
from lab.workload import Limits, Trace

Send = Callable[[str, Any], None]


def course_trace() -> Trace:
    """The nine requests of the course; in a site with traces of its own, the first of those."""
    return site_traces()[0]


def last_iteration(document: Mapping[str, Any]) -> int:
    """The last iteration of the longest policy, at least 1: the common end of every time axis."""
    return max([1, *(policy["metrics"]["iterations"] for policy in document["policies"].values())])


class Lab:
    """One trace, its controls and its charts. `send(name, data)` posts plain data to the page."""

    def __init__(self, trace: Trace, send: Send) -> None:
        self.trace = trace
        self._send = send
        self._prepared: dict[str, Any] | None = None  # a replay that was made before the fields are set to its limits
        self.controls = Controls(trace.limits, self.replay)
        self.charts = {policy: PagesChart(policy) for policy in ("static", "continuous")}
        self._draw(payload(trace))

    def replay(self, limits: Limits) -> None:
        """Run both policies under `limits`, redraw the charts and send the page what it draws.

        Raises `lab.errors.InputError` when the limits make no sense; the picture then stays as it was.
        """
        result = payload(self.trace, limits) if self._prepared is None else self._prepared
        self._draw(result)
        self._send("replay", result)

    def _draw(self, result: dict[str, Any]) -> None:
        last = last_iteration(result["replay"])
        for chart in self.charts.values():
            chart.update(result, last)

    def open_state(self, state: Mapping[str, Any]) -> None:
        """Take the limits of a link (`{"limits": {field: value}}`); what the link leaves out is the trace's.

        A link that asks for nonsense changes nothing and is answered with one sentence.
        """
        defaults = {name: getattr(self.trace.limits, name) for name in self.controls.widgets}
        try:
            limits = Limits(**{**defaults, **state.get("limits", {})})
            self.controls.check(limits)
        except (InputError, TypeError) as error:
            self._send("refused", {"why": str(error)})
            return
        self.controls.set(limits)

    def open_trace(self, asked: Mapping[str, Any]) -> None:
        """Take another trace: `{"trace": a trace file, "limits": {field: value} | None, "serial": n}`.

        Answered by a replay with that serial and with `defaults`, the trace's own limits, which are then the fields';
        or by `trace_refused` with row, field and one sentence, after which everything is as it was.
        """
        serial = asked["serial"]
        try:
            trace, limits = trace_asked(asked)
            self.controls.check(limits)
            self._prepared = {**payload(trace, limits), "serial": serial, "defaults": asdict(trace.limits)}
        except InputError as error:
            self._send("trace_refused", refusal(error, serial))
            return
        self.trace = trace
        self.controls.defaults = trace.limits
        try:
            self.controls.set(limits)
        finally:
            self._prepared = None

    def roots(self) -> dict[str, Any]:
        """The parts of the app by the name of the slot of the page that each is drawn in."""
        charts = {f"chart-{policy}": chart.figure for policy, chart in self.charts.items()}
        return {"controls": self.controls.view, **charts}


_open: list[Lab] = []


def build(_state: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Start the app in the browser: the course trace, and a way for the page to open a link's state."""
    lab = Lab(course_trace(), send)
    _open[:] = [lab]
    bootstrap.register("open_state", lab.open_state)
    bootstrap.register("open_trace", lab.open_trace)
    workshop = Workshop(send)
    bootstrap.register("generate", workshop.generate)
    bootstrap.register("search", workshop.search)
    bootstrap.register("judge_trace", judge_trace)
    bootstrap.register("write_trace", write_trace)
    return lab.roots()


def rehearse() -> None:
    """Do once what a visitor may do, so that the builder sees which modules that needs."""
    (lab,) = _open
    lab.open_state({"limits": {"num_pages": 14}})
    lab.open_state({"limits": {"num_pages": 0}})
    lab.controls.widgets["max_num_seqs"].value = 0
    lab.controls.set(lab.trace.limits)
