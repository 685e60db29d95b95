"""The engine's options as Panel widgets, made when somebody first asks for them."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import panel as pn

from app.page.option_fields import absent, matters, settled
from lab.errors import InputError
from lab.option_help import GROUPS, HELP_OF, OPTION_HELP, OptionHelp
from lab.options import Options
from lab.workload import Limits, Trace

_HERE = Path(__file__).parent
STYLES = "".join((_HERE / name).read_text(encoding="utf-8") for name in ("controls.css", "option_controls.css"))
NONE = "none"

MOST = 10**15
"""No field takes more: a number that JavaScript still has whole, and that Pyodide does not hand over as a BigInt."""


class NumberInput(pn.widgets.FloatInput):  # type: ignore[misc]
    """A field for a number that is empty while it holds None; Panel's own then says NaN."""

    def _process_param_change(self, msg: dict[str, Any]) -> dict[str, Any]:
        changes: dict[str, Any] = super(pn.widgets.FloatInput, self)._process_param_change(msg)
        return changes


class OptionControls:
    """Groups of fields. Calls `on_options(options)` whenever they make sense; says beside the field when not."""

    def __init__(self, options: Options, limits: Limits, trace: Trace, on_options: Callable[[Options], None]) -> None:
        self._on_options = on_options
        self._setting = True
        self._limits = limits
        self._trace = trace
        self._said: dict[str, str] = {}
        self.widgets = {entry.name: self._widget(entry, getattr(options, entry.name)) for entry in OPTION_HELP}
        self.notes = {
            entry.name: pn.pane.HTML("", css_classes=["help"], stylesheets=[STYLES], margin=0) for entry in OPTION_HELP
        }
        self.cells = {
            entry.name: pn.Column(
                self.widgets[entry.name],
                self.notes[entry.name],
                margin=0,
                stylesheets=[STYLES],
                css_classes=["option", entry.kind],
            )
            for entry in OPTION_HELP
        }
        self.groups = {name: self._group(name) for name in GROUPS}
        self.view = pn.Row(
            *self.groups.values(),
            stylesheets=[STYLES],
            css_classes=["groups"],
            margin=0,
            sizing_mode="stretch_width",
            name="options",
        )
        self._setting = False
        self.refresh(limits, trace)

    def _group(self, name: str) -> Any:
        heading = pn.pane.HTML(f"<h3>{html.escape(name)}</h3>", stylesheets=[STYLES], margin=0)
        cells = [self.cells[entry.name] for entry in OPTION_HELP if entry.group == name]
        return pn.Column(heading, *cells, stylesheets=[STYLES], css_classes=["group"], margin=0)

    def _widget(self, entry: OptionHelp, value: Any) -> Any:
        common: dict[str, Any] = {"stylesheets": [STYLES], "margin": 0, "sizing_mode": "stretch_width"}
        widget: Any
        if entry.kind == "flag":
            widget = pn.widgets.CheckBoxGroup(
                options=[entry.label], value=[entry.label] if value else [], css_classes=["tick"], **common
            )
        elif entry.kind == "choice":
            options = {words: NONE if key is None else key for key, words in entry.words}
            widget = pn.widgets.Select(
                name=entry.label, options=options, value=NONE if value is None else value, **common
            )
        else:
            kind = pn.widgets.IntInput if entry.kind == "integer" else NumberInput
            widget = kind(
                name=entry.label,
                value=value,
                step=1,
                end=MOST,
                placeholder="not set" if entry.optional else "",
                **common,
            )
        widget.param.watch(self._changed, "value")
        return widget

    def values(self) -> dict[str, Any]:
        """What the fields hold now, shown or not, sensible or not."""
        held = {}
        for entry in OPTION_HELP:
            value = self.widgets[entry.name].value
            if entry.kind == "flag":
                value = bool(value)
            elif entry.kind == "choice" and value == NONE:
                value = None
            elif entry.kind == "number" and value is not None and float(value).is_integer():
                value = int(value)  # 50 and not 50.0: what is printed and linked is what was typed
            held[entry.name] = value
        return held

    def set(self, options: Options) -> None:
        """Put `options` into the fields; nothing is handed on."""
        self._setting = True
        try:
            for entry in OPTION_HELP:
                value = getattr(options, entry.name)
                if entry.kind == "flag":
                    value = [entry.label] if value else []
                elif entry.kind == "choice" and value is None:
                    value = NONE
                self.widgets[entry.name].value = value
        finally:
            self._setting = False
        self._said = {}
        self._show()

    def refresh(self, limits: Limits, trace: Trace) -> None:
        """Show the fields that matter under `limits` and for `trace`."""
        self._limits, self._trace = limits, trace
        self._show()

    def say(self, name: str, sentence: str) -> None:
        """Show `sentence` beside the field `name`, instead of its help, and nothing beside the others."""
        self._said = {name: sentence} if sentence else {}
        self._show()

    def _show(self) -> None:
        values = self.values()
        shown = {
            entry.name
            for entry in OPTION_HELP
            if entry.name in self._said or matters(entry, values, self._limits, self._trace)
        }
        for entry in OPTION_HELP:
            said = self._said.get(entry.name)
            text = (
                f'<p role="alert">{html.escape(said)}</p>'
                if said
                else f"<p>{html.escape(' '.join(filter(None, (entry.help, absent(entry, self._trace)))))}</p>"
            )
            note, cell = self.notes[entry.name], self.cells[entry.name]
            if note.object != text:
                note.object = text
            if cell.visible != (entry.name in shown):
                cell.visible = entry.name in shown
        for name, group in self.groups.items():
            some = any(entry.name in shown for entry in OPTION_HELP if entry.group == name)
            if group.visible != some:
                group.visible = some

    def _changed(self, *events: Any) -> None:
        if self._setting:
            return
        values = self.values()
        self._said = {}
        try:
            for entry in OPTION_HELP:
                if values[entry.name] is None and not entry.optional:
                    raise InputError("write a number here", field=entry.name)
            options = _understood(values)
            options.check_with(self._limits)
            self._on_options(options)
        except InputError as error:
            self._refuse(error, next(n for n, widget in self.widgets.items() if widget is events[0].obj))
        else:
            self._show()

    def _refuse(self, error: InputError, changed: str) -> None:
        """Say what is wrong where it can be put right: at an empty field, else at the one that was `changed`."""
        at = error.field
        if at in self.widgets and (at == changed or self.values()[at] is None):
            self.say(at, error.problem)
        else:
            what = HELP_OF[at].label if at in HELP_OF else at
            self.say(changed, " ".join(filter(None, (what, error.problem))))


def _understood(values: dict[str, Any]) -> Options:
    """The options that `values` stand for; what cannot matter beside the others is left out, sensible or not."""
    held = SimpleNamespace(**values)
    asked = {entry.name: values[entry.name] for entry in OPTION_HELP if entry.matters(held)}  # type: ignore[arg-type]
    return settled(Options(**asked))
