"""Draws what traces are like: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from bokeh.embed.standalone import components
from bokeh.models.annotations import Label, Span
from bokeh.models.formatters import BasicTickFormatter
from bokeh.models.ranges import Range1d
from bokeh.models.sources import ColumnDataSource
from bokeh.models.tickers import BasicTicker, FixedTicker
from bokeh.models.tools import HoverTool
from bokeh.plotting import figure
from bokeh.resources import Resources

from lab.trace_stats import histogram
from lab.trace_summary import COLUMNS, cells, rows, rules, sentences, short
from lab.workload import Trace

BLUE, INK, FAINT = "#066fbd", "#1f2933", "#5b6573"

STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1f2933; background: #fff; }
body { max-width: 75rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #d5dae1; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem; }
.charts > figure { margin: 0; min-width: 0; } .rule, figcaption { color: #5b6573; font-size: .875rem; }
"""


def stats_page(traces: Sequence[tuple[Trace, dict[str, Any]]]) -> str:
    """The HTML text that draws arrivals and lengths of each trace, given with its `lab.trace_stats.trace_stats`."""
    roots: list[Any] = []
    sections = []
    for trace, stats in traces:
        drawn = charts(trace, stats)
        sections.append((stats, [(title, note, len(roots) + i) for i, (title, note, _) in enumerate(drawn)]))
        roots.extend(chart for _, _, chart in drawn)
    script, divs = components(roots) if roots else ("", [])
    # Not `render()`: in a process that has imported Panel, it adds scripts of Panel's, by address.
    library = "\n".join(f"<script>{text}</script>" for text in Resources(mode="inline", components=["bokeh"]).js_raw)
    body = "\n".join(_section(stats, drawn, divs) for stats, drawn in sections)
    title = html.escape(", ".join(stats["name"] for _, stats in traces))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}: arrivals and lengths</title>\n<style>{STYLE}</style>\n{library}\n</head>\n"
        f"<body>\n<h1>Arrivals and lengths</h1>\n{body}\n{script}\n</body>\n</html>\n"
    )


def charts(trace: Trace, stats: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """(title, note, Bokeh figure) of each chart of a trace; none for a trace without requests."""
    if not trace.requests:
        return []
    unit = f"arrival ({trace.time_unit})"
    arrivals = sorted(request.arrival for request in trace.requests)
    drawn = [("Arrivals over time", "", _bars(histogram(arrivals), unit))]
    for field in ("prompt_tokens", "output_tokens"):
        counted = histogram([getattr(request, field) for request in trace.requests])
        marks = {name: stats[field][name] for name in ("p50", "p95")}
        drawn.append((f"{field} of a request", DOUBLING if counted["doubling"] else "", _bars(counted, field, marks)))
    gaps = stats["arrivals"]["gaps"]
    if gaps["n"]:
        counted = histogram([later - earlier for earlier, later in pairwise(arrivals)])
        marks = {name: gaps[name] for name in ("p50", "p95")}
        label = f"gap ({trace.time_unit})"
        note = DOUBLING if counted["doubling"] else ""
        drawn.insert(1, ("Gaps between arrivals", note, _bars(counted, label, marks)))
    return drawn


DOUBLING = "A long tail: each bar is twice as wide, in what it counts, as the one before it."


def _bars(counted: dict[str, Any], label: str, marks: dict[str, Any] | None = None) -> Any:
    """A histogram, with a line at each of `marks`. With doubling bars, one bar is one step on the axis."""
    edges, counts = counted["edges"], counted["counts"]
    places = list(range(len(edges))) if counted["doubling"] else [float(edge) for edge in edges]
    most = max(counts)
    chart = figure(
        height=260,
        sizing_mode="stretch_width",
        x_range=Range1d(start=places[0], end=places[-1]),
        y_range=Range1d(start=0, end=most * 1.15),
        x_axis_label=label,
        y_axis_label="requests",
        tools="",
        toolbar_location=None,
        outline_line_color=None,
    )
    source = ColumnDataSource(
        {
            "left": places[:-1],
            "right": places[1:],
            "top": counts,
            "words": [f"{short(low)} to below {short(high)}" for low, high in pairwise(edges)],
        }
    )
    chart.quad(
        left="left",
        right="right",
        top="top",
        bottom=0,
        source=source,
        fill_color=BLUE,
        line_color="white",
        fill_alpha=0.85,
    )
    chart.add_tools(HoverTool(tooltips=[(label, "@words"), ("requests", "@top")], visible=False))
    if counted["doubling"]:
        chart.xaxis[0].ticker = FixedTicker(ticks=places)
        chart.xaxis[0].major_label_overrides = {place: short(edge) for place, edge in enumerate(edges)}
        chart.xaxis[0].major_label_orientation = 0.8 if len(edges) > 12 else "horizontal"
    else:
        chart.xaxis[0].formatter = BasicTickFormatter(use_scientific=False)
        chart.xaxis[0].ticker = BasicTicker(desired_num_ticks=4)
    chart.yaxis[0].formatter = BasicTickFormatter(use_scientific=False)
    chart.yaxis[0].ticker = BasicTicker(desired_num_ticks=5, min_interval=1)
    for row, (name, value) in enumerate((marks or {}).items()):
        place = _place(edges, value) if counted["doubling"] else float(value)
        text = f"{name} {short(value)}"
        past = place > (places[0] + places[-1]) / 2
        chart.add_layout(Span(location=place, dimension="height", line_color=INK, line_dash="dashed", line_width=1))
        chart.add_layout(
            Label(
                x=place,
                y=most * (1.13 - 0.08 * row),
                text=text,
                text_align="right" if past else "left",
                x_offset=-4 if past else 4,
                text_baseline="top",
                text_font_size="12px",
                text_color=INK,
            )
        )
    for axis in (chart.xaxis[0], chart.yaxis[0]):
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_color = axis.major_label_text_color = FAINT
        axis.minor_tick_line_color = None
    chart.xgrid.grid_line_color = None
    return chart


def _place(edges: Sequence[int | float], value: int | float) -> float:
    """Where `value` stands on an axis on which every bar is one wide."""
    bar = max(i for i, edge in enumerate(edges[:-1]) if edge <= value)
    return bar + (value - edges[bar]) / (edges[bar + 1] - edges[bar])


def _section(stats: dict[str, Any], drawn: Sequence[tuple[str, str, int]], divs: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{column}</th>' for column in COLUMNS)
    body = "".join(
        f'<tr><th scope="row">{html.escape(label)}</th>{"".join(f"<td>{cell}</td>" for cell in cells(values))}</tr>\n'
        for label, values in rows(stats)
    )
    figures = "".join(
        f"<figure><h3>{html.escape(title)}</h3>{divs[index]}"
        + (f"<figcaption>{html.escape(note)}</figcaption>" if note else "")
        + "</figure>\n"
        for title, note, index in drawn
    )
    return (
        f"<section><h2>{html.escape(stats['name'])}</h2>\n<p>{html.escape(' '.join(sentences(stats)))}</p>\n"
        f'<div class="wide" role="region" tabindex="0" aria-label="Distributions">\n'
        f"<table><thead><tr><th></th>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        f'<p class="rule">{html.escape(rules(stats))}</p>\n<div class="charts">{figures}</div></section>'
    )
