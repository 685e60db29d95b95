"""The engine's options on the command line: one flag each, made from `lab.option_help`."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from lab.costs import pages_that_fit
from lab.errors import InputError
from lab.option_help import GROUPS, HELP_OF, OPTION_HELP, OptionHelp
from lab.options import PLAIN, Options
from lab.values import MAX_NUMBER, shown
from lab.workload import Limits

NONE = "none"
"""Written for no value at all, where an option may have none."""

GIGABYTE = 10**9


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each option, in groups, and `--pool-gb`, which says how many pages there are in gigabytes."""
    groups = {name: parser.add_argument_group(name) for name in GROUPS}
    groups["Memory"].add_argument(
        "--pool-gb",
        metavar="X",
        type=positive,
        help="As many pages as fit in X gigabytes (10**9 bytes each), instead of --num-pages.",
    )
    for entry in OPTION_HELP:
        _add_flag(groups[entry.group], entry)


def _add_flag(group: argparse._ArgumentGroup, entry: OptionHelp) -> None:
    text = (entry.help + _values(entry)).replace("%", "%%")
    if entry.kind == "flag":
        group.add_argument(entry.flag, action=argparse.BooleanOptionalAction, help=text)
    elif entry.kind == "choice":
        group.add_argument(entry.flag, metavar="NAME", help=text)
    else:
        kind = positive if entry.kind == "number" else _whole_or_none if entry.optional else whole
        group.add_argument(entry.flag, metavar="N", type=kind, help=text)


def _values(entry: OptionHelp) -> str:
    """What may be written, and what holds if nothing is."""
    default = getattr(PLAIN, entry.name)
    if entry.kind == "choice":
        names = [NONE if value is None else str(value) for value, _ in entry.words]
        return f" NAME: {', '.join(names)} (default: {NONE if default is None else default})."
    return "" if default is None or entry.kind == "flag" else f" (default: {default})"


def whole(text: str) -> int:
    """The integer that `text` is. Whether it is in range is for `Limits` and `Options` to say."""
    if re.fullmatch(r"-?[0-9]{1,40}", text):
        return int(text)
    written = re.fullmatch(r"(-?[0-9]{1,40})\.0*", text)
    remedy = f"write {written[1]}" if written else "write a whole number"
    raise argparse.ArgumentTypeError(f"must be an integer, not {shown(text)}; {remedy}")


def _whole_or_none(text: str) -> int | str:
    return NONE if text == NONE else whole(text)


def positive(text: str) -> int | float:
    """The number above 0 that `text` is, in digits with or without a decimal point."""
    if re.fullmatch(r"[0-9]{1,15}", text):
        value: int | float = int(text)
    elif re.fullmatch(r"[0-9]{1,15}\.[0-9]{1,15}", text):
        value = float(text)
    else:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {shown(text)}; write 20 or 12.5")
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}; write 20 or 12.5")
    return value


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that the command line names, in the order of the fields."""
    values = {entry.name: getattr(arguments, entry.name) for entry in OPTION_HELP}
    return {name: None if value == NONE else value for name, value in values.items() if value is not None}


def options_for(own: Options, arguments: argparse.Namespace, limits: Limits) -> Options:
    """The trace's own options with those of the command line in their place.

    Raises InputError, with the flag as its field, if they do not go together or not with `limits`.
    """
    try:
        options = replace(own, **given(arguments))
        options.check_with(limits)
    except InputError as error:
        flag = HELP_OF[error.field].flag if error.field in HELP_OF else error.field
        problem = error.problem.replace(", not null;", f", not {NONE};")  # null is how files write it
        raise InputError(problem, field=flag) from None
    return options


def pages_for_pool(gigabytes: int | float, page_size: int, kv_bytes: int) -> int:
    """Pages of `page_size` tokens, `kv_bytes` a token, that fit in `gigabytes`. Raises InputError if none
    does, or more than 2**53 - 1 do.
    """
    pages = pages_that_fit(int(Fraction(repr(gigabytes)) * GIGABYTE), page_size, kv_bytes)
    page = page_size * kv_bytes
    if pages > MAX_NUMBER:
        raise InputError(
            f"holds {pages} pages, more than 2**53 - 1; write {MAX_NUMBER * page // GIGABYTE} or less",
            field="--pool-gb",
        )
    if pages == 0:
        raise InputError(
            f"holds no page, which takes {page} bytes; write {page / GIGABYTE:.9f} or more",
            field="--pool-gb",
        )
    return pages
