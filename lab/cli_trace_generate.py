"""`serving-lab trace generate`: a trace from a seed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from lab.errors import InputError
from lab.files import write_text
from lab.formats.trace_json import dump_trace
from lab.generate import generate
from lab.recipe import LIMITS, Recipe, pairs_from, recipe_from, spec_from
from lab.values import shown

PROGRAM = "serving-lab trace generate"

LENGTHS = "fixed:tokens=T, uniform:min=A,max=B or\nlognormal:median=M,sigma=S,min=A,max=B (A and B may be left out)"

DESCRIPTION = f"""\
Generate a trace. The same flags give the same bytes on every computer, and in the page.

ARRIVALS is at-once, steady:gap=G, poisson:gap=G or bursty:gap=G,size=N: the mean gap G is in iterations,
such as 2.5, and N requests come at once.
LENGTH is {LENGTHS}.
Lengths may come from a mix instead: --mix chat=70,rag=30."""


def add_to(kinds: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser's `kinds`."""
    parser = kinds.add_parser(
        "generate",
        help="make a trace from a seed",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole = {"metavar": "N", "type": _whole}
    parser.add_argument("--seed", required=True, help="an integer from 0 to 2**53 - 1", **whole)
    parser.add_argument("--requests", required=True, help="how many, from 1 to 100000", **whole)
    parser.add_argument("--arrivals", metavar="ARRIVALS", required=True, type=_pair(spec_from, "--arrivals"))
    for flag in ("--prompt-tokens", "--output-tokens"):
        parser.add_argument(flag, metavar="LENGTH", type=_pair(spec_from, flag))
    parser.add_argument("--mix", metavar="WEIGHTS", type=_pair(pairs_from, "--mix"), help="weights of chat and rag")
    parser.add_argument("--name", metavar="NAME", help="of the trace (default: generated)")
    for name in ("max_num_seqs", "num_pages", "page_size"):
        parser.add_argument(_flag(name), help=f"a limit of the trace (default: {getattr(LIMITS, name)})", **whole)
    parser.add_argument("--max-num-batched-tokens", help="a limit of the trace (default: none)", **whole)
    parser.add_argument("--chunked-prefill", action="store_true", default=None, help="a limit of the trace")
    parser.add_argument("--out", metavar="FILE", default="-", help="where to write it (default: stdout)")
    parser.set_defaults(run=run_generate)


def run_generate(options: argparse.Namespace) -> int:
    """Do the command; returns the exit status. Raises InputError naming the flag."""
    write_text(options.out, dump_trace(generate(_recipe(options))))
    return 0


def _recipe(options: argparse.Namespace) -> Recipe:
    given = ("seed", "requests", "arrivals", "prompt_tokens", "output_tokens", "mix", "name")
    plain = {name: value for name in given if (value := getattr(options, name)) is not None}
    limits = ("max_num_seqs", "num_pages", "page_size", "max_num_batched_tokens", "chunked_prefill")
    own = {name: value for name in limits if (value := getattr(options, name)) is not None}
    try:
        return recipe_from({**plain, "limits": {**_defaults(), **own}})
    except InputError as error:
        field, _, key = (error.field or "").removeprefix("limits.").partition(".")
        raise InputError(error.problem, field=_flag(field) + (f", {key}" if key else ""), source=PROGRAM) from None


def _defaults() -> dict[str, Any]:
    return {name: value for name, value in asdict(LIMITS).items() if name in ("max_num_seqs", "num_pages", "page_size")}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _whole(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,40}", text):
        raise argparse.ArgumentTypeError(f"must be an integer, not {shown(text)}; write a whole number")
    return int(text)  # whether it is in range is for the recipe to say


def _pair(read: Callable[[str, str], dict[str, Any]], flag: str) -> Callable[[str], dict[str, Any]]:
    """`read` as argparse wants it: of the text alone, with its own kind of error."""

    def from_text(text: str) -> dict[str, Any]:
        try:
            return read(text, flag)
        except InputError as error:
            raise argparse.ArgumentTypeError(error.problem) from None

    return from_text
