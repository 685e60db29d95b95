"""Strict checks of single values, with messages that say what was written and what to write instead."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from lab.errors import InputError

MAX_NUMBER = 2**53 - 1
"""The largest number in a file: JavaScript reads the files too, and counts exactly no further."""


def shown(value: object) -> str:
    """`value` as it looks in JSON, shortened to some 40 characters."""
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:36] + "…" + (text[-1] if isinstance(value, str) else "")


def _not_an_integer(value: object, example: int) -> str:
    if type(value) is float and value.is_integer() and abs(value) <= MAX_NUMBER:
        return f"must be an integer, not {shown(value)}; write {int(value)}"
    if type(value) is float and math.isfinite(value):
        return f"must be an integer, not {shown(value)}; round it to a whole number"
    if type(value) is str and value.isascii() and value.isdigit():
        return f"must be an integer, not the text {shown(value)}; take the quotation marks away"
    kind = "the text " if type(value) is str else ""
    return f"must be an integer, not {kind}{shown(value)}; write a whole number such as {example}"


def check_integer(value: object, field: str, minimum: int) -> int:
    """`value` if it is an int from `minimum` to 2**53 - 1; booleans and floats are not. Else InputError."""
    if type(value) is not int:
        raise InputError(_not_an_integer(value, max(minimum, 1)), field=field)
    if value < minimum:
        raise InputError(f"must be at least {minimum}, not {shown(value)}; write {minimum} or more", field=field)
    if value > MAX_NUMBER:
        raise InputError(
            f"must be at most {MAX_NUMBER} (2**53 - 1), not {shown(value)}; write a smaller number",
            field=field,
        )
    return value


def check_time(value: object, field: str) -> int | float:
    """`value` if it is a finite number from 0 to 2**53 - 1, int or float, no boolean. Else InputError."""
    if type(value) is not int and type(value) is not float:
        raise InputError(f"must be a number, not {shown(value)}; write a time such as 12", field=field)
    if not math.isfinite(value):
        raise InputError(f"must be a finite number, not {shown(value)}; write a time such as 12", field=field)
    if value < 0:
        raise InputError(f"must be at least 0, not {shown(value)}; times count from the start", field=field)
    if value > MAX_NUMBER:
        raise InputError(
            f"must be at most {MAX_NUMBER} (2**53 - 1), not {shown(value)}; write a smaller number",
            field=field,
        )
    return value


def check_positive(value: object, field: str) -> int | float:
    """`value` if it is a finite number above 0, and no more than 2**53 - 1. Else InputError."""
    number = check_time(value, field)
    if number == 0:
        raise InputError("must be above 0, not 0; write a number such as 20", field=field)
    return number


def check_text(value: object, field: str, *, empty: bool = False) -> str:
    """`value` if it is a str that UTF-8 can hold, and not empty unless `empty` allows it. Else InputError."""
    if type(value) is not str:
        what = "text" if empty else "text of at least one character"
        raise InputError(f"must be {what}, not {shown(value)}; write it in quotation marks", field=field)
    if not value and not empty:
        raise InputError("must not be empty; write at least one character", field=field)
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise InputError("holds half of a surrogate pair, which is no text; retype it", field=field)
    return value


def check_flag(value: object, field: str) -> bool:
    """`value` if it is True or False. Else InputError."""
    if type(value) is not bool:
        raise InputError(f"must be true or false, not {shown(value)}; write true or false", field=field)
    return value


def check_choice(value: object, field: str, choices: Iterable[str]) -> str:
    """`value` if it is one of `choices`. Else InputError."""
    known = list(choices)
    if type(value) is not str or value not in known:
        listed = ", ".join(shown(choice) for choice in known)
        raise InputError(f"must be one of {listed}, not {shown(value)}; write one of these", field=field)
    return value
