"""Reads the plain data of exercise files: objects field by field, and values with their exact types."""

from __future__ import annotations

import math
import re
from typing import Any

from lab.errors import InputError
from lab.formats.json_text import repeated_keys
from lab.values import MAX_NUMBER, check_integer, check_text, shown

_MISSING = object()
_INT = re.compile(r"-?(0|[1-9][0-9]{0,999})")


class Fields:
    """An object of a file, taken field by field. `finish` refuses what nobody took."""

    def __init__(self, value: object, place: str) -> None:
        """Raises InputError if `value` is no object, or writes a key twice."""
        self.place = place
        self._what = "" if place == "the file" else place
        if not isinstance(value, dict):
            raise InputError(f"must be an object, not {shown(value)}; write {{...}}", place=self._what)
        for key in repeated_keys(value):
            raise InputError(f"has the key {shown(key)} twice; keep one of them", place=self._what)
        self._value = value
        self._taken: set[str] = set()

    def rename(self, place: str) -> None:
        """Call the place `place` from now on."""
        self.place = self._what = place

    def has(self, key: str) -> bool:
        """Whether the object has `key`."""
        return key in self._value

    def take(self, key: str, default: Any = _MISSING) -> Any:
        """The value of `key`, or `default`. InputError if it is not there and there is no default."""
        self._taken.add(key)
        if key in self._value:
            return self._value[key]
        if default is _MISSING:
            raise InputError(f"lacks the key {shown(key)}; add it", place=self._what)
        return default

    def text(self, key: str) -> str:
        """The text of `key`, not empty."""
        try:
            return check_text(self.take(key), key)
        except InputError as error:
            raise error.at(place=self._what) from None

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts of `key`, at least one."""
        value = self.take(key)
        if not isinstance(value, list) or not value:
            raise InputError("must be a list of texts, at least one; write [...]", field=key, place=self._what)
        try:
            return tuple(check_text(item, f"{key}[{i}]") for i, item in enumerate(value))
        except InputError as error:
            raise error.at(place=self._what) from None

    def counts(self, *keys: str) -> tuple[int, ...]:
        """The integers of `keys`, in that order, each from 0 to 2**53 - 1."""
        try:
            return tuple(check_integer(self.take(key), key, 0) for key in keys)
        except InputError as error:
            raise error.at(place=self._what) from None

    def object(self, key: str) -> Fields:
        """The object of `key`."""
        return Fields(self.take(key), self._at(key))

    def objects(self, key: str, *, optional: bool = False) -> list[Fields]:
        """The list of objects of `key`; empty if it is `optional` and not there."""
        value = self.take(key, [] if optional else _MISSING)
        if not isinstance(value, list):
            raise InputError(f"must be a list, not {shown(value)}; write [...]", field=key, place=self._what)
        return [Fields(item, self._at(f"{key}[{i}]")) for i, item in enumerate(value)]

    def finish(self) -> None:
        """Raise InputError for the first key that is not known."""
        for key in self._value:
            if key not in self._taken:
                known = ", ".join(sorted(self._taken))
                raise InputError(f"unknown key {shown(key)}; known keys are {known}", place=self._what)

    def _at(self, key: str) -> str:
        return f"{self._what}, {key}" if self._what else key


def plain_value(value: Any, place: str) -> Any:
    """The Python value that `value` of a file stands for: an argument, or what is expected back.

    Plain JSON means itself, with integers of at most 2**53 - 1 and no float that JavaScript would take for one.
    ``{"$int": "10000000000000000000000"}`` is an exact integer, ``{"$float": "3.0"}`` a float.
    Raises InputError, naming the place.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        if abs(value) > MAX_NUMBER:
            raise InputError(
                f'must be at most 2**53 - 1, not {shown(value)}; write {{"$int": "..."}} with the digits', place=place
            )
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"must be a finite number, not {shown(value)}; write one", place=place)
        if value.is_integer():
            raise InputError(
                f"must not be {shown(value)}, which JavaScript reads as an integer; "
                f'write {int(value)}, or {{"$float": "{value}"}} if a float is meant',
                place=place,
            )
        return value
    if isinstance(value, list):
        return [plain_value(item, f"{place}[{i}]") for i, item in enumerate(value)]
    for key in repeated_keys(value):
        raise InputError(f"has the key {shown(key)} twice; keep one of them", place=place)
    for key in value:
        if key.startswith("$"):
            return _tagged(value, key, place)
    return {key: plain_value(item, f"{place}.{key}") for key, item in value.items()}


def _tagged(value: dict[str, Any], key: str, place: str) -> int | float:
    text = value[key]
    if len(value) == 1 and type(text) is str:
        if key == "$int" and _INT.fullmatch(text):
            return int(text)
        if key == "$float":
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            if math.isfinite(number):
                return number
    raise InputError('is no value; write {"$int": "123"} or {"$float": "1.5"}, and nothing else in it', place=place)


def exact(value: Any) -> Any:
    """`value` of a parsed file as plain dicts and lists, so that it can be hashed."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value
