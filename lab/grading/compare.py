"""Where a returned value differs from the expected one: strict about types, on plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lab.grading.child.wire import Wire, decode

MAX_DIFFERENCES = 20

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ.

    place:    keys and indexes that lead there; empty for the whole value
    kind:     ``type``, ``value``, ``missing`` (a key), ``extra`` (a key) or ``length`` (of a list)
    expected: the wire value there, None for an extra key
    returned: likewise, None for a missing key
    """

    place: Place
    kind: str
    expected: Wire | None
    returned: Wire | None


def differences(expected: Wire, returned: Wire, *, tuples: bool = True) -> list[Difference]:
    """The first MAX_DIFFERENCES places where `returned` differs from `expected`; none if it is right.

    Types count: ``True`` is not 1, ``3.0`` is not 3, an instance of a subclass is not one of its base, and NaN
    equals nothing. The order of keys does not count. A tuple passes for a list if `tuples`.
    """
    return list(islice(_differences(expected, returned, (), tuples), MAX_DIFFERENCES))


def _differences(expected: Wire, returned: Wire, place: Place, tuples: bool) -> Iterator[Difference]:
    kind = expected[0]
    if returned[0] != kind and not (tuples and kind == "list" and returned[0] == "tuple"):
        yield Difference(place, "type", expected, returned)
    elif kind == "dict":
        yield from _dict_differences(expected, returned, place, tuples)
    elif kind in ("list", "tuple"):
        if len(expected[1]) != len(returned[1]):
            yield Difference(place, "length", expected, returned)
        for i, (left, right) in enumerate(zip(expected[1], returned[1], strict=False)):
            yield from _differences(left, right, (*place, i), tuples)
    elif not _equal(expected, returned):
        yield Difference(place, "value", expected, returned)


def _equal(expected: Wire, returned: Wire) -> bool:
    # Decoded, since the same number can be written in more than one way. NaN equals nothing, itself included.
    return expected[0] == "none" or bool(decode(expected) == decode(returned))


def _dict_differences(expected: Wire, returned: Wire, place: Place, tuples: bool) -> Iterator[Difference]:
    wanted = {_name(key): value for key, value in expected[1]}
    given = {_name(key): value for key, value in returned[1]}
    for name, value in wanted.items():
        if name not in given:
            yield Difference((*place, name), "missing", value, None)
    for name, value in given.items():
        if name not in wanted:
            yield Difference((*place, name), "extra", None, value)
    for name, value in wanted.items():
        if name in given:
            yield from _differences(value, given[name], (*place, name), tuples)


def _name(key: Wire) -> str | int:
    """A key as a step of a place. Expected keys are text; others come out as what they never equal."""
    content: Any = key[1] if len(key) > 1 else None
    if key[0] == "str":
        return str(content)
    if key[0] == "int" and type(content) is int:
        return content
    return f"{key!r}"
