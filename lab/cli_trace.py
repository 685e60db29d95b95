"""`serving-lab trace`: look at trace files."""

from __future__ import annotations

import argparse
from typing import Any

from lab.errors import InputError, printable
from lab.formats.trace_json import read_trace
from lab.terminal import notice


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    trace = commands.add_parser("trace", help="check trace files", description="Look at trace files.")
    kinds = trace.add_subparsers(title="commands", metavar="COMMAND", required=True)
    validate = kinds.add_parser(
        "validate",
        help="say whether files are good traces",
        description="Say whether each FILE is a good trace; the exit status is 2 if one is not.",
    )
    validate.add_argument("files", nargs="+", metavar="FILE")
    validate.set_defaults(run=run_validate)


def run_validate(options: argparse.Namespace) -> int:
    """One line a file: good ones on stdout, bad ones on stderr. Returns 0, or 2 if one was bad."""
    bad = False
    for path in options.files:
        try:
            trace = read_trace(path)
        except InputError as error:
            bad = True
            notice(str(error))
        else:
            count = len(trace.requests)
            print(printable(f"{path}: ok, {count} request{'' if count == 1 else 's'}, time in {trace.time_unit}"))
    return 2 if bad else 0
