"""What the parent asks the learner's interpreter to do for one check: arguments, never an expected value."""

from __future__ import annotations

from typing import Any

from lab.driver import plan_for
from lab.exercises import Check
from lab.grading.child.wire import encode
from lab.grading.traces import workload


def request_for(check: Check) -> dict[str, Any]:
    """The request for `check`, plain JSON data as `lab.grading.child.call` takes it."""
    if check.replay is not None:
        requests, limits = workload(check.replay)
        return {"replay": plan_for(requests, limits)}
    request: dict[str, Any] = {"steps": []}
    if check.construct is not None:
        request["construct"] = [encode(argument) for argument in check.construct]
    for call in check.calls:
        step: dict[str, Any] = {"arguments": [encode(argument) for argument in call.arguments]}
        if call.method is not None:
            step["method"] = call.method
        request["steps"].append(step)
    return request
