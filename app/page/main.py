"""The Panel app: controls and charts, and the replay that they drive.

The page owns the seat timeline, the page grid and the scrubber, and is sent a replay payload whenever the
limits change. The same code runs at build time in CPython, to draw the page before Python has started,
and in the browser under Pyodide.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from app.page import bootstrap
from app.page.asked import options_asked, refusal, trace_asked
from app.page.charts import PagesChart
from app.page.controls import Controls
from app.page.more import More
from app.page.payload import payload
from app.page.site_traces import site_traces
from lab import core
from lab.errors import InputError
from lab.options import Options
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
        self.limits = trace.limits
        self.options = trace.options
        self.controls = Controls(trace.limits, self.replay, self.reset)
        self.more = More(self.replay_with)
        self.charts = {policy: PagesChart(policy) for policy in ("static", "continuous")}
        self._draw(payload(trace))

    def replay(self, limits: Limits) -> None:
        """Run both policies under `limits`, redraw the charts and send the page what it draws.

        Raises `lab.errors.InputError` when the limits make no sense; the picture then stays as it was.
        """
        result = payload(self.trace, limits, self.options) if self._prepared is None else self._prepared
        self.limits = limits
        self._replayed(result)

    def replay_with(self, options: Options) -> None:
        """The same as `replay`, for the engine's options."""
        result = payload(self.trace, self.limits, options)
        self.options = options
        self._replayed(result)

    def reset(self) -> None:
        """Go back to the trace's own limits and options."""
        self._take(self.trace, self.trace.limits, self.trace.options)

    def _replayed(self, result: dict[str, Any]) -> None:
        self._draw(result)
        self.controls.name_reset(all_of_it=self.options != self.trace.options)
        self.more.show(self.options, self.limits, self.trace)
        self._send("replay", result)

    def _draw(self, result: dict[str, Any]) -> None:
        last = last_iteration(result["replay"])
        for chart in self.charts.values():
            chart.update(result, last)
        self.more.draw(result, self.trace, last)

    def _take(self, trace: Trace, limits: Limits, options: Options, **more: Any) -> None:
        """Replay `trace` under `limits` and `options` and bring the fields there; `more` goes along to the page.

        Raises InputError when that cannot be; everything is then as it was.
        """
        options.check_with(limits)
        self._prepared = {**payload(trace, limits, options), **more}
        self.trace, self.options = trace, options
        self.controls.defaults = trace.limits
        try:
            self.controls.set(limits)
        finally:
            self._prepared = None

    def open_state(self, state: Mapping[str, Any]) -> None:
        """Take a link's `{"limits": {field: value}, "options": {field: value}}`; what it leaves out is the trace's.

        A link that asks for nonsense changes nothing and is answered with one sentence.
        """
        defaults = {name: getattr(self.trace.limits, name) for name in self.controls.widgets}
        try:
            limits = Limits(**{**defaults, **state.get("limits", {})})
            self.controls.check(limits)
            self._take(self.trace, limits, Options(**{**self.trace.options.changes(), **state.get("options", {})}))
        except (InputError, TypeError) as error:
            self._send("refused", {"why": str(error)})

    def open_options(self, _asked: Any) -> dict[str, Any]:
        """Make the fields of the options, which stand in their place when the answer comes."""
        self.more.open(self.options, self.limits, self.trace)
        return {}

    def options_off(self, asked: Mapping[str, Any]) -> None:
        """Turn the option `asked["name"]` off, or all of them where that is None."""
        from app.page.option_fields import without

        name = asked["name"]
        self._take(self.trace, self.limits, Options() if name is None else without(self.options, name))

    def open_trace(self, asked: Mapping[str, Any]) -> None:
        """Take another trace: `{"trace": a trace file, "limits": {field: value} | None, "serial": n}`.

        Answered by a replay with that serial and with `defaults`, the trace's own limits, which are then the fields';
        or by `trace_refused` with row, field and one sentence, after which everything is as it was.
        """
        serial = asked["serial"]
        try:
            trace, limits = trace_asked(asked)
            self.controls.check(limits)
            options = options_asked(asked, trace)
            own = {"defaults": asdict(trace.limits), "default_options": trace.options.changes()}
            self._take(trace, limits, options, serial=serial, **own)
        except InputError as error:
            self._send("trace_refused", refusal(error, serial))

    def replay_request(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """`{"serial", "body"}`: what a server with a GPU is sent to replay what is on the screen."""
        from app.page.measured import replay_request

        return {"serial": asked["serial"], "body": replay_request(self.trace, self.limits, self.options)}

    def roots(self) -> dict[str, Any]:
        """The parts of the app by the name of the slot of the page that each is drawn in."""
        charts = {f"chart-{policy}": chart.figure for policy, chart in self.charts.items()}
        return {"controls": self.controls.view, **charts, **self.more.roots()}


_open: list[Lab] = []


def build(_state: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Start the app in the browser: the course trace, and a way for the page to open a link's state."""
    lab = Lab(course_trace(), send)
    _open[:] = [lab]
    bootstrap.register("open_state", lab.open_state)
    bootstrap.register("open_trace", lab.open_trace)
    bootstrap.register("open_options", lab.open_options)
    bootstrap.register("options_off", lab.options_off)
    bootstrap.register("replay_request", lab.replay_request)
    workshops: dict[str, Any] = {}
    for module, names in LATE.items():
        for name in names:
            bootstrap.register(name, _late(module, name, send, workshops))
    send("core", {"core": core.core()})
    return lab.roots()


LATE = {
    "app.page.measured": ("read_measurement", "compare_measurements"),
    "app.page.instruct": ("generate", "search"),
    "app.page.sheet": ("judge_trace", "write_trace"),
}
"""What the page may ask of modules that are imported when they are first asked: most visitors never do."""


def _late(module: str, name: str, send: Send, workshops: dict[str, Any]) -> Callable[[Any], Any]:
    """`name` of `module`; of its `Workshop`, which is made at the first question, if it has one."""

    def ask(asked: Mapping[str, Any]) -> Any:
        asks: Any = importlib.import_module(module)
        if hasattr(asks, "Workshop"):
            if module not in workshops:
                workshops[module] = asks.Workshop(send)
            asks = workshops[module]
        return getattr(asks, name)(asked)

    return ask


def rehearse() -> None:
    """Do once what a visitor may do, so that the builder sees which modules that needs."""
    (lab,) = _open
    lab.open_state({"limits": {"num_pages": 14}})
    lab.open_state({"limits": {"num_pages": 0}})
    lab.controls.widgets["max_num_seqs"].value = 0
    lab.controls.set(lab.trace.limits)
    for module in LATE:
        importlib.import_module(module)
