"""The engine's options on the page. Nothing is made for them before somebody asks: only the places stand ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import panel as pn

from lab.options import Options
from lab.policies import POLICIES
from lab.workload import Limits, Trace

if TYPE_CHECKING:
    from app.page.option_charts import OptionCharts
    from app.page.option_controls import OptionControls


class More:
    """The place of the options' fields, and under each policy that of its further charts.

    `on_options(options)` is called when somebody has changed the fields, and raises InputError to refuse.
    """

    def __init__(self, on_options: Callable[[Options], None]) -> None:
        self._on_options = on_options
        self.fields = _place("options")
        self.under = {policy: _place(f"more-{policy}") for policy in POLICIES}
        self.controls: OptionControls | None = None
        self._charts: dict[str, OptionCharts] = {}

    def open(self, options: Options, limits: Limits, trace: Trace) -> None:
        """Make the fields, the first time."""
        if self.controls is None:
            from app.page.option_controls import OptionControls  # what most visitors never ask for costs no start

            self.controls = OptionControls(options, limits, trace, self._on_options)
            self.fields.objects = [self.controls.view]

    def show(self, options: Options, limits: Limits, trace: Trace) -> None:
        """Bring the fields, if there are any, to what is replayed now."""
        if self.controls is not None:
            if self.controls.values() != {name: getattr(options, name) for name in self.controls.widgets}:
                self.controls.set(options)
            self.controls.refresh(limits, trace)

    def draw(self, result: dict[str, Any], trace: Trace, last: int) -> None:
        """Redraw the further charts of a replay payload; there are none while nothing needs one."""
        if not result["replay"].get("options") and not self._charts:
            return
        from app.page.option_charts import OptionCharts

        for policy, place in self.under.items():
            if policy not in self._charts:
                self._charts[policy] = OptionCharts(policy)
            figures = self._charts[policy].update(result, trace, last)
            if [pane.object for pane in place.objects] != figures:
                place.objects = [pn.pane.Bokeh(figure, margin=0, sizing_mode="stretch_width") for figure in figures]

    def roots(self) -> dict[str, Any]:
        """The places by the name of the slot of the page."""
        return {"options": self.fields, **{f"more-{policy}": place for policy, place in self.under.items()}}


def _place(name: str) -> Any:
    return pn.Column(margin=0, sizing_mode="stretch_width", name=name)
