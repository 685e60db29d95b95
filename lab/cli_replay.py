"""`serving-lab replay`: replay a trace and print or save what came of it."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from dataclasses import replace
from typing import Any

from lab.errors import InputError
from lab.files import Writable, whole_file
from lab.formats.events import EventLog
from lab.formats.perfetto import PerfettoTrace
from lab.formats.trace_json import REQUEST_OPTIONAL, in_iterations, read_trace, trace_sha256
from lab.policies import POLICIES, policy_named
from lab.records import Idle, Iteration
from lab.replay import Replay, Watch, run
from lab.table import render_table
from lab.terminal import ReplayProgress, notice
from lab.values import shown
from lab.workload import Limits, Trace

PROGRAM = "serving-lab replay"
DEFAULT_ITERATION_MS = 20


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    parser = commands.add_parser(
        "replay",
        help="replay a trace under batching policies",
        description="Replay TRACE under each policy and print the figures. Limits default to the trace's own.",
    )
    parser.add_argument("trace", metavar="TRACE", help="a trace file (JSON)")
    parser.add_argument(
        "--policy",
        metavar="NAMES",
        default=",".join(POLICIES),
        help="policies, with commas between them (default: %(default)s)",
    )
    parser.add_argument("--max-num-seqs", metavar="N", type=_whole, help="seats")
    parser.add_argument("--num-pages", metavar="N", type=_whole, help="KV pages in the pool")
    parser.add_argument("--page-size", metavar="N", type=_whole, help="tokens a page")
    parser.add_argument(
        "--max-num-batched-tokens",
        metavar="N",
        type=_whole_or_none,
        help="tokens an iteration may compute under continuous batching, or none for no budget",
    )
    parser.add_argument(
        "--chunked-prefill",
        action=argparse.BooleanOptionalAction,
        help="prefill long prompts over several iterations",
    )
    parser.add_argument(
        "--iteration-ms",
        metavar="N",
        type=_milliseconds,
        help=f"for traces in ms or s: how long one iteration is taken to be (default: {DEFAULT_ITERATION_MS})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("--events", metavar="FILE", help="write every iteration as JSON Lines (- is stdout)")
    parser.add_argument("--perfetto", metavar="FILE", help="write a Chrome trace for ui.perfetto.dev (- is stdout)")
    parser.set_defaults(run=run_replay)


NO_BUDGET = 0  # what "none" is read as: argparse keeps None for an option that is not there


def _whole(text: str) -> int:
    if re.fullmatch(r"-?[0-9]{1,40}", text):
        return int(text)  # whether it is in range is for Limits to say
    whole = re.fullmatch(r"(-?[0-9]{1,40})\.0*", text)
    remedy = f"write {whole[1]}" if whole else "write a whole number"
    raise argparse.ArgumentTypeError(f"must be an integer, not {shown(text)}; {remedy}")


def _whole_or_none(text: str) -> int | None:
    if text == "none":
        return NO_BUDGET
    budget = _whole(text)
    if budget < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {budget}; write 1 or more, or none")
    return budget


def _milliseconds(text: str) -> int | float:
    if re.fullmatch(r"[0-9]{1,15}", text):
        value: int | float = int(text)
    elif re.fullmatch(r"[0-9]{1,15}\.[0-9]{1,15}", text):
        value = float(text)
    else:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {shown(text)}; write 20 or 12.5")
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}; write 20 or 12.5")
    return value


def run_replay(options: argparse.Namespace) -> int:
    """Do the command; returns the exit status. Raises InputError for anything wrong with what was asked."""
    policies = _policies(options.policy)
    _check_outputs(options)
    read = read_trace(options.trace)
    trace, limits = _in_iterations(read, options), _limits(read.limits, options)
    _say_what_is_ignored(read, options.trace)
    with contextlib.ExitStack() as outputs:
        watchers: list[Watch] = []
        progress = ReplayProgress(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
        if progress is not None:
            outputs.callback(progress.clear)
            watchers.append(progress)
        if options.events is not None:
            watchers.append(EventLog(_opened(options.events, outputs)))
        perfetto = None
        if options.perfetto is not None:
            perfetto = PerfettoTrace(policies)
            watchers.append(perfetto)
            perfetto_out = _opened(options.perfetto, outputs)

        def watch(policy: str, record: Iteration | Idle) -> None:
            for watcher in watchers:
                watcher(policy, record)

        replay = run(
            trace,
            limits,
            policies,
            keep_records=False,
            watch=watch if watchers else None,
            sha256=trace_sha256(read),
        )
        if perfetto is not None:
            perfetto.write(perfetto_out, trace, replay.sha256)
    _print(replay, options)
    return 0


def _policies(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    try:
        for name in names:
            policy_named(name)
        if len(set(names)) != len(names):
            raise InputError("names a policy twice; name each once")
    except InputError as error:
        raise InputError(error.problem, field="--policy", source=PROGRAM) from None
    return names


def _check_outputs(options: argparse.Namespace) -> None:
    """Two outputs must not go to one place, and none may replace the trace."""
    files = {"--events": options.events, "--perfetto": options.perfetto}
    given = {flag: path for flag, path in files.items() if path is not None}
    to_stdout = [flag for flag, path in given.items() if path == "-"] + (["--json"] if options.json else [])
    if len(to_stdout) > 1:
        raise InputError(f"{' and '.join(to_stdout)} cannot both go to stdout; give one a file", source=PROGRAM)
    real = {flag: os.path.realpath(path) for flag, path in given.items() if path != "-"}
    if len(set(real.values())) < len(real):
        raise InputError("--events and --perfetto name the same file; name two", source=PROGRAM)
    for flag, path in real.items():
        if path == os.path.realpath(options.trace):
            raise InputError("is the trace itself; choose another file", field=flag, source=PROGRAM)


def _limits(own: Limits, options: argparse.Namespace) -> Limits:
    """The trace's own limits with those of the command line in their place."""
    changes = {
        name: value
        for name in ("max_num_seqs", "num_pages", "page_size", "max_num_batched_tokens", "chunked_prefill")
        if (value := getattr(options, name)) is not None
    }
    if changes.get("max_num_batched_tokens") == NO_BUDGET:
        changes["max_num_batched_tokens"] = None
    try:
        return replace(own, **changes)
    except InputError as error:
        flag = "--" + (error.field or "").replace("_", "-")
        raise InputError(error.problem, field=flag, source=PROGRAM) from None


