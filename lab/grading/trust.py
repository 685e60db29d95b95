"""Whether an answer from the learner's interpreter has the form that the child gives it.

Learner code shares that interpreter, so an answer may be anything. What has not this form is not read at all.
"""

from __future__ import annotations

from typing import Any

from lab.grading.child.wire import MAX_DEPTH, MAX_INT_BITS, NotPlain, decode

_MARKS = {
    "subclass": (str, str, str),
    "other": (str, str),
    "cycle": (str,),
    "deep": (str,),
    "large": (str, int),
}
_LEAVES = ("none", "bool", "int", "float", "str")
_KEYS = {"phase", "problem", "steps", "output", "ended"}
_PHASES = ("compile", "load", "find", "call")


def is_count(value: object) -> bool:
    """Whether `value` is an int that could count something: sizes, lines, bytes."""
    return type(value) is int and 0 <= value < 2**63


def is_wire(wire: object, depth: int = 0) -> bool:
    """Whether `wire` is a wire value, marks included."""
    if type(wire) is not list or not wire or type(wire[0]) is not str or depth > MAX_DEPTH + 2:
        return False
    kind = wire[0]
    if kind in _LEAVES:
        try:
            decode(wire)
        except NotPlain:
            return False
        return not (kind == "int" and type(wire[1]) is int and wire[1].bit_length() > MAX_INT_BITS)
    if kind in _MARKS:
        return len(wire) == 1 + len(_MARKS[kind]) and all(
            is_count(part) if expected is int else type(part) is str
            for part, expected in zip(wire[1:], _MARKS[kind], strict=True)
        )
    if kind not in ("list", "tuple", "dict") or len(wire) != 2 or type(wire[1]) is not list:
        return False
    if kind == "dict":
        return all(
            type(pair) is list and len(pair) == 2 and is_wire(pair[0], depth + 1) and is_wire(pair[1], depth + 1)
            for pair in wire[1]
        )
    return all(is_wire(item, depth + 1) for item in wire[1])


def is_answer(answer: object) -> bool:
    """Whether `answer` is one of `Session`'s."""
    return (
        type(answer) is dict
        and set(answer) == _KEYS
        and answer["phase"] in _PHASES
        and (answer["problem"] is None or is_problem(answer["problem"]))
        and type(answer.get("steps")) is list
        and all(is_step(step) for step in answer["steps"])
        and _is_output(answer.get("output"))
        and answer.get("ended") in (None, "output")
    )


def is_problem(problem: object) -> bool:
    """Whether `problem` is one that the child describes."""
    return (
        type(problem) is dict
        and all(type(problem.get(key)) is str for key in ("kind", "type", "message"))
        and all(problem.get(key, "") is None or is_count(problem.get(key)) for key in ("line", "column"))
        and _is_texts(problem.get("bases", []))
        and _is_texts(problem.get("found", []))
        and type(problem.get("frames")) is list
        and all(_is_frame(frame) for frame in problem["frames"])
    )


def _is_texts(value: object) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _is_frame(frame: object) -> bool:
    return (
        type(frame) is dict
        and all(is_count(frame.get(key)) for key in ("line", "times"))
        and all(type(frame.get(key)) is str for key in ("function", "code"))
    )


def is_step(step: object) -> bool:
    """Whether `step` is one entry of an answer's steps."""
    if type(step) is not dict:
        return False
    if "raised" in step:
        return is_problem(step["raised"])
    arguments: Any = step.get("arguments", [])
    return is_wire(step.get("returned")) and type(arguments) is list and all(is_wire(a) for a in arguments)


def _is_output(output: object) -> bool:
    return type(output) is dict and type(output.get("text")) is str and is_count(output.get("bytes"))
