"""What the page draws: the replay document of `lab`, a colour for each request, and what the trace teaches."""

import json
from typing import Any

from app.page.palette import colors_for
from lab.errors import InputError
from lab.options import PLAIN, Options
from lab.records import Idle, Iteration
from lab.replay import run
from lab.teaches import GateCount, teaches
from lab.workload import Limits, Trace

MOST_ITERATIONS = 20_000
"""The page draws no longer replay; the command line has no such bound."""

MOST_CELLS = 4_000_000
"""Page ids, seats and waiting requests in all rows of both policies: what the page holds in memory at most."""

CONVERTED = "Arrivals in {unit} are brought to iterations of {ms} ms each, rounded up."


def payload(trace: Trace, limits: Limits | None = None, options: Options | None = None) -> dict[str, Any]:
    """Replay `trace` under both policies and add the colours.

    `limits` and `options` stand in for the trace's own.

    Returns plain JSON data: `{"replay": DOCUMENT, "colors": {id: "#rrggbb"}, "teaches": as lab.teaches says,
    "notes": [sentence, …]}`; a note says what was done to the trace before it was replayed. Arrivals in ms or s are
    brought to iterations as `serving-lab replay` does it. While options are on there is also `"options_on":
    [{"name", "text"}, …]`, with clients `"clients": {id: client}` and `"client_colors"`, and with forks
    `"samples": {id: n}`; `"time_unit"` where arrivals are not in iterations.
    Raises `lab.errors.InputError` when the limits cannot be replayed, and when the replay is longer than the page
    draws.
    """
    gates, size = GateCount(), _Size()

    def watch(policy: str, record: Iteration | Idle) -> None:
        size(record)
        gates(policy, record)

    replay = run(trace, limits, options=options, watch=watch)
    played = replay.trace
    return {
        "replay": replay.to_document(),
        "colors": colors_for(request.id for request in trace.requests),
        "teaches": teaches(replay, gates),
        "notes": [] if played is trace else [CONVERTED.format(unit=trace.time_unit, ms=replay.options.iteration_ms)],
        **({} if played.time_unit == "iteration" else {"time_unit": played.time_unit}),
        **_of_options(replay.options, trace),
    }


def _of_options(options: Options, trace: Trace) -> dict[str, Any]:
    """What is added while `options` are on."""
    if options == PLAIN:
        return {}
    from app.page.option_charts import client_colors  # of no use to most visitors, so of no cost to a start
    from app.page.option_fields import words_of

    named = any(request.client for request in trace.requests)
    clients = {request.id: request.client or "" for request in trace.requests} if named else {}
    return {
        "options_on": words_of(options),
        **({"clients": clients, "client_colors": client_colors(trace)} if clients else {}),
        **(
            {"samples": {request.id: request.samples or 1 for request in trace.requests}}
            if options.fork_samples
            else {}
        ),
    }


class _Size:
    """Ends a replay that grows beyond what the page draws."""

    def __init__(self) -> None:
        self._cells = 0

    def __call__(self, record: Iteration | Idle) -> None:
        if isinstance(record, Idle):
            reached = record.last
        else:
            reached = record.iteration
            self._cells += record.pages_used + record.max_num_seqs + len(record.waiting)
        if reached > MOST_ITERATIONS:
            raise InputError(
                f"the replay is longer than the {MOST_ITERATIONS:,} iterations that the page draws; "
                "shorten outputs or arrivals, or replay the file on the command line",
                field="requests",
            )
        if self._cells > MOST_CELLS:
            raise InputError(
                "the replay holds more pages for longer than the page draws; shorten prompts or outputs, "
                "or replay the file on the command line",
                field="requests",
            )


def dumps(data: dict[str, Any]) -> str:
    """Compact JSON; the same data gives the same bytes."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