def _in_iterations(trace: Trace, options: argparse.Namespace) -> Trace:
    if trace.time_unit == "iteration":
        if options.iteration_ms is not None:
            notice(f"{options.trace}: is in iterations already, so --iteration-ms changes nothing")
        return trace
    iteration_ms = DEFAULT_ITERATION_MS if options.iteration_ms is None else options.iteration_ms
    try:
        converted = in_iterations(trace, iteration_ms)
    except InputError as error:
        raise error.at(source=options.trace) from None
    notice(f"{options.trace}: arrivals in {trace.time_unit} brought to iterations of {iteration_ms} ms, rounded up")
    return converted


def _say_what_is_ignored(trace: Trace, path: str) -> None:
    fields = [
        field for field in REQUEST_OPTIONAL if any(getattr(request, field) is not None for request in trace.requests)
    ]
    if fields:
        notice(f"{path}: this engine does not use {', '.join(fields)}; replayed without")


def _opened(path: str, outputs: contextlib.ExitStack) -> Writable:
    return sys.stdout if path == "-" else outputs.enter_context(whole_file(path))


def _print(replay: Replay, options: argparse.Namespace) -> None:
    if options.json:
        print(replay.to_json(), end="")
    elif "-" not in (options.events, options.perfetto):
        print(render_table(replay), end="")
