"""`serving-lab replay`: replay a trace and print or save what came of it."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lab import cli_cuda, cli_options, option_notices
from lab.cli_options import whole as _whole
from lab.core import why
from lab.errors import InputError
from lab.figures import CLOSED_FORM, uncovered
from lab.files import Writable, whole_file
from lab.formats.events import EventLog
from lab.formats.perfetto import PerfettoTrace
from lab.formats.trace_json import in_iterations, read_trace, trace_sha256
from lab.options import Options
from lab.policies import POLICIES, policy_named
from lab.records import Idle, Iteration
from lab.replay import Replay, Watch, run
from lab.table import render_table
from lab.terminal import ReplayProgress, notice
from lab.workload import Limits, Trace

PROGRAM = "serving-lab replay"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `commands`."""
    parser = commands.add_parser(
        "replay",
        help="replay a trace under batching policies",
        usage="%(prog)s [options] TRACE",
        description="Replay TRACE under each policy and print the figures. Limits and options default to the trace's "
        "own; none, or --no-..., takes away what the trace has. What each option does exactly: lab/RULES.md.",
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
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("--events", metavar="FILE", help="write every iteration as JSON Lines (- is stdout)")
    parser.add_argument("--perfetto", metavar="FILE", help="write a Chrome trace for ui.perfetto.dev (- is stdout)")
    cli_options.add_to(parser)
    cli_cuda.add_replay_options(parser)
    parser.set_defaults(run=run_replay)


NO_BUDGET = 0  # what "none" is read as: argparse keeps None for an option that is not there


def _whole_or_none(text: str) -> int | None:
    if text == "none":
        return NO_BUDGET
    budget = _whole(text)
    if budget < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {budget}; write 1 or more, or none")
    return budget


def run_replay(arguments: argparse.Namespace) -> int:
    """Do the command; returns the exit status. Raises InputError for anything wrong with what was asked."""
    policies = _policies(arguments.policy)
    _check_outputs(arguments)
    if arguments.backend != "cuda":
        cli_cuda.without_backend(arguments)
    read = read_trace(arguments.trace)
    limits, options = _limits_and_options(read, arguments)
    trace = _timed(read, options, arguments.trace)
    _say_what_has_no_effect(read, options, limits, policies, arguments)
    if arguments.backend == "cuda":
        replayed = replace(trace, limits=limits, options=options)
        return cli_cuda.replay_on_cuda(replayed, policies, arguments, trace_sha256(read))
    with contextlib.ExitStack() as outputs:
        watchers: list[Watch] = []
        if arguments.events is not None:
            watchers.append(EventLog(_opened(arguments.events, outputs)))
        perfetto = None
        if arguments.perfetto is not None:
            perfetto = PerfettoTrace(policies, options)
            watchers.append(perfetto)
            perfetto_out = _opened(arguments.perfetto, outputs)

        def watch(policy: str, record: Iteration | Idle) -> None:
            for watcher in watchers:
                watcher(policy, record)

        try:
            replay = run(
                replace(trace, limits=limits, options=options),
                policies=policies,
                keep_records=False,
                watch=watch if watchers else None,
                reached=_progress(outputs),
                sha256=partial(trace_sha256, read),
            )
        except InputError as error:
            raise error.at(source=arguments.trace) if error.place else error from None
        if perfetto is not None:
            perfetto.write(perfetto_out, trace, replay.sha256)
    _print(replay, arguments)
    if sys.stdout is not None:
        sys.stdout.flush()  # what cannot be printed is all that is said
    notice(f"serving-lab: {why()}; {_way(replay)}")
    return 0


def _way(replay: Replay) -> str:
    """How the figures were made, in words."""
    reasons = [outcome.way.removeprefix("loop: ") for outcome in replay.policies.values() if outcome.way != CLOSED_FORM]
    if not reasons:
        return "quiet spans in closed form"
    return f"iteration by iteration, since {uncovered(replay.options, replay.trace.time_unit) or reasons[0]}"


def _progress(outputs: contextlib.ExitStack) -> ReplayProgress | None:
    """The progress of a replay that may take long, on a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    progress = ReplayProgress(sys.stderr)
    outputs.callback(progress.clear)
    return progress


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


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Two outputs must not go to one place, and none may replace the trace."""
    files = {"--events": arguments.events, "--perfetto": arguments.perfetto}
    given = {flag: path for flag, path in files.items() if path is not None}
    to_stdout = [flag for flag, path in given.items() if path == "-"] + (["--json"] if arguments.json else [])
    if len(to_stdout) > 1:
        raise InputError(f"{' and '.join(to_stdout)} cannot both go to stdout; give one a file", source=PROGRAM)
    real = {flag: os.path.realpath(path) for flag, path in given.items() if path != "-"}
    if len(set(real.values())) < len(real):
        raise InputError("--events and --perfetto name the same file; name two", source=PROGRAM)
    for flag, path in real.items():
        if path == os.path.realpath(arguments.trace):
            raise InputError("is the trace itself; choose another file", field=flag, source=PROGRAM)


def _limits_and_options(trace: Trace, arguments: argparse.Namespace) -> tuple[Limits, Options]:
    """The trace's own limits and options with those of the command line in their place."""
    changes = {
        name: value
        for name in ("max_num_seqs", "num_pages", "page_size", "max_num_batched_tokens", "chunked_prefill")
        if (value := getattr(arguments, name)) is not None
    }
    if changes.get("max_num_batched_tokens") == NO_BUDGET:
        changes["max_num_batched_tokens"] = None
    try:
        limits = replace(trace.limits, **changes)
    except InputError as error:
        flag = "--" + (error.field or "").replace("_", "-")
        raise InputError(error.problem, field=flag, source=PROGRAM) from None
    try:
        options = cli_options.options_for(trace.options, arguments, limits)
        if arguments.pool_gb is not None:
            limits = _with_pool(limits, options, arguments)
    except InputError as error:
        raise error.at(source=PROGRAM) from None
    return limits, options


def _with_pool(limits: Limits, options: Options, arguments: argparse.Namespace) -> Limits:
    if arguments.num_pages is not None:
        raise InputError("says how many pages there are, and so does --num-pages; leave one out", field="--pool-gb")
    pages = cli_options.pages_for_pool(arguments.pool_gb, limits.page_size, options.kv_bytes)
    notice(
        f"{PROGRAM}: --pool-gb {arguments.pool_gb} holds {pages} pages: "
        f"{limits.page_size} tokens a page, {options.kv_bytes} bytes a token"
    )
    return replace(limits, num_pages=pages)


def _timed(trace: Trace, options: Options, path: str) -> Trace:
    """`trace` as the replay needs it: its times in iterations, unless there is a model of time."""
    if trace.time_unit == "iteration" or options.step_time is not None:
        return trace
    try:
        converted = in_iterations(trace, options.iteration_ms)
    except InputError as error:
        raise error.at(source=path) from None
    notice(f"{path}: arrivals in {trace.time_unit} brought to iterations of {options.iteration_ms} ms, rounded up")
    return converted


def _say_what_has_no_effect(
    trace: Trace, options: Options, limits: Limits, policies: Sequence[str], arguments: argparse.Namespace
) -> None:
    named = cli_options.given(arguments)
    for sentence in (
        option_notices.replaced(trace.options, options),
        option_notices.unused_fields(trace, options),
        option_notices.without_effect(options, named, trace, limits, policies),
    ):
        if sentence is not None:
            notice(f"{arguments.trace}: {sentence}")


def _opened(path: str, outputs: contextlib.ExitStack) -> Writable:
    return sys.stdout if path == "-" else outputs.enter_context(whole_file(path))


def _print(replay: Replay, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(replay.to_json(), end="")
    elif "-" not in (arguments.events, arguments.perfetto):
        print(render_table(replay), end="")
