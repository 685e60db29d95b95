"""Bokeh charts that only an option brings: histograms of times, and what each client was served."""

from __future__ import annotations

from typing import Any

from bokeh.models.annotations import BoxAnnotation, Span
from bokeh.models.formatters import BasicTickFormatter, NumeralTickFormatter
from bokeh.models.ranges import Range1d
from bokeh.models.sources import ColumnDataSource
from bokeh.models.tickers import BasicTicker, FixedTicker
from bokeh.models.tools import HoverTool
from bokeh.plotting import figure

from app.page.charts import GUTTER_LEFT, GUTTER_RIGHT
from app.page.palette import HUES
from lab.workload import Trace

TIMES = {"ttft_ms": "TTFT, ms", "itl_ms": "gaps between tokens (ITL), ms"}


class OptionCharts:
    """The further charts of one policy. `update` redraws them and says which there are."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self._histograms = {name: Histogram(policy, name) for name in TIMES}
        self._clients = ClientsChart(policy)

    def update(self, payload: dict[str, Any], trace: Trace, last: int) -> list[Any]:
        """Redraw from `payload`; returns the figures to show, in order, none when no option brings one."""
        shown = []
        policies = payload["replay"]["policies"]
        for name, histogram in self._histograms.items():
            bins = {policy: _bins(part["metrics"], name) for policy, part in policies.items()}
            if any(bins.values()):
                histogram.update(bins, payload["replay"]["options"].get("stall_ms", 50))
                shown.append(histogram.figure)
        if "clients" in policies[self.policy]["metrics"]:
            self._clients.update(payload, trace, last)
            shown.append(self._clients.figure)
        return shown


def _bins(metrics: dict[str, Any], name: str) -> list[list[float]]:
    found: list[list[float]] = metrics.get("time", {}).get("histograms", {}).get(name, [])
    return found


def _plot(name: str, height: int, **options: Any) -> Any:
    made = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
        min_border_left=GUTTER_LEFT,
        min_border_right=GUTTER_RIGHT,
        min_border_top=6,
        outline_line_color=None,
        background_fill_alpha=0,
        border_fill_alpha=0,
        **options,
    )
    for axis in (made.xaxis[0], made.yaxis[0]):
        axis.axis_line_color = None
        axis.major_tick_line_color = None
        axis.minor_tick_line_color = None
        axis.major_label_text_font_size = "11px"
        axis.axis_label_text_font_size = "12px"
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_standoff = 2
    made.xgrid.grid_line_color = None
    made.ygrid.grid_line_width = 1
    return made


class Histogram:
    """How often a time fell between two edges; both policies on the same axes."""

    def __init__(self, policy: str, name: str) -> None:
        self.policy = policy
        self.source = ColumnDataSource({"left": [], "right": [], "top": []})
        self.figure = _plot(
            f"hist-{name}-{policy}",
            124,
            x_axis_type="log",
            x_range=Range1d(start=1, end=10),
            y_range=Range1d(start=0, end=1),
        )
        bars = self.figure.quad(
            left="left",
            right="right",
            bottom=0,
            top="top",
            source=self.source,
            fill_color=HUES[0],
            fill_alpha=0.85,
            line_color=HUES[0],  # one of thousands is still a line to be seen
            line_width=1.5,
        )
        self.figure.add_tools(HoverTool(renderers=[bars], tooltips="@left to @right ms: @top", visible=False))
        self.figure.xaxis[0].axis_label = TIMES[name]
        self.figure.xaxis[0].formatter = BasicTickFormatter(use_scientific=False)
        self.figure.yaxis[0].formatter = NumeralTickFormatter(format="0")
        self.figure.yaxis[0].ticker = BasicTicker(desired_num_ticks=3, min_interval=1)
        self.stall = Span(dimension="height", location=1, line_dash="dashed", line_width=1, visible=name == "itl_ms")
        self.figure.add_layout(self.stall)

    def update(self, bins: dict[str, list[list[float]]], stall_ms: float) -> None:
        """`bins`: ``[[from, to, count], …]`` of each policy, in ms."""
        every = [one for found in bins.values() for one in found]
        start = min(one[0] or one[1] / 2 for one in every)  # a logarithm has no 0
        end = max(one[1] for one in every)
        self.figure.x_range.update(start=start, end=end, reset_start=start, reset_end=end)
        most = max(one[2] for one in every) * 1.08
        self.figure.y_range.update(end=most, reset_end=most)
        self.figure.xaxis[0].ticker = FixedTicker(ticks=sorted({edge for one in every for edge in one[:2] if edge}))
        self.stall.location = stall_ms
        own = [one for one in bins[self.policy] if one[2]]
        self.source.data = {
            "left": [max(one[0], start) for one in own],
            "right": [one[1] for one in own],
            "top": [one[2] for one in own],
        }


class ClientsChart:
    """Over the iterations, each client's virtual token counter, or without one the tokens that it was served."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.lines = ColumnDataSource({"xs": [], "ys": [], "client": [], "color": []})
        self.refusals = ColumnDataSource({"x": [], "y": [], "color": []})
        self.figure = _plot(
            f"chart-clients-{policy}", 150, x_range=Range1d(start=1, end=2), y_range=Range1d(start=0, end=1)
        )
        lines = self.figure.multi_line("xs", "ys", source=self.lines, line_color="color", line_width=2)
        self.figure.scatter("x", "y", source=self.refusals, marker="x", size=9, line_width=2, line_color="color")
        self.figure.add_tools(HoverTool(renderers=[lines], tooltips="@client", visible=False))
        self.cursor = BoxAnnotation(left=1, right=2, fill_alpha=0.12, fill_color="gray", line_color=None, name="cursor")
        self.figure.add_layout(self.cursor)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            axis.formatter = NumeralTickFormatter(format="0")
        self.figure.yaxis[0].ticker = BasicTicker(desired_num_ticks=4, min_interval=1)

    def update(self, payload: dict[str, Any], trace: Trace, last: int) -> None:
        """Redraw from `payload`; `last` is the last iteration on the axis, as of the charts above."""
        rows = payload["replay"]["policies"][self.policy]["rows"]
        client_of = {request.id: request.client or "" for request in trace.requests}
        curves, refused = _curves(rows, client_of)
        colors = client_colors(trace)
        self.figure.xaxis[0].axis_label = (
            "counter of each client" if any(row.get("counters") for row in rows) else "tokens served to each client"
        )
        self.figure.x_range.update(end=last + 1, reset_end=last + 1)
        most = max([1, *(curve[-1] for _, curve in curves.values() if curve)]) * 1.06
        self.figure.y_range.update(end=most, reset_end=most)
        self.lines.data = {
            "xs": [xs for xs, _ in curves.values()],
            "ys": [ys for _, ys in curves.values()],
            "client": [client or "no name" for client in curves],
            "color": [colors[client] for client in curves],
        }
        self.refusals.data = {
            "x": [t for t, _, _ in refused],
            "y": [height for _, height, _ in refused],
            "color": [colors[client] for _, _, client in refused],
        }


