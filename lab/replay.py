"""Replays a trace under several policies and puts the outcome into plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

from lab.engine import replay, screen
from lab.errors import InputError
from lab.formats.trace_json import in_iterations, trace_sha256
from lab.metrics import Tally
from lab.options import Options
from lab.policies import policy_named
from lab.records import Idle, Iteration
from lab.workload import Limits, Trace

SCHEMA_VERSION = 1

Watch = Callable[[str, Iteration | Idle], None]
Reached = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """What one policy made of the trace. `records` is empty if the replay was run without keeping them.

    way: how its figures were made: "closed form", or "loop: " and why it went through each iteration
    """

    metrics: dict[str, Any]
    records: list[Iteration | Idle]
    way: str
    _by_request: Callable[[], dict[str, dict[str, Any]]]

    @property
    def requests(self) -> dict[str, dict[str, Any]]:
        """Per finished request, as `Tally.requests()`. Of a million requests this takes a while, so keep it."""
        return self._by_request()


@dataclass(frozen=True, slots=True)
class Replay:
    """A trace, the limits it was replayed under, and the outcome a policy, in the order they were asked for.

    options: those that it was replayed with
    """

    trace: Trace
    limits: Limits
    policies: dict[str, PolicyReplay]
    options: Options
    _sha256: Callable[[], str]

    @property
    def sha256(self) -> str:
        """Of the trace file's canonical text, before any conversion of its time unit."""
        return self._sha256()

    def _engine(self) -> dict[str, Any]:
        """The limits, and the options if any is on."""
        changes = self.options.changes()
        return {"limits": asdict(self.limits), **({"options": changes} if changes else {})}

    def to_dict(self) -> dict[str, Any]:
        """The figures without the iterations, as ``serving-lab replay --json`` prints them."""
        return {
            "schema_version": SCHEMA_VERSION,
            "trace": {"name": self.trace.name, "sha256": self.sha256, "requests": len(self.trace.requests)},
            **self._engine(),
            "policies": {
                name: {**outcome.metrics, "requests": outcome.requests} for name, outcome in self.policies.items()
            },
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text, two spaces a level, with a line break at the end."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_document(self) -> dict[str, Any]:
        """Everything that a page needs to draw the replay, as plain JSON data.

        Raises InputError if there are more seats than rows can list (`lab.records.MAX_SEATS_SHOWN`).
        """
        trace = self.trace
        return {
            "schema_version": SCHEMA_VERSION,
            "trace": {
                "name": trace.name,
                "title": trace.title,
                "source": trace.source,
                "license": trace.license,
                "sha256": self.sha256,
                "requests": [
                    {
                        "id": request.id,
                        "arrival": request.arrival,
                        "prompt_tokens": request.prompt_tokens,
                        "output_tokens": request.output_tokens,
                    }
                    for request in trace.requests
                ],
            },
            **self._engine(),
            "policies": {
                name: {
                    "metrics": outcome.metrics,
                    "requests": outcome.requests,
                    "rows": [record.to_row() for record in outcome.records],
                }
                for name, outcome in self.policies.items()
            },
        }


def run(
    trace: Trace,
    limits: Limits | None = None,
    policies: Sequence[str] = ("static", "continuous"),
    *,
    options: Options | None = None,
    keep_records: bool = True,
    watch: Watch | None = None,
    reached: Reached | None = None,
    sha256: str | Callable[[], str] | None = None,
) -> Replay:
    """Replay `trace` under each of `policies`.

    Arrivals in ms or s are simulated as such if the options have a model of time; else they are brought to iterations
    of the options' `iteration_ms`, and the outcome's trace is that one.

    limits, options: instead of the trace's own
    keep_records: False keeps the figures only, so that memory does not grow with the iterations
    watch:        is called with (policy, record) for every record as it is made; without it and without records, none
                  is made where `lab.figures` can do without
    reached:      is called with (policy, iteration) every now and then, and has none made
    sha256:       of the trace as it was read, if that was in another time unit, or what gives it when it is asked for

    Raises InputError for an unknown or repeated policy, options that do not go with the limits, and as the engine does.
    """
    options = trace.options if options is None else options
    fingerprint = cache(sha256 if callable(sha256) else partial(_fingerprint, trace, sha256))
    if trace.time_unit != "iteration" and options.step_time is None:
        trace = in_iterations(trace, options.iteration_ms)
    limits = trace.limits if limits is None else limits
    if len(set(policies)) != len(policies):
        raise InputError("names a policy twice; name each once", field="policy")
    for name in policies:
        policy_named(name)
    outcomes: dict[str, PolicyReplay] = {}
    for name in policies:
        if not keep_records and watch is None:
            outcomes[name] = _figures_only(trace, limits, name, options, reached)
            continue
        servable, rejected = screen(trace.requests, limits, name, options)
        tally = Tally(trace.requests, limits, rejected, options, trace.time_unit)
        records: list[Iteration | Idle] = []
        for record in replay(servable, limits, name, options, trace.time_unit):
            tally.add(record)
            if keep_records:
                records.append(record)
            if watch is not None:
                watch(name, record)
            if reached is not None:
                reached(name, record.last if isinstance(record, Idle) else record.iteration)
        way = "loop: each iteration is kept" if keep_records else "loop: each iteration is asked for"
        outcomes[name] = PolicyReplay(tally.metrics(), records, way, cache(tally.requests))
    return Replay(trace, limits, outcomes, options, fingerprint)


def _fingerprint(trace: Trace, known: str | None) -> str:
    return known or trace_sha256(trace)


def _figures_only(trace: Trace, limits: Limits, policy: str, options: Options, reached: Reached | None) -> PolicyReplay:
    from lab.figures import figures  # the page starts with a replay that keeps its records, and does without

    found = figures(
        *(trace.requests, limits, policy),
        options=options,
        time_unit=trace.time_unit,
        checked=True,
        reached=None if reached is None else partial(reached, policy),
    )
    return PolicyReplay(found.metrics, [], found.way, cache(found.requests))
