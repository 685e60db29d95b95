"""A learner's `scheduler_step` as a policy of its own: it drives a replay, and is laid beside the engine.

The token budget and chunked prefill are off: the exercise knows neither. Nor does it know preemption, so the
replay stops where the pool runs dry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lab.engine import replay, screen
from lab.grading.child.drive import Plan, Step, drive
from lab.grading.child.wire import Wire, encode
from lab.grading.compare import differences
from lab.grading.departure import reason, right_result
from lab.grading.explain import sentence
from lab.grading.scribe import Scribe
from lab.metrics import summarize
from lab.records import Idle, Iteration
from lab.workload import Limits, Request

POLICY = "learner"

Call = Callable[[list[Any]], Wire | None]


@dataclass(frozen=True, slots=True)
class Moment:
    """One call of the step, to be shown: what it was given, what it should return, what it returned (or None)."""

    iteration: int
    arguments: list[Wire]
    expected: Wire | None
    returned: Wire | None


@dataclass(frozen=True, slots=True)
class Departure:
    """The first iteration in which the step does otherwise than the engine.

    difference: one sentence on what is different; reason: one on why the engine does it so
    """

    moment: Moment
    difference: str
    reason: str

    @property
    def iteration(self) -> int:
        """The number of the iteration."""
        return self.moment.iteration


@dataclass(frozen=True, slots=True)
class Stop:
    """Where and why the replay ended early.

    reason: ``dry`` (growth needs more pages than are free), ``no_answer`` (the code broke or was stopped) or
            ``not_usable`` (what came back cannot be gone on with); `text` is one sentence without its full stop
    """

    iteration: int
    reason: str
    text: str
    moment: Moment


@dataclass(slots=True)
class Driven:
    """What the step made of a trace. `records` end before the iteration in which it `stopped`, if it did."""

    limits: Limits
    metrics: dict[str, Any] = field(default_factory=dict)
    requests: dict[str, dict[str, int]] = field(default_factory=dict)
    records: list[Iteration | Idle] = field(default_factory=list)
    departure: Departure | None = None
    stopped: Stop | None = None

    def to_policy(self) -> dict[str, Any]:
        """An entry of a replay document's `policies`, with `departure` and `stopped` beside the usual keys.

        ``departure``: None or ``{"iteration", "difference", "reason"}``;
        ``stopped``: None or ``{"iteration", "reason", "text"}``.
        """
        departure, stopped = self.departure, self.stopped
        return {
            "metrics": self.metrics,
            "requests": self.requests,
            "rows": [record.to_row() for record in self.records],
            "departure": departure
            and {
                "iteration": departure.iteration,
                "difference": departure.difference,
                "reason": departure.reason,
            },
            "stopped": stopped and {"iteration": stopped.iteration, "reason": stopped.reason, "text": stopped.text},
        }


def step_limits(limits: Limits) -> Limits:
    """`limits` without token budget and chunked prefill, of which the exercise knows nothing."""
    return replace(limits, max_num_batched_tokens=None, chunked_prefill=False)


def plan_for(requests: Sequence[Request], limits: Limits) -> Plan:
    """What the learner's interpreter is told of a replay: the servable requests in order of arrival, and limits."""
    servable, _ = screen(requests, step_limits(limits), "continuous")
    return {
        "requests": [
            {
                "id": request.id,
                "arrival": request.arrival,
                "prompt_tokens": request.prompt_tokens,
                "output_tokens": request.output_tokens,
            }
            for request in sorted(servable, key=lambda request: request.arrival)
        ],
        "num_pages": limits.num_pages,
        "max_num_seqs": limits.max_num_seqs,
        "page_size": limits.page_size,
    }


def called(function: Callable[..., Any]) -> Call:
    """`function`, trusted code of this interpreter, as what `drive_replay` asks."""
    return lambda arguments: encode(function(*arguments))


def recorded(steps: Sequence[dict[str, Any]]) -> Call:
    """The `steps` of an answer to a replay request, as what `drive_replay` asks."""
    coming = iter(steps)
    return lambda arguments: next(coming, {}).get("returned")


def drive_replay(requests: Sequence[Request], limits: Limits, call: Call) -> Driven:
    """Replay `requests` (arrivals in iterations), asking `call` for each busy iteration.

    Raises InputError as the engine does.
    """
    limits = step_limits(limits)
    servable, rejected = screen(requests, limits, "continuous")
    driven = Driven(limits)
    known = {request.id: request for request in servable}
    engine = replay(servable, limits, "continuous")
    scribe = Scribe(known, limits)
    for step in drive(plan_for(servable, limits), call):
        beside = next(engine, None) if driven.departure is None else None
        if step.idle is not None:
            driven.records.append(Idle(*step.idle))
            continue
        right = None
        if isinstance(beside, Iteration) and not beside.preempted:
            right = right_result(beside, known, limits)
        moment = _moment(step, right, limits)
        if step.stopped is not None:
            text = step.stopped["text"]
            if step.stopped["reason"] == "not_usable" and right is not None and isinstance(beside, Iteration):
                driven.departure = Departure(
                    moment, text[0].upper() + text[1:] + ".", reason(step, right, beside, limits)
                )
            driven.stopped = Stop(step.iteration, step.stopped["reason"], text, moment)
            break
        if right is not None and isinstance(beside, Iteration) and step.returned is not None:
            found = differences(encode(right), step.returned)
            if found:
                driven.departure = Departure(moment, sentence(found[0]), reason(step, right, beside, limits))
        driven.records.append(scribe.record(step))
    summary = summarize(driven.records, servable, limits, rejected)
    driven.metrics, driven.requests = summary["metrics"], summary["requests"]
    return driven


def _moment(step: Step, right: dict[str, Any] | None, limits: Limits) -> Moment:
    before = step.before
    arguments = [before.running, before.waiting, before.free_pages, limits.max_num_seqs, limits.page_size]
    return Moment(
        step.iteration,
        [encode(argument) for argument in arguments],
        None if right is None else encode(right),
        step.returned,
    )
