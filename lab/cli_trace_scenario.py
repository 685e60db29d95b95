"""`serving-lab trace scenario`: the trace of a well-known question on serving engines."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from lab.errors import InputError
from lab.files import write_text
from lab.formats.trace_json import dump_trace
from lab.scenarios import SCENARIOS
from lab.values import check_choice

PROGRAM = "serving-lab trace scenario"


def add_to(kinds: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `kinds`."""
    parser = kinds.add_parser(
        "scenario",
        help="make the trace of a well-known question",
        description="Write the trace, with its options, whose replay answers a well-known question on serving "
        "engines. Without NAME, list them.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="of the scenario")
    parser.add_argument("--out", metavar="FILE", default="-", help="where to write it (default: stdout)")
    parser.set_defaults(run=run_scenario)


def run_scenario(arguments: argparse.Namespace) -> int:
    """Do the command; returns the exit status. Raises InputError for a name that is none."""
    if arguments.name is None:
        text = "\n\n".join(_told(name) for name in SCENARIOS) + "\n"
    else:
        try:
            build = SCENARIOS[check_choice(arguments.name, "NAME", SCENARIOS)]
        except InputError as error:
            raise error.at(source=PROGRAM) from None
        text = dump_trace(build())
    write_text(arguments.out, text)
    return 0


def _told(name: str) -> str:
    """The name, and below it what a replay shows."""
    said = inspect.getdoc(SCENARIOS[name]) or ""
    return "\n".join([name, *(f"  {line}".rstrip() for line in said.splitlines())])
