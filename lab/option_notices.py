"""Sentences on options that have no effect, on what they replace, and on what no option looks at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lab.option_help import HELP_OF, OPTION_HELP, OptionHelp
from lab.options import PLAIN, Options
from lab.workload import Limits, Trace

USED_BY = {
    "client": "admission",
    "cancel_after_tokens": "cancellation",
    "cancel_at": "cancellation",
    "samples": "fork_samples",
    "prefix": "prefix_caching",
}
"""Which option makes the engine look at a field of a request. Any option makes it count by `client`."""


def replaced(own: Options, options: Options) -> str | None:
    """What of a trace's `own` options `options` has in other values, or None: ``victim largest by newest``."""
    found = [
        f"{name} {_written(value)} by {_written(getattr(options, name))}"
        for name, value in own.changes().items()
        if getattr(options, name) != value
    ]
    return f"replaced {', '.join(found)}, as the command line says" if found else None


def _written(value: Any) -> str:
    if value is None:
        return "none"
    return str(value) if type(value) is not bool else "on" if value else "off"


def unused_fields(trace: Trace, options: Options) -> str | None:
    """Which fields the trace's requests have although `options` use none of them, or None."""
    unused = [
        field
        for field, user in USED_BY.items()
        if getattr(options, user) == getattr(PLAIN, user)
        and not (field == "client" and options != PLAIN)
        and any(getattr(request, field) is not None for request in trace.requests)
    ]
    if not unused:
        return None
    flags = dict.fromkeys(HELP_OF[USED_BY[field]].flag for field in unused)
    return f"no option uses {', '.join(unused)} (see {', '.join(flags)}); replayed without"


def without_effect(
    options: Options, named: Iterable[str], trace: Trace, limits: Limits, policies: Sequence[str]
) -> str | None:
    """Which options, of those that are on and those `named`, change nothing in this replay, and why; or None."""
    looked_at = {*options.changes(), *named}
    found = [
        f"{entry.name} changes nothing {why}"
        for entry in OPTION_HELP
        if entry.name in looked_at and (why := _why(entry, options, trace, limits, policies))
    ]
    return "; ".join(found) or None


def _why(entry: OptionHelp, options: Options, trace: Trace, limits: Limits, policies: Sequence[str]) -> str | None:
    """Why the option of `entry` changes nothing, or None if it may change something."""
    unmet = entry.unmet(options)
    if unmet is not None:
        name, values = unmet
        return f"unless {name} is {'given' if values[0] is True else _written(values[0])}"
    for name in entry.limits:
        if not getattr(limits, name):
            return f"unless {name} is {'on' if name == 'chunked_prefill' else 'given'}"
    if entry.limits and set(policies) == {"static"}:
        return "under static, which ignores max_num_batched_tokens"
    return _why_with(entry.name, options, trace)


def _why_with(name: str, options: Options, trace: Trace) -> str | None:
    requests = trace.requests
    if name == "iteration_ms":
        if trace.time_unit == "iteration":
            return None if options.admission == "limit" else "for a trace in iterations unless admission is limit"
        return None if options.step_time is None else f"for a trace in {trace.time_unit} unless step_time is none"
    if name == "fork_samples" and all((request.samples or 1) == 1 for request in requests):
        return "without requests for several samples"
    if name == "cancellation" and all(r.cancel_at is None and r.cancel_after_tokens is None for r in requests):
        return "without requests that have cancel_at or cancel_after_tokens"
    if name == "admission" and options.admission == "vtc" and len({request.client for request in requests}) < 2:
        return "with fewer than two clients"
    return None
