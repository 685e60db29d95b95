"""`serving-lab grade`: grade what students handed in."""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING, Any

from lab.errors import InputError, printable
from lab.terminal import notice
from lab.values import shown

if TYPE_CHECKING:
    from lab.staff.session import Options

PROGRAM = "serving-lab grade"
DONE, NOT_PASSED, OUR_FAULT = 0, 1, 3
FORMATS = ("json", "gradescope", "csv", "junit")
LEAST_MEMORY = 64


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    parser = commands.add_parser(
        "grade",
        help="grade what students handed in",
        description="Grade PATHs: files, folders (a folder a student), exports of the lab, zips. Each solution runs "
        "shut off, within limits. The same command again grades only what has changed.",
        epilog="Exit status: 0 all passed; 1 a solution did not; 2 wrong call or input; 3 a fault of the grader.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="what was handed in")
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write to")
    parser.add_argument("--exercise", metavar="ID", help="the exercise of all files (default: names and code tell)")
    parser.add_argument("--student", metavar="NAME", help="whose everything is (default: folder and file names tell)")
    parser.add_argument("--jobs", metavar="N", type=jobs_from, help="solutions run side by side (default: the cores)")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=seconds_from, default=5.0, help="for one check (default: %(default)g)"
    )
    parser.add_argument(
        "--memory", metavar="MIB", type=_memory, default=512, help="for one solution, in MiB (default: %(default)s)"
    )
    parser.add_argument(
        "--format",
        metavar="NAMES",
        default="json,csv",
        help=f"of {','.join(FORMATS)}, with commas between them (default: %(default)s); results, feedback and "
        "the report are always written",
    )
    parser.add_argument("--checks", metavar="FOLDER", help="the exercises of the course (default: those of the lab)")
    parser.add_argument("--hidden", metavar="FOLDER", help="extra checks, <exercise>.json, that students never see")
    parser.add_argument("--roster", metavar="CSV", help="the course's students; who handed in nothing gets zeros")
    parser.add_argument("--deadline", metavar="TIME", help="flag what was saved after it: 2026-01-31T23:59:59+01:00")
    parser.add_argument("--compare", metavar="OLD", help="the --out of an earlier run: say what changed, for whom")
    parser.add_argument("--force", action="store_true", help="grade everything again")
    parser.add_argument(
        "--without", metavar="LAYERS", default="", help="leave layers of isolation off, where they make trouble"
    )
    parser.set_defaults(run=run_grade)


def jobs_from(text: str) -> int:
    """The argument of --jobs."""
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"must be from 1 to 256, not {shown(text)}; write the number of cores")
    return int(text)


def seconds_from(text: str) -> float:
    """The argument of --timeout."""
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text) or not 0.1 <= float(text) <= 3600:
        raise argparse.ArgumentTypeError(f"must be seconds from 0.1 to 3600, not {shown(text)}; write 5")
    return float(text)


def _memory(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"must be MiB, at least {LEAST_MEMORY}, not {shown(text)}; write 512")
    return int(text)


def run_grade(options: argparse.Namespace) -> int:
    """Do the command; returns the exit status. Raises InputError for anything wrong with what was asked."""
    if os.name != "posix":
        raise InputError("needs Linux or macOS, which can shut solutions off; use a container", source=PROGRAM)
    # Imported here: no other command needs any of it, and not every system has it.
    from lab.staff import session, terminal
    from lab.staff.isolation import NoIsolation

    try:
        done = session.run(_options(options), notice)
    except InputError as error:
        raise error.at(source=PROGRAM) from None
    except NoIsolation as error:
        notice(f"{PROGRAM}: no solution can be run here: {error}; this is no fault of a solution")
        return OUR_FAULT
    except KeyboardInterrupt:
        notice(f"{PROGRAM}: interrupted; what is graded is kept, and the same command goes on from there")
        raise
    for line in terminal.summary(done.book, done.kept, options.out):
        print(printable(line))
    outcomes = {entry.result["outcome"] for _, entry in done.book.entries}
    if "grader_error" in outcomes:
        notice(f"{PROGRAM}: the grader failed on some solutions, which have no grade; run it again for these")
        return OUR_FAULT
    students = {student.key: bool(student.entries) for student in done.book.students}
    lost = [one for one in done.book.unplaced if one.student not in students]
    return DONE if outcomes <= {"passed"} and all(students.values()) and not lost else NOT_PASSED


def _options(options: argparse.Namespace) -> Options:
    from lab.staff import session
    from lab.staff.plan import Limits
    from lab.staff.roster import read_roster
    from lab.staff.saved import time_of

    formats = [name.strip() for name in options.format.split(",") if name.strip()]
    for name in formats:
        if name not in FORMATS:
            raise InputError(f"there is no format {shown(name)}; there are {', '.join(FORMATS)}", field="--format")
    if options.student is not None and not options.student.strip():
        raise InputError("must not be empty; write the student's name", field="--student")
    return session.Options(
        paths=options.paths,
        out=options.out,
        formats=formats,
        exercise=options.exercise,
        student=options.student,
        jobs=options.jobs or os.cpu_count() or 1,
        limits=Limits(options.timeout, options.memory),
        hidden=options.hidden,
        checks=options.checks,
        force=options.force,
        roster=read_roster(options.roster) if options.roster is not None else None,
        deadline=time_of(options.deadline, "--deadline") if options.deadline is not None else None,
        compare=options.compare,
        without=[name.strip() for name in options.without.split(",") if name.strip()],
    )
