"""Bokeh charts of KV pages in use over time, stacked by request, against the pool."""

from typing import Any

from bokeh.models.annotations import BoxAnnotation, Label, Span
from bokeh.models.formatters import NumeralTickFormatter
from bokeh.models.ranges import Range1d
from bokeh.models.sources import ColumnDataSource
from bokeh.models.tickers import SingleIntervalTicker
from bokeh.models.tools import HoverTool
from bokeh.plotting import figure

# The seat timeline above each chart has the same gutters, so that one iteration stands at one place on both.
GUTTER_LEFT = 44
GUTTER_RIGHT = 8
HEIGHT = 150


def steps(rows: list[dict[str, Any]], ids: list[str], last: int) -> dict[str, list[Any]]:
    """Stacked, stepped outlines of the pages that each request holds in each iteration.

    `rows` are the rows of one policy in the replay document; `last` is the last iteration on the axis.
    Iteration t covers x from t to t + 1. Requests are stacked in trace order; the samples of one ("a#2") count for it,
    and a page of several counts for the first of them. Returns columns `xs`, `ys` (one closed outline a request, in
    pages) and `id`.
    """
    held: dict[str, dict[int, int]] = {rid: {} for rid in ids}
    for row in rows:
        t = row.get("iteration", last + 1)
        if t <= last:
            counted: set[int] | None = set() if row.get("shared_pages") else None
            for name, pages in row["pages"].items():
                rid = name if name in held else name.rpartition("#")[0]
                if counted is not None:
                    pages = set(pages) - counted
                    counted |= pages
                held[rid][t] = held[rid].get(t, 0) + len(pages)
    floor = [0] * (last + 1)
    outlines: dict[str, list[Any]] = {"xs": [], "ys": [], "id": []}
    for rid, counts in held.items():
        if not counts:
            continue
        xs: list[int] = []
        upper: list[int] = []
        lower: list[int] = []
        for t in range(min(counts), max(counts) + 1):
            below = floor[t]
            floor[t] = above = below + counts.get(t, 0)
            xs += (t, t + 1)
            upper += (above, above)
            lower += (below, below)
        outlines["xs"].append(xs + xs[::-1])
        outlines["ys"].append(upper + lower[::-1])
        outlines["id"].append(rid)
    return outlines


class PagesChart:
    """Pages in use over time for one policy. `update` redraws it from a replay payload."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.source = ColumnDataSource({"xs": [], "ys": [], "id": [], "color": []}, name=f"pages-{policy}")
        # A range's reset values are pinned, or Bokeh would send them back as a change.
        self.figure = figure(
            name=f"chart-{policy}",
            height=HEIGHT,
            sizing_mode="stretch_width",
            x_range=Range1d(start=1, end=2),
            y_range=Range1d(start=0, end=1),
            tools="",
            toolbar_location=None,
            min_border_left=GUTTER_LEFT,
            min_border_right=GUTTER_RIGHT,
            min_border_top=4,
            min_border_bottom=22,
            outline_line_color=None,
            background_fill_alpha=0,
            border_fill_alpha=0,
            output_backend="canvas",
        )
        areas = self.figure.patches(
            "xs",
            "ys",
            source=self.source,
            fill_color="color",
            line_color=None,
            fill_alpha=0.85,
            nonselection_fill_alpha=0.22,
            hover_fill_alpha=1,
        )
        areas.name = f"areas-{policy}"
        # The page listens to what is inspected and lights that request everywhere; a tooltip would say less.
        self.figure.add_tools(HoverTool(renderers=[areas], tooltips=None, visible=False))
        self.pool = Span(dimension="width", location=1, line_dash="dashed", line_width=1, name="pool")
        self.pool_label = Label(x=1, y=1, text="", x_offset=2, y_offset=-15, text_font_size="11px", name="pool-label")
        # The page moves this with the scrubber; Python never hears of it.
        self.cursor = BoxAnnotation(left=1, right=2, fill_alpha=0.12, fill_color="gray", line_color=None, name="cursor")
        for mark in (self.pool, self.pool_label, self.cursor):
            self.figure.add_layout(mark)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            axis.axis_line_color = None
            axis.major_tick_line_color = None
            axis.minor_tick_line_color = None
            axis.major_label_text_font_size = "11px"
            axis.formatter = NumeralTickFormatter(format="0")
        self.figure.xgrid.grid_line_color = None
        self.figure.ygrid.grid_line_width = 1

    def update(self, payload: dict[str, Any], last: int) -> None:
        """Redraw from `payload`; `last` is the last iteration of the longest policy, so that axes agree."""
        replay = payload["replay"]
        ids = [request["id"] for request in replay["trace"]["requests"]]
        columns = steps(replay["policies"][self.policy]["rows"], ids, last)
        columns["color"] = [payload["colors"][rid] for rid in columns["id"]]
        num_pages = replay["limits"]["num_pages"]
        self.figure.x_range.update(end=last + 1, reset_end=last + 1)
        self.figure.y_range.update(end=num_pages * 1.06, reset_end=num_pages * 1.06)
        self.figure.yaxis[0].ticker = SingleIntervalTicker(interval=max(1, _tidy(num_pages)))
        self.figure.xaxis[0].ticker = SingleIntervalTicker(interval=max(1, _tidy(last)))
        self.pool.location = num_pages
        self.pool_label.update(y=num_pages, text=f"pool: {num_pages}")
        self.source.data = columns


def _tidy(total: int) -> int:
    """A tick step of 1, 2 or 5 × a power of ten that gives at most five ticks up to `total`, as on the timeline."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if total <= 5 * factor * step:
                return factor * step
        step *= 10
