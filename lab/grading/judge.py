"""The verdict on one check, from what came back of it. Plain data, the same in the page and on the command line.

A verdict:

name, visibility, points (given), max_points, hint
outcome:  passed, failed, did_not_run, stopped, crashed or grader_error
call:     the call as Python writes it (of a script: the one that failed; of a replay: where it goes wrong)
expected, returned: what should have come back and what did, as Python writes it; empty if there is nothing to show
message:  one sentence: what is wrong; empty if passed
cause:    one sentence on the likely cause, or empty
line:     the learner's line, or None
frames:   the learner's frames of a traceback, outermost first: ``{"line", "function", "code", "times"}``
mutated:  places of arguments that the call changed, as text
output:   ``{"text", "bytes"}``: the first 64 KiB of what was printed, and how many bytes there were in all
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lab.driver import Driven, drive_replay, recorded
from lab.exercises import Call, Check, Exercise
from lab.grading.child.wire import Wire, encode
from lab.grading.compare import Difference, differences
from lab.grading.endings import ending, failure
from lab.grading.explain import likely_cause, renamed_key, reordered, sentence
from lab.grading.reply import Reply
from lab.grading.show import clean_frames, printable, printed, show, show_call
from lab.grading.traces import workload

MAX_SHOWN = 2_000

Verdict = dict[str, Any]


@dataclass(slots=True)
class _Finding:
    """What is to be said of a check; `outcome` passed unless something was found."""

    outcome: str = "passed"
    message: str = ""
    cause: str = ""
    call: str = ""
    expected: str = ""
    returned: str = ""
    line: int | None = None
    frames: list[dict[str, Any]] = field(default_factory=list)
    mutated: list[str] = field(default_factory=list)


def judge(exercise: Exercise, check: Check, reply: Reply) -> Verdict:
    """The verdict on `check` of `exercise`, from the reply to the check's request. Never raises for what is in it."""
    decide = _calls if check.replay is None else _replay
    finding = decide(exercise, check, reply)
    return {
        "name": check.name,
        "visibility": check.visibility,
        "outcome": finding.outcome,
        "points": check.points if finding.outcome == "passed" else 0,
        "max_points": check.points,
        "call": printable(finding.call),
        "expected": printable(finding.expected),
        "returned": printable(finding.returned),
        "message": printable(finding.message),
        "cause": printable(finding.cause),
        "hint": check.hint,
        "line": finding.line,
        "frames": clean_frames(finding.frames),
        "mutated": finding.mutated,
        "output": printed(reply),
    }


def _ended(exercise: Exercise, reply: Reply, finding: _Finding) -> bool:
    """Whether the reply says that there is nothing to compare; then `finding` says why."""
    said = ending(exercise, reply)
    if said is None:
        return False
    finding.outcome, finding.message, finding.cause, finding.line, finding.frames = said
    return True


def _calls(exercise: Exercise, check: Check, reply: Reply) -> _Finding:
    finding = _Finding()
    calls = check.calls
    answer, _ = reply.read()
    steps = answer["steps"]
    if not _ended(exercise, reply, finding) and len(steps) < len(calls) and not _raised(steps):
        _ended(exercise, Reply(ended="lost"), finding)
    if finding.outcome != "passed":
        _show_call(exercise, check, calls[min(len(steps), len(calls) - 1)], finding)
        return finding
    for call, step in zip(calls, steps, strict=False):
        _judge_call(exercise, check, call, step, finding, wrote=answer["output"]["bytes"] > 0)
        if finding.outcome != "passed":
            break
        if call is not calls[-1]:
            finding.mutated = []
    return finding


def _raised(steps: Sequence[dict[str, Any]]) -> bool:
    return bool(steps) and "raised" in steps[-1]


def _judge_call(
    exercise: Exercise, check: Check, call: Call, step: dict[str, Any], finding: _Finding, *, wrote: bool
) -> None:
    _show_call(exercise, check, call, finding)
    if call.raises is not None:
        finding.expected = f"raises {call.raises}"
    if "raised" in step:
        problem = step["raised"]
        if call.raises is not None and call.raises in problem.get("bases", []):
            finding.returned = f"raised {problem['type']}"
            return
        said = failure(exercise, problem)
        finding.outcome, finding.message, finding.cause, finding.line, finding.frames = said
        return
    returned: Wire = step["returned"]
    finding.returned = show(returned, MAX_SHOWN)
    finding.mutated = _mutated(exercise, call, step.get("arguments", []))
    if call.raises is not None:
        finding.outcome = "failed"
        finding.message = f"It returned {show(returned, 80)}; expected is {call.raises}."
        return
    found = differences(encode(call.expected), returned, tuples=exercise.tuples)
    if found:
        finding.outcome = "failed"
        finding.message = _message(found)
        finding.cause = _cause(check, returned, found, wrote=wrote)
    elif check.unchanged and finding.mutated:
        finding.outcome = "failed"
        changed = ", ".join(finding.mutated)
        finding.message = f"The call changed its arguments: {changed}."
        finding.cause = "Lists and dicts are handed over, not copied: build new ones, and leave those alone."


