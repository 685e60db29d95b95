"""`serving-lab checks validate`: for those who write exercises."""

from __future__ import annotations

import argparse
import os
from typing import Any

from lab.cli_grade import jobs_from, seconds_from
from lab.errors import InputError, printable
from lab.terminal import notice

PROGRAM = "serving-lab checks validate"
DONE, FOUND_SOMETHING, OUR_FAULT = 0, 1, 3


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    checks = commands.add_parser("checks", help="check exercises", description="Look at exercises and their checks.")
    kinds = checks.add_subparsers(title="commands", metavar="COMMAND", required=True)
    validate = kinds.add_parser(
        "validate",
        help="say whether exercises are as they should be",
        description="References pass, known mistakes fail for their reason, points add up, names differ, and checks "
        "catch small changes to the reference. One line each problem; the exit status is then 1.",
    )
    validate.add_argument("folder", nargs="?", metavar="FOLDER", help="exercises (default: those of the lab)")
    validate.add_argument("--jobs", metavar="N", type=jobs_from, default=os.cpu_count() or 1, help="runs side by side")
    validate.add_argument(
        "--timeout", metavar="SECONDS", type=seconds_from, default=2.0, help="for one check (default: 2)"
    )
    validate.set_defaults(run=run_validate)


def run_validate(options: argparse.Namespace) -> int:
    """Do the command; returns the exit status."""
    if os.name != "posix":
        raise InputError("needs Linux or macOS, which can shut solutions off; use a container", source=PROGRAM)
    from lab.staff.isolation import Kept, NoIsolation, prepared
    from lab.staff.plan import Limits
    from lab.staff.validate import folders, validate

    found_folders = folders(options.folder)
    jobs = options.jobs
    found_something = False
    try:
        with prepared(Limits(options.timeout), jobs, Kept(), say=notice) as plan:
            for folder in found_folders:
                found = validate(folder, plan, jobs)
                for problem in found.problems:
                    notice(problem)
                found_something = found_something or bool(found.problems)
                count = len(found.problems)
                told = "ok" if not count else f"{count} problem{'' if count == 1 else 's'}"
                print(printable(f"{found.exercise}: {told}; {found.text}"))
    except NoIsolation as error:
        notice(f"{PROGRAM}: no solution can be run here: {error}")
        return OUR_FAULT
    return FOUND_SOMETHING if found_something else DONE
