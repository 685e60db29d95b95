"""Which of the engine's options the page shows, what is on in a few words, and what turning one off leaves.

The table of the options, with their labels, kinds and help, is `lab.option_help`; this is what the page makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

from lab.errors import InputError
from lab.option_help import HELP_OF, OPTION_HELP, OptionHelp
from lab.options import Options
from lab.workload import Limits, Trace

DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Options)}

SIZES = ("model", "kv_dtype", "kv_bytes_per_token")
"""Of use only to the figures of memory, which any other option brings along."""

ABSENT = {
    "samples": "No request of this trace asks for more than one sample.",
    "client": "This trace names no clients.",
    "cancel_after_tokens": "In this trace no client leaves.",
}
"""By the field of a request that an option uses: what is said when no request has it."""


def matters(entry: OptionHelp, values: Mapping[str, Any], limits: Limits, trace: Trace) -> bool:
    """Whether `entry` can change anything while the options are `values`, which need not make sense together."""
    if not entry.matters(SimpleNamespace(**values)):  # type: ignore[arg-type]
        return False
    if values[entry.name] != DEFAULTS[entry.name]:
        return True  # what is on can be seen, and turned off
    if entry.name in SIZES:
        return any(value != DEFAULTS[name] for name, value in values.items())
    if entry.name == "iteration_ms":
        return trace.time_unit != "iteration" or values["admission"] == "limit"
    return all(getattr(limits, name) not in (None, False) for name in entry.limits)


def absent(entry: OptionHelp, trace: Trace) -> str:
    """A sentence when no request of `trace` has what `entry` looks at, else nothing."""
    if entry.request is None:
        return ""
    names = (entry.request, "cancel_at") if entry.request == "cancel_after_tokens" else (entry.request,)
    used = any(getattr(request, name, None) not in (None, 1) for request in trace.requests for name in names)
    return "" if used else ABSENT[entry.request]


def settled(options: Options) -> Options:
    """`options` without those that cannot matter beside the others."""
    while True:
        idle = [entry.name for entry in OPTION_HELP if not entry.matters(options)]
        changes = {name: DEFAULTS[name] for name in idle if getattr(options, name) != DEFAULTS[name]}
        if not changes:
            return options
        options = replace(options, **changes)


def without(options: Options, name: str) -> Options:
    """`options` with `name` turned off, and with it what cannot stand without it."""
    left = {field: value for field, value in options.changes().items() if field != name}
    try:
        return settled(Options(**left))
    except InputError:  # what asked for it goes too: no limit a client without its tokens
        asking = {other for other, _ in HELP_OF[name].needs}
        return settled(Options(**{field: value for field, value in left.items() if field not in asking}))


def words_of(options: Options) -> list[dict[str, str]]:
    """``[{"name", "text"}, …]`` of the options that are on, in the table's order."""
    changes = options.changes()
    return [
        {"name": entry.name, "text": _words(entry, changes[entry.name])}
        for entry in OPTION_HELP
        if entry.name in changes
    ]


def _words(entry: OptionHelp, value: Any) -> str:
    label = entry.label if entry.label[1:2].isupper() else entry.label[0].lower() + entry.label[1:]
    if entry.kind == "flag":
        return label
    return f"{label}: {dict(entry.words)[value] if entry.words else _grouped(value)}"


def _grouped(value: float | None) -> str:
    return "none" if value is None else f"{value:,}"


def link_fields() -> list[dict[str, Any]]:
    """The options as the page's codec of links reads them: ``{"name", "kind", "default"}``, and of a choice ``values``.

    None, where it is a value, is written ``none``.
    """
    return [
        {
            "name": entry.name,
            "kind": entry.kind,
            "default": DEFAULTS[entry.name],
            "optional": entry.optional,
            **({"values": [value for value, _ in entry.words]} if entry.words else {}),
        }
        for entry in OPTION_HELP
    ]
