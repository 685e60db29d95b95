"""A small app with two widgets and a figure: what the builder's own tests start in place of the lab's page."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.plotting import figure

from app.page import bootstrap


def build(state: dict[str, Any], send: Callable[[str, Any], None]) -> dict[str, Any]:
    """A slider, a text that follows it, and a line."""
    slider = pn.widgets.IntSlider(name="Seats", start=1, end=8, value=state.get("seats", 3))
    text = pn.pane.Markdown(pn.bind(lambda seats: f"**{seats}** seats", slider))
    plot = figure(width=300, height=200, toolbar_location=None)
    xs = range(10)

    def column(factor: int) -> Any:
        return array("d", (factor * x for x in xs))

    line = plot.line(column(1), column(slider.value))

    def follow(event: Any) -> None:
        line.data_source.data = {"x": column(1), "y": column(event.new)}
        send("seats", event.new)

    def set_seats(seats: int) -> None:
        slider.value = seats

    slider.param.watch(follow, "value")
    bootstrap.register("set_seats", set_seats)
    bootstrap.register("square", lambda number: number * number)
    bootstrap.register("where", lambda name: __import__(name, fromlist=["x"]).__file__)
    return {"controls": pn.Column(slider, text), "plot": plot}
