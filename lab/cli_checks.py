"""`serving-lab checks`: for those who write exercises."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from lab.cli_grade import jobs_from, seconds_from
from lab.errors import InputError, printable
from lab.terminal import notice

PROGRAM = "serving-lab checks"
DONE, FOUND_SOMETHING, OUR_FAULT = 0, 1, 3


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    checks = commands.add_parser(
        "checks", help="make and check exercises", description="Make exercises, and look at them and their checks."
    )
    kinds = checks.add_subparsers(title="commands", metavar="COMMAND", required=True)
    new = kinds.add_parser(
        "new",
        help="make the folder of an exercise",
        description="Make a folder named ID with an exercise that is whole and valid, to be changed file by file; its "
        "README.md says what each file is for.",
    )
    new.add_argument("id", metavar="ID", help="small letters, digits and _; also what the function is called at first")
    new.add_argument("--in", dest="parent", default=".", metavar="FOLDER", help="where to make it (default: here)")
    new.set_defaults(run=run_new)
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
    validate.add_argument("--quick", action="store_true", help="without the small changes: what a build asks for")
    validate.add_argument("--json", action="store_true", help="print what was found as JSON")
    validate.set_defaults(run=run_validate)


def run_new(options: argparse.Namespace) -> int:
    """Make an exercise; returns the exit status."""
    from lab.staff.new_exercise import new_exercise

    try:
        folder = new_exercise(options.id, Path(options.parent))
    except InputError as error:
        raise error.at(source=f"{PROGRAM} new") from None
    print(printable(f"{folder} is an exercise; its README.md says what each file is for"))
    return DONE


def run_validate(options: argparse.Namespace) -> int:
    """Do the command; returns the exit status."""
    program = f"{PROGRAM} validate"
    if os.name != "posix":
        raise InputError("needs Linux or macOS, which can shut solutions off; use a container", source=program)
    from lab.staff.isolation import Kept, NoIsolation, prepared
    from lab.staff.plan import Limits
    from lab.staff.validate import Found, folders, validate

    found_folders = folders(options.folder)
    jobs = options.jobs
    looked_at: list[Found] = []
    try:
        with prepared(Limits(options.timeout), jobs, Kept(), say=notice) as plan:
            for folder in found_folders:
                found = validate(folder, plan, jobs, quick=options.quick)
                looked_at.append(found)
                if not options.json:
                    _tell(found)
    except NoIsolation as error:
        notice(f"{program}: no solution can be run here: {error}")
        return OUR_FAULT
    if options.json:
        rows = [{"exercise": one.exercise, "problems": list(one.problems), "text": one.text} for one in looked_at]
        print(json.dumps({"schema_version": 1, "exercises": rows}, indent=2, ensure_ascii=False))
    return FOUND_SOMETHING if any(found.problems for found in looked_at) else DONE


def _tell(found: Any) -> None:
    for problem in found.problems:
        notice(problem)
    count = len(found.problems)
    told = "ok" if not count else f"{count} problem{'' if count == 1 else 's'}"
    print(printable(f"{found.exercise}: {told}; {found.text}"))
