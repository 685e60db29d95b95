"""The figures of a replay without a record of each iteration: what `lab.metrics.Tally` says, for far less work.

The plain rules are replayed on columns by `lab.advance`. What options need is counted from records, and so are sums
that 64 bits might not hold; `Figures.way` says which it was.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lab.advance import MORE, TOO_LONG, Advance
from lab.engine import replay
from lab.metrics import plain_figures, summarize
from lab.options import PLAIN, Options
from lab.policies import policy_named
from lab.records import Idle, Iteration, Rejected
from lab.screening import screen
from lab.workload import Limits, Request, check_requests

CLOSED_FORM = "closed form"
"""The way in which quiet spans are passed at once. Any other is "loop: " and the reason for it."""

MOST_BUCKETS = 256
"""Pages of up to this many tokens have a bucket for each place in them; longer ones are too sparse for that."""

MOST = 1 << 61
"""Below this, sums and differences of two numbers fit into 64 bits with a bit to spare."""

A_WHILE = 1 << 16
"""Steps after which Python may look whether it is interrupted, and progress is told: about a second at the most."""


class TooLongError(Exception):
    """The replay takes more iterations than it may."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a replay came to.

    metrics:  as `Tally.metrics()`
    gates:    ``{gate: iterations}`` in which the head of the queue waited for it
    way:      CLOSED_FORM, or "loop: " and why
    requests: call it for what `Tally.requests()` is; made when it is asked for
    """

    metrics: dict[str, Any]
    gates: dict[str, int]
    way: str
    requests: Callable[[], dict[str, dict[str, Any]]]


def uncovered(options: Options, time_unit: str) -> str | None:
    """Why a replay needs each iteration, such as "prefix_caching is on"; None if its figures can be had without."""
    for name, value in options.changes().items():
        return f"{name} is on" if value is True else f"{name} is {value}"
    return None if time_unit == "iteration" else f"arrivals are in {time_unit}"


def figures(
    requests: Sequence[Request],
    limits: Limits,
    policy: str,
    *,
    options: Options = PLAIN,
    time_unit: str = "iteration",
    spans: bool = True,
    most: int | None = None,
    checked: bool = False,
    reached: Callable[[int], None] | None = None,
) -> Figures:
    """Replay `requests` under `policy` and keep the figures only.

    spans:   False goes one iteration after the other; the outcome is the same
    most:    iterations that it may take
    checked: `requests` are those of a Trace, which has looked at them
    reached: is called every now and then with the iteration that the replay has come to

    Raises InputError as `lab.engine.replay` does, and TooLongError.
    """
    if not checked:
        check_requests(requests, time_unit)
    servable, rejected = screen(requests, limits, policy, options)
    why = uncovered(options, time_unit)
    if why is None:
        columns = Columns(servable)
        why = too_large(columns, limits)
    if why is None:
        return _advanced(columns, limits, policy, rejected, spans, most, reached)
    gates: dict[str, int] = {}
    records = _counted(replay(servable, limits, policy, options, time_unit), gates, most, reached)
    summary = summarize(records, requests, limits, rejected, options, time_unit)
    return Figures(summary["metrics"], gates, f"loop: {why}", lambda: summary["requests"])


def _counted(
    records: Iterable[Iteration | Idle],
    gates: dict[str, int],
    most: int | None,
    reached: Callable[[int], None] | None,
) -> Iterator[Iteration | Idle]:
    """`records`, with their gates counted."""
    for record in records:
        last = record.last if isinstance(record, Idle) else record.iteration
        if most is not None and last > most:
            raise TooLongError
        if reached is not None:
            reached(last)
        if isinstance(record, Iteration) and record.gate is not None:
            gates[record.gate] = gates.get(record.gate, 0) + 1
        yield record


class Columns:
    """Requests as columns, in order of (arrival, position), and what a replay makes of each."""

    def __init__(self, requests: Sequence[Request]) -> None:
        """Arrivals are iterations."""
        self._requests = requests
        self._order: Sequence[int] = range(len(requests))
        arrivals = [int(request.arrival) for request in requests]
        ordered = sorted(arrivals)
        if ordered != arrivals:
            self._order = sorted(self._order, key=arrivals.__getitem__)  # stable: ties stay in file order
            requests = [requests[i] for i in self._order]
        self.arrival = array("q", ordered)
        self.prompt = array("q", [request.prompt_tokens for request in requests])
        self.output = array("q", [request.output_tokens for request in requests])
        empty = bytes(8 * len(requests))
        self.start, self.finish, self.preemptions = array("q", empty), array("q", empty), array("q", empty)

    def waits(self) -> list[int]:
        """Iterations from arrival to the start of the first one that it runs in."""
        return [start - 1 - arrival for start, arrival in zip(self.start, self.arrival, strict=True)]

    def latencies(self) -> list[int]:
        """Iterations from arrival to the end of the last one that it runs in."""
        return [finish - arrival for finish, arrival in zip(self.finish, self.arrival, strict=True)]

    def by_request(self) -> dict[str, dict[str, Any]]:
        """The outcome of each, by id, in file order."""
        ranks = self._order
        if not isinstance(ranks, range):
            ranks = sorted(ranks, key=ranks.__getitem__)
        return {
            request.id: {
                "start": self.start[rank],
                "finish": self.finish[rank],
                "wait": self.start[rank] - 1 - self.arrival[rank],
                "latency": self.finish[rank] - self.arrival[rank],
                "preemptions": self.preemptions[rank],
            }
            for request, rank in zip(self._requests, ranks, strict=True)
        }


def too_large(columns: Columns, limits: Limits) -> str | None:
    """Why a sum might come to MOST, or None. Pages held, summed over iterations, do without a bound: see `Advance`."""
    count, emitted = len(columns.output), sum(columns.output)
    tokens = sum(columns.prompt) + emitted
    # Each iteration emits a token; but one that ends a static batch may not, nor one that all goes to a prompt.
    iterations = max(columns.arrival, default=0) + 2 * emitted
    if limits.max_num_batched_tokens is not None and limits.chunked_prefill:
        iterations += tokens // limits.max_num_batched_tokens + count
    slots = min(limits.num_pages * limits.page_size, tokens + count * limits.page_size)
    return "64 bits may not hold its sums" if max(iterations, slots) >= MOST else None


def _advanced(
    columns: Columns,
    limits: Limits,
    policy: str,
    rejected: Sequence[Rejected],
    spans: bool,
    most: int | None,
    reached: Callable[[int], None] | None,
) -> Figures:
    advance = Advance(
        columns.arrival,
        columns.prompt,
        columns.output,
        columns.start,
        columns.finish,
        columns.preemptions,
        limits.max_num_seqs,
        limits.num_pages,
        limits.page_size,
        policy_named(policy).budget(limits) or 0,
        limits.chunked_prefill,
        policy == "static",
        spans,
        limits.page_size <= MOST_BUCKETS,
    )
    last = MOST if most is None else most
    while (state := advance.replay(last, A_WHILE)) == MORE:
        if reached is not None:
            reached(advance.iteration)
    if state == TOO_LONG:
        raise TooLongError
    metrics = plain_figures(
        limits,
        waits=columns.waits(),
        latencies=columns.latencies(),
        rejected=rejected,
        iterations=max(columns.finish, default=0),
        busy=advance.busy,
        decoded=advance.decoded,
        peak_pages=advance.peak_pages,
        peak_wasted=advance.peak_wasted,
        pages_held=advance.pages_held,
        preemptions=advance.preempted,
    )
    return Figures(metrics, advance.gated, CLOSED_FORM if spans else "loop: asked for", columns.by_request)
