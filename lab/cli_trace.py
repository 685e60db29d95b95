"""`serving-lab trace`: check trace files, say what they are like, generate new ones."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
from typing import Any

from lab import cli_trace_generate, cli_trace_scenario
from lab.errors import InputError, printable
from lab.files import write_text
from lab.formats.json_text import read_bytes
from lab.formats.trace_faults import trace_faults
from lab.formats.trace_json import parse_trace
from lab.terminal import notice
from lab.trace_stats import trace_stats
from lab.trace_summary import render_stats
from lab.workload import Trace

PROGRAM = "serving-lab trace stats"
SCHEMA_VERSION = 1

MOST_MB = 256
"""The largest trace file that is read unless more is allowed, in MB of 2**20 bytes."""


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    trace = commands.add_parser(
        "trace", help="check, describe and generate trace files", description="Look at trace files, and make some."
    )
    kinds = trace.add_subparsers(title="commands", metavar="COMMAND", required=True)
    validate = kinds.add_parser(
        "validate",
        help="say whether files are good traces",
        description="Say whether each FILE is a good trace, or all that is wrong with it. The exit status is 2 if one "
        "is not.",
    )
    _add_files(validate)
    validate.set_defaults(run=run_validate)
    stats = kinds.add_parser(
        "stats",
        help="print and draw arrivals and lengths",
        description="Print what each FILE is like: arrivals, lengths, percentiles. With --html, draw it as well.",
    )
    _add_files(stats)
    stats.add_argument(
        "--html", metavar="OUT", help="draw all of it in one HTML file, which needs no network (- is stdout)"
    )
    stats.add_argument("--json", action="store_true", help="print one JSON object instead of the text")
    stats.set_defaults(run=run_stats)
    cli_trace_generate.add_to(kinds)
    cli_trace_scenario.add_to(kinds)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace file (JSON)")
    parser.add_argument(
        "--max-mb",
        metavar="N",
        type=_megabytes,
        default=MOST_MB,
        help="refuse files of more than so many MB of 1048576 bytes (default: %(default)s)",
    )


def _megabytes(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}; write {MOST_MB}")
    return int(text)


def _read(options: argparse.Namespace) -> list[tuple[str, Trace]]:
    """(path, trace) of every good file; on stderr all that is wrong with each other one, a line each."""
    read = []
    for path in options.files:
        try:
            data = read_bytes(path, options.max_mb * 2**20)
        except InputError as error:
            notice(str(error))
            continue
        try:
            read.append((path, parse_trace(data, path)))
        except InputError:
            for fault in trace_faults(data, path):
                notice(str(fault))
    return read


def run_validate(options: argparse.Namespace) -> int:
    """One line a good file on stdout, one line an error on stderr. Returns 0, or 2 if a file was bad."""
    read = _read(options)
    for path, trace in read:
        count = len(trace.requests)
        print(printable(f"{path}: ok, {count} request{'' if count == 1 else 's'}, time in {trace.time_unit}"))
    return 0 if len(read) == len(options.files) else 2


def run_stats(options: argparse.Namespace) -> int:
    """Print, and draw if asked to. Returns 0, or 2 if a file was bad; nothing is drawn then."""
    if options.html is not None:
        _check_html(options)
    read = _read(options)
    described = [(trace, trace_stats(trace)) for _, trace in read]
    if options.json:
        said = {"schema_version": SCHEMA_VERSION, "traces": [stats for _, stats in described]}
        print(json.dumps(said, indent=2, ensure_ascii=False, allow_nan=False))
    elif options.html != "-":  # else stdout is for the page
        print("\n".join(render_stats(stats) for _, stats in described), end="")
    if len(read) < len(options.files):
        return 2
    if options.html is not None:
        write_text(options.html, _stats_page(described))
    return 0


def _check_html(options: argparse.Namespace) -> None:
    if options.html == "-" and options.json:
        raise InputError("--html and --json cannot both go to stdout; give --html a file", source=PROGRAM)
    for path in options.files:
        if os.path.realpath(options.html) == os.path.realpath(path):
            raise InputError("is one of the traces; choose another file", field="--html", source=PROGRAM)


def _stats_page(described: list[tuple[Trace, dict[str, Any]]]) -> str:
    """Drawn by the app, which may need more than is installed beside the lab."""
    try:
        page = importlib.import_module("app.stats.page")
    except ModuleNotFoundError as error:
        raise InputError(
            f"needs {error.name}, which is not installed; install serving-lab with its dependencies",
            field="--html",
            source=PROGRAM,
        ) from None
    drawn: str = page.stats_page(described)
    return drawn
