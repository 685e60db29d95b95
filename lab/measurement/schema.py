"""Checks plain data against a JSON Schema: the small part of the language that the lab's own schemas use.

The standard library has no validator, and the page and the command line must read measurements without one. In tests a
complete validator says the same.
"""

from __future__ import annotations

from typing import Any

from lab.errors import InputError
from lab.values import shown

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
KNOWN = {
    *("$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "oneOf", "required"),
    *("properties", "additionalProperties", "items", "minimum", "maximum", "exclusiveMinimum", "minLength"),
}


def check(value: Any, schema: dict[str, Any]) -> None:
    """Raise InputError, naming the place, if `value` is not as `schema` says. ValueError for a schema beyond KNOWN."""
    _check(value, schema, schema, "")


def _check(value: Any, rule: dict[str, Any], top: dict[str, Any], place: str) -> None:
    unknown = set(rule) - KNOWN
    if unknown:
        raise ValueError(f"this validator does not know {', '.join(sorted(unknown))}")
    if "$ref" in rule:
        _check(value, top["$defs"][rule["$ref"].removeprefix("#/$defs/")], top, place)
    if "oneOf" in rule:
        _one_of(value, rule["oneOf"], top, place)
    if "const" in rule and not _same(value, rule["const"]):
        raise _wrong(f"must be {shown(rule['const'])}, not {shown(value)}", place)
    if "enum" in rule and not any(_same(value, choice) for choice in rule["enum"]):
        listed = ", ".join(map(shown, rule["enum"]))
        raise _wrong(f"must be one of {listed}, not {shown(value)}", place)
    if "type" in rule and not _is(value, rule["type"]):
        raise _wrong(f"must be of type {rule['type']}, not {shown(value)}", place)
    if isinstance(value, dict):
        _members(value, rule, top, place)
    elif isinstance(value, list) and "items" in rule:
        for index, entry in enumerate(value):
            _check(entry, rule["items"], top, f"{place}[{index}]")
    elif isinstance(value, str) and len(value) < rule.get("minLength", 0):
        raise _wrong(f"must have at least {rule['minLength']} characters", place)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _range(value, rule, place)


def _range(value: int | float, rule: dict[str, Any], place: str) -> None:
    # Written so that NaN, which is neither below nor above, is refused.
    if "minimum" in rule and not value >= rule["minimum"]:
        raise _wrong(f"must be at least {rule['minimum']}, not {shown(value)}", place)
    if "exclusiveMinimum" in rule and not value > rule["exclusiveMinimum"]:
        raise _wrong(f"must be above {rule['exclusiveMinimum']}, not {shown(value)}", place)
    if "maximum" in rule and not value <= rule["maximum"]:
        raise _wrong(f"must be at most {rule['maximum']}, not {shown(value)}", place)


def _members(value: dict[str, Any], rule: dict[str, Any], top: dict[str, Any], place: str) -> None:
    for key in rule.get("required", ()):
        if key not in value:
            raise _wrong("is missing", _inside(place, key))
    known = rule.get("properties", {})
    others = rule.get("additionalProperties", True)
    for key, entry in value.items():
        if key in known:
            _check(entry, known[key], top, _inside(place, key))
        elif others is False:
            raise _wrong("is not a known key", _inside(place, key))
        elif isinstance(others, dict):
            _check(entry, others, top, _inside(place, key))


def _one_of(value: Any, rules: list[dict[str, Any]], top: dict[str, Any], place: str) -> None:
    problems = []
    for rule in rules:
        try:
            _check(value, rule, top, place)
            return  # the lab's schemas have no value that fits two
        except InputError as problem:
            problems.append(problem)
    # The problem that lies deepest is of the alternative that was meant.
    raise max(problems, key=lambda problem: len(problem.field or ""))


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])  # type: ignore[arg-type]


def _same(value: Any, wanted: Any) -> bool:
    return type(value) is type(wanted) and value == wanted


def _inside(place: str, key: str) -> str:
    return f"{place}.{key[:40]}" if place else key[:40]


def _wrong(problem: str, place: str) -> InputError:
    return InputError(f"{problem}; a measurement is written by the lab and not by hand", field=place or None)
