"""The console script `serving-lab`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from lab import __version__, cli_checks, cli_grade, cli_replay, cli_trace, core
from lab.errors import InputError
from lab.terminal import notice

DONE, BAD_INPUT, OUR_FAULT = 0, 2, 3
INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13  # as a shell reports SIGINT and SIGPIPE

APP_COMMANDS = {"build": "make the site, static files, in a folder", "serve": "serve the site and open it"}


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line on stderr, and which takes no abbreviations."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        notice(f"{self.prog}: {message}; see {self.prog} --help")
        raise SystemExit(BAD_INPUT)


class Version(argparse.Action):
    """Prints the version and the core on one line, however long, and only looks at the core when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(f"serving-lab {__version__}, {core.why()}")
        raise SystemExit(DONE)


def build_parser(app_command: str | None = None) -> OneLineParser:
    """The parser of every command. `app_command`, build or serve, is imported; the other is only listed."""
    parser = OneLineParser(
        prog="serving-lab", description="How an LLM serving engine batches, schedules and pages KV memory."
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version, and which core runs, and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    cli_replay.add_to(commands)
    cli_trace.add_to(commands)
    cli_grade.add_to(commands)
    cli_checks.add_to(commands)
    for name, summary in APP_COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == app_command:
            module = _import_app(name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _import_app(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"app.{name}.command")
    except ModuleNotFoundError as error:
        raise InputError(
            f"needs {error.name}, which is not installed; install serving-lab with its dependencies",
            source=f"serving-lab {name}",
        ) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 2 wrong input or call, 3 a fault of ours.

    130 after Ctrl-C, and 141 when whoever read stdout has closed it.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 whatever the locale says.
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except InputError as error:
        notice(str(error.at(source="serving-lab")))
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except MemoryError:
        notice("serving-lab: not enough memory for this; use fewer pages, tokens or requests")
        return BAD_INPUT
    except OSError as error:
        _forget_stdout()
        where = f"{error.filename}: " if error.filename else ""
        notice(f"serving-lab: {where}the system refused ({error.strerror or error}); try another place")
        return BAD_INPUT
    except Exception:
        traceback.print_exc()
        notice("serving-lab: this is a fault of the lab, not of your input; please report it with the lines above")
        return OUR_FAULT


def _run(arguments: list[str]) -> int:
    command = next((word for word in arguments if not word.startswith("-")), None)
    try:
        parser = build_parser(command if command in APP_COMMANDS else None)
        options = parser.parse_args(arguments)
    except SystemExit as done:  # argparse leaves this way after --help, --version and errors
        return done.code if isinstance(done.code, int) else DONE
    if command not in APP_COMMANDS:  # these care about the page's core
        try:
            core.check()
        except ValueError as problem:
            raise InputError(str(problem)) from None
    status: int = options.run(options)
    return status


def _forget_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    raise SystemExit(main())