def client_colors(trace: Trace) -> dict[str, str]:
    """A colour for each client, in the order in which the trace names them."""
    names = dict.fromkeys(request.client or "" for request in trace.requests)
    return {name: HUES[index % len(HUES)] for index, name in enumerate(names)}


def _curves(
    rows: list[dict[str, Any]], client_of: dict[str, str]
) -> tuple[dict[str, tuple[list[int], list[float]]], list[tuple[float, float, str]]]:
    """Each client's stepped line (x, y), and the refusals as (x, y, client)."""
    now: dict[str, float] = dict.fromkeys(client_of.values(), 0)
    lines: dict[str, tuple[list[int], list[float]]] = {client: ([1], [0]) for client in now}
    refused = []
    for row in rows:
        if "iteration" not in row:
            continue
        t = row["iteration"]
        refused += [(t + 0.5, now[client_of[name]], client_of[name]) for name in row.get("refused", ())]
        before = dict(now)
        if row.get("counters"):
            now.update(row["counters"])
        else:
            for name in row["emitted"]:
                now[client_of[name if name in client_of else name.rpartition("#")[0]]] += 1
        for client, (xs, ys) in lines.items():
            if now[client] != before[client]:
                xs += [t + 1, t + 1]
                ys += [before[client], now[client]]
    for client, (xs, ys) in lines.items():
        xs.append(max(xs[-1], rows[-1].get("iteration", 1) + 1) if rows else 2)
        ys.append(now[client])
    return lines, refused
