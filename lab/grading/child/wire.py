"""Values on the wire: plain data as JSON that keeps every type apart.

A value becomes a list whose first item names its kind:

``["none"]`` ``["bool", true]`` ``["str", "x"]``
``["int", 5]``, or beyond 2**53 - 1 ``["int", "-0x1f"]`` (hexadecimal: Python bounds and slows decimal ones)
``["float", "0x1.8p+1"]``, also ``"nan"``, ``"inf"``, ``"-inf"``
``["list", [value, ...]]`` ``["tuple", [value, ...]]`` ``["dict", [[key, value], ...]]``

What is not plain data becomes a mark, so that it can be told:

``["subclass", "int", "Sneaky", preview]``  an instance of a subclass of a plain type
``["other", "Fraction", preview]``          anything else
``["cycle", "list"]``                       a container inside itself
``["deep", "list"]``                        nested beyond MAX_DEPTH
``["large", "list", size]``                 too large to hand over; size in items, characters or bits
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .pristine import BUILTINS

globals()["__builtins__"] = BUILTINS

Wire = list[Any]

MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_CHARS = 2_000_000
MAX_INT_BITS = 16_384
MAX_SAFE = 2**53 - 1
PREVIEW = 120
PREVIEW_DEPTH = 60
"""Calls that a learner's ``__repr__`` may nest: far fewer than a browser's stack can hold."""

_PLAIN = (bool, int, float, str, list, tuple, dict)
# A metaclass may hide these behind attributes of its own; the descriptors cannot be hidden.
_name_of = type.__dict__["__name__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
_hex = float.hex
_frame, _set_limit, _get_limit = sys._getframe, sys.setrecursionlimit, sys.getrecursionlimit


def class_name(kind: type) -> str:
    """The name of `kind`, at most 80 characters."""
    name: str = _name_of(kind)
    return name[:80]


def type_name(value: object) -> str:
    """The name of the real type of `value`, whatever its ``__class__`` says."""
    return class_name(type(value))


class NotPlain(ValueError):
    """A wire value that holds a mark, or is no wire value at all."""


class Encoder:
    """Turns values into wire form within one allowance of nodes and characters."""

    def __init__(self) -> None:
        self.nodes = MAX_NODES
        self.chars = MAX_CHARS
        self._above: set[int] = set()

    def encode(self, value: object) -> Wire:
        """The wire form of `value`. Runs no learner code, but for ``repr`` of what is not plain data."""
        kind = type(value)
        self.nodes -= 1
        if value is None:
            return ["none"]
        if kind is bool:
            return ["bool", value]
        if kind is int:
            return self._int(value)  # type: ignore[arg-type]
        if kind is float:
            return ["float", _hex(value)]  # type: ignore[arg-type]
        if kind is str:
            return self._str(value)  # type: ignore[arg-type]
        if kind is list or kind is tuple or kind is dict:
            return self._container(value)  # type: ignore[arg-type]
        for base in _mro_of(kind):
            if base in _PLAIN:
                return ["subclass", class_name(base), type_name(value), self._text_of(value, base.__repr__)]
        return ["other", type_name(value), self._text_of(value)]

    def _int(self, value: int) -> Wire:
        if -MAX_SAFE <= value <= MAX_SAFE:
            return ["int", value]
        bits = value.bit_length()
        if bits > MAX_INT_BITS:
            return ["large", "int", bits]
        self.chars -= bits // 4
        return ["int", hex(value)]

    def _str(self, value: str) -> Wire:
        if len(value) > self.chars:
            return ["large", "str", len(value)]
        self.chars -= len(value)
        return ["str", value]

    def _container(self, value: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> Wire:
        name = type_name(value)
        if id(value) in self._above:
            return ["cycle", name]
        if len(self._above) >= MAX_DEPTH:
            return ["deep", name]
        if len(value) > self.nodes:
            return ["large", name, len(value)]
        self._above.add(id(value))
        # A copy first: code in another thread may go on changing the original.
        if type(value) is dict:
            items: list[Any] = [[self.encode(k), self.encode(v)] for k, v in list(value.items())]
        else:
            items = [self.encode(item) for item in list(value)]
        self._above.discard(id(value))
        return [name, items]

    def _text_of(self, value: object, text_from: Callable[[Any], str] = repr) -> str:
        """A short ``repr``, or nothing: that is learner code when the class is a learner's."""
        try:
            for base in (str, bytes, bytearray, list, tuple, dict, set, frozenset):
                if base in _mro_of(type(value)) and base.__len__(value) > 1000:  # type: ignore[arg-type]
                    return ""
            text = _shallow(text_from, value)
            text = str.__str__(text) if len(text) <= PREVIEW else str.__getitem__(text, slice(PREVIEW)) + "…"
        except BaseException:
            return ""
        return text


def _shallow(function: Callable[[Any], str], value: object) -> str:
    """`function(value)` with room for PREVIEW_DEPTH nested calls."""
    depth = 1
    frame = _frame()
    while frame.f_back is not None:
        frame = frame.f_back
        depth += 1
    limit = _get_limit()
    _set_limit(depth + PREVIEW_DEPTH)
    try:
        return function(value)
    finally:
        _set_limit(limit)


def encode(value: object) -> Wire:
    """The wire form of `value`, with an allowance of its own."""
    return Encoder().encode(value)


def decode(wire: object) -> Any:
    """The plain value of `wire`, made of new objects. Raises NotPlain for marks and for what is no wire value."""
    return _decode(wire, 0)


def _decode(wire: object, depth: int) -> Any:
    if type(wire) is not list or not wire or depth > MAX_DEPTH:
        raise NotPlain("no wire value")
    kind = wire[0]
    if kind == "none" and len(wire) == 1:
        return None
    if len(wire) != 2 or type(kind) is not str:
        raise NotPlain("not plain data")
    content = wire[1]
    if kind == "bool" and type(content) is bool:
        return content
    if kind == "str" and type(content) is str:
        return content
    if kind == "int":
        return _int_from(content)
    if kind == "float" and type(content) is str:
        try:
            return float.fromhex(content)
        except (ValueError, OverflowError):
            raise NotPlain("no wire value") from None
    if kind == "list" and type(content) is list:
        return [_decode(item, depth + 1) for item in content]
    if kind == "tuple" and type(content) is list:
        return tuple([_decode(item, depth + 1) for item in content])
    if kind == "dict" and type(content) is list:
        plain: dict[Any, Any] = {}
        for pair in content:
            if type(pair) is not list or len(pair) != 2:
                raise NotPlain("no wire value")
            try:
                plain[_decode(pair[0], depth + 1)] = _decode(pair[1], depth + 1)
            except TypeError:  # a key that no dict can hold
                raise NotPlain("no wire value") from None
        return plain
    raise NotPlain("not plain data")


def _int_from(content: object) -> int:
    if type(content) is int:
        return content
    if type(content) is str and len(content) <= MAX_INT_BITS:
        try:
            return int(content, 16)
        except ValueError:
            pass
    raise NotPlain("no wire value")