def _show_call(exercise: Exercise, check: Check, call: Call, finding: _Finding) -> None:
    name = exercise.name
    if check.construct is not None:
        made = show_call(name, [encode(argument) for argument in check.construct], MAX_SHOWN)
        name = f"{made}.{call.method}" if call.method else made
    finding.call = show_call(name, [encode(argument) for argument in call.arguments], MAX_SHOWN)
    finding.expected = show(encode(call.expected), MAX_SHOWN)


def _message(found: list[Difference]) -> str:
    # A length that differs says less than the entry that does not belong, unless it is all there is.
    message = sentence(found[0])
    others = len(found) - 1
    if others:
        message += f" ({others} more difference{'s' if others > 1 else ''}.)"
    return message


def _cause(check: Check, returned: Wire, found: list[Difference], *, wrote: bool) -> str:
    for cause in check.causes:
        if _at(returned, cause.at) == encode(cause.value):
            return cause.because
    renamed = renamed_key(found)
    if renamed:
        return renamed
    for difference in found:
        said = likely_cause(difference, printed=wrote) or reordered(difference)
        if said:
            return said
    return ""


def _at(wire: Wire, place: tuple[str | int, ...]) -> Wire | None:
    """The part of `wire` at `place`, or None if there is none."""
    for step in place:
        if isinstance(step, str) and wire[0] == "dict":
            inner = [value for key, value in wire[1] if key == ["str", step]]
            if not inner:
                return None
            wire = inner[0]
        elif isinstance(step, int) and wire[0] in ("list", "tuple") and step < len(wire[1]):
            wire = wire[1][step]
        else:
            return None
    return wire


def _mutated(exercise: Exercise, call: Call, after: list[Wire]) -> list[str]:
    """The arguments that are no longer as they were given."""
    names = [entry.name for entry in exercise.inputs]
    changed = []
    for i, (given, now) in enumerate(zip(call.arguments, after, strict=False)):
        if differences(encode(given), now, tuples=False):
            changed.append(names[i] if i < len(names) and call.method is None else f"argument {i + 1}")
    return changed


def _replay(exercise: Exercise, check: Check, reply: Reply) -> _Finding:
    finding = _Finding()
    spec = check.replay
    assert spec is not None
    requests, limits = workload(spec)
    trace = f"{len(requests)} requests" + ("" if spec.seed is None else f" made from seed {spec.seed}")
    finding.call = f"{exercise.name}(...), once an iteration, on {trace}"
    if _ended(exercise, reply, finding):
        return finding
    steps = reply.read()[0]["steps"]
    driven = drive_replay(requests, limits, recorded(steps))
    if spec.expected is not None:
        _judge_metrics(driven, spec.expected, finding)
    elif driven.departure is not None or driven.stopped is not None:
        finding.outcome = "failed"
    if finding.outcome != "passed":
        _explain_replay(exercise, driven, steps, finding)
    return finding


def _judge_metrics(driven: Driven, expected: Sequence[tuple[str, int]], finding: _Finding) -> None:
    figures = dict(driven.metrics)
    figures["utilization_percent"] = round(100 * figures["utilization"])
    finding.expected = ", ".join(f"{name} {value}" for name, value in expected)
    finding.returned = ", ".join(f"{name} {_figure(figures[name])}" for name, _ in expected)
    wrong = [(name, value) for name, value in expected if figures[name] != value]
    if driven.stopped is not None or wrong:
        finding.outcome = "failed"
    if wrong:
        name, value = wrong[0]
        finding.message = f"{name} is {_figure(figures[name])}, expected {value}."


def _figure(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _explain_replay(exercise: Exercise, driven: Driven, steps: list[dict[str, Any]], finding: _Finding) -> None:
    """Say where the replay went wrong first, and show the call there."""
    departure, stopped = driven.departure, driven.stopped
    moment = departure.moment if departure is not None else stopped.moment if stopped is not None else None
    if moment is None:
        return
    if stopped is not None and departure is None:
        called = [step for step in steps if "raised" in step]
        if stopped.reason == "no_answer" and called:
            said = failure(exercise, called[0]["raised"])
            finding.outcome, finding.message, finding.cause, finding.line, finding.frames = said
            finding.message = f"In iteration {stopped.iteration}: {finding.message}"
        else:
            finding.message = f"In iteration {stopped.iteration}, {stopped.text}."
    elif departure is not None:
        finding.message = (finding.message + f" In iteration {departure.iteration}: {departure.difference}").strip()
        finding.cause = departure.reason
    finding.call = show_call(exercise.name, moment.arguments, MAX_SHOWN)
    finding.expected = show(moment.expected, MAX_SHOWN) if moment.expected is not None else ""
    finding.returned = show(moment.returned, MAX_SHOWN) if moment.returned is not None else ""
