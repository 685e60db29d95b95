"""The limits as Panel widgets, each with the place where a sentence about it appears."""

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.models.dom import HTML
from bokeh.models.ui.tooltips import Tooltip

from app.page.fields import FIELDS, Field
from lab.errors import InputError
from lab.options import Options
from lab.workload import Limits

RESET, RESET_ALL = "Reset limits", "Reset all"
TOOLTIP = (Path(__file__).parent / "tooltip.css").read_text(encoding="utf-8")
STYLES = (Path(__file__).parent / "controls.css").read_text(encoding="utf-8")


class LimitInput(pn.widgets.IntInput):  # type: ignore[misc]
    """A field for a whole number whose description is a plain sentence; Panel loads a renderer of Markdown for one."""

    def _process_param_change(self, msg: dict[str, Any]) -> dict[str, Any]:
        sentence = msg.pop("description", None)
        changes: dict[str, Any] = super()._process_param_change(msg)
        if sentence:
            content = HTML(html=html.escape(sentence, quote=False))
            changes["description"] = Tooltip(content=content, position="right", stylesheets=[TOOLTIP], syncable=False)
        return changes


class Controls:
    """A row of fields. Calls `on_limits(limits)` whenever they make sense; says beside the field when not."""

    def __init__(
        self, defaults: Limits, on_limits: Callable[[Limits], None], on_reset: Callable[[], None] | None = None
    ) -> None:
        """`on_reset()` is called instead of `set(defaults)` when all shall be as it was at first."""
        self.defaults = defaults
        self._on_limits = on_limits
        self._setting = False
        self.widgets = {field.name: self._widget(field) for field in FIELDS}
        self.notes = {
            field.name: pn.pane.HTML(
                "", css_classes=["note"], stylesheets=[STYLES], margin=0, sizing_mode="stretch_width"
            )
            for field in FIELDS
        }
        self.reset = pn.widgets.Button(
            name=RESET,
            stylesheets=[STYLES],
            margin=0,
            css_classes=["reset"],
            align="end",
        )
        self.reset.on_click(lambda _event: on_reset() if on_reset else self.set(self.defaults))
        cells = [
            pn.Column(
                self.widgets[field.name],
                self.notes[field.name],
                margin=0,
                stylesheets=[STYLES],
                css_classes=["cell", *(["switch"] if field.switch else [])],
            )
            for field in FIELDS
        ]
        cells.append(pn.Column(self.reset, margin=0, stylesheets=[STYLES], css_classes=["cell", "switch"]))
        self.view = pn.Row(
            *cells,
            stylesheets=[STYLES],
            css_classes=["controls"],
            margin=0,
            sizing_mode="stretch_width",
            name="controls",
        )

    def _widget(self, field: Field) -> Any:
        common: dict[str, Any] = {"stylesheets": [STYLES], "margin": 0, "sizing_mode": "stretch_width"}
        value = getattr(self.defaults, field.name)
        widget: Any
        if field.switch:
            # A group of one: its input stands in a real label, so that a click on the words counts.
            widget = pn.widgets.CheckBoxGroup(
                options=[field.label], value=[field.label] if value else [], css_classes=["tick"], **common
            )
        else:
            widget = LimitInput(
                name=field.label,
                value=value,
                step=1,
                end=2**53 - 1,  # past it JavaScript has no whole numbers, and Python would be sent a float
                description=field.help,
                placeholder="unlimited" if field.optional else "",
                **common,
            )
        widget.param.watch(self._changed, "value")
        return widget

    def values(self) -> dict[str, Any]:
        """What the fields hold now, sensible or not."""
        return {
            field.name: bool(self.widgets[field.name].value) if field.switch else self.widgets[field.name].value
            for field in FIELDS
        }

    def set(self, limits: Limits) -> None:
        """Put `limits` into the fields and hand them on once."""
        self._setting = True
        try:
            for field in FIELDS:
                value = getattr(limits, field.name)
                self.widgets[field.name].value = ([field.label] if value else []) if field.switch else value
        finally:
            self._setting = False
        self._changed()

    def name_reset(self, *, all_of_it: bool) -> None:
        """Say on the button whether it resets more than what these fields show."""
        name = RESET_ALL if all_of_it else RESET
        if self.reset.name != name:
            self.reset.name = name

    @staticmethod
    def check(limits: Limits) -> None:
        """Raise `InputError` when `limits` ask for more than the page draws."""
        for field in FIELDS:
            value = getattr(limits, field.name)
            if field.most is not None and value > field.most:
                raise InputError(
                    f"{value} is more than the page draws, at most {field.most}; the command line takes more",
                    field=field.name,
                )

    def _changed(self, *events: Any) -> None:
        if self._setting:
            return
        try:
            self._check_filled()
            limits = Limits(**self.values())
            self.check(limits)
            self._on_limits(limits)
        except InputError as error:
            if events and error.field in Options.__dataclass_fields__:  # it no longer fits the limit that was changed
                changed = next(name for name, widget in self.widgets.items() if widget is events[0].obj)
                self.say(changed, f"{error.field} {error.problem}")
            else:
                self.say(error.field, error.problem)
        else:
            self.say(None, "")

    def _check_filled(self) -> None:
        for field in FIELDS:
            if not field.optional and self.widgets[field.name].value is None:
                raise InputError("write a whole number here", field=field.name)

    def say(self, name: str | None, sentence: str) -> None:
        """Show `sentence` beside the field `name` (the first if unknown) and clear the others."""
        if sentence and name not in self.notes:
            name = FIELDS[0].name
        for field, note in self.notes.items():
            shown = sentence if field == name else ""
            note.object = f'<span role="alert">{html.escape(shown)}</span>' if shown else ""
