"""`make bench-site`, or `python -m app.bench`: how fast the site starts, beside the same app made plainly."""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.bench import machine, table
from app.bench.guard import Guard
from app.bench.guard_proof import proven
from app.bench.line import FULL_SPEED, THROTTLED
from app.bench.made import application
from app.bench.plain import OTHERWISE
from app.bench.runs import expected, measured
from app.bench.servers import Servers
from app.bench.visit import Bench, Side
from app.build.errors import BuildError
from app.build.paths import cache_folder
from app.build.say import say
from app.build.store import Store
from app.setup.browser import chromium

NAMES = {
    "site": "our site",
    "plain": "plain panel convert",
    "plain-lite": "the same, light wheels",
    "bare": "bare runtime",
}
USUAL = ("site", "plain", "bare")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="make bench-site", description=__doc__)
    parser.add_argument("--runs", type=_runs, default=5, metavar="N", help="visits of each kind (default: 5)")
    parser.add_argument(
        "--only", default=",".join(USUAL), type=_sides, metavar="NAMES", help=f"some of {', '.join(NAMES)}"
    )
    parser.add_argument("--no-throttled", action="store_true", help="measure at full speed alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all records and the machine there too")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Measures and prints; returns the exit status (0 done, 1 some visit failed, 2 cannot be done as asked)."""
    args = arguments(given)
    logging.getLogger("tornado").setLevel(logging.CRITICAL)
    path = chromium()
    try:
        if path is None:
            raise BuildError("no Chromium found: install one, or name it in the environment variable CHROMIUM")
        try:
            from playwright.sync_api import sync_playwright
        except ImportError:
            raise BuildError(
                "Playwright is not installed: make bench-site installs it, or pip install '.[test]'"
            ) from None
        if args.json is not None:
            _may_write(args.json)
        store = Store(cache_folder())
        with (
            Servers({name: application(name, store) for name in args.only}) as servers,
            sync_playwright() as playwright,
        ):
            return _measure(args, Bench(playwright, path, servers))
    except BuildError as problem:
        print(f"bench-site: {problem}", file=sys.stderr)
        return problem.status


def _measure(args: argparse.Namespace, bench: Bench) -> int:
    sides = [Side(name, name.split("-")[0]) for name in args.only]
    networks = [FULL_SPEED] if args.no_throttled else [FULL_SPEED, THROTTLED]
    minutes = expected(sides, networks, args.runs) / 60
    say(f"{args.runs} runs of {', '.join(args.only)}: about {minutes:.0f} minutes; Ctrl-C prints what there is by then")
    version = proven(bench)
    loads, records = [machine.load()], list[dict[str, Any]]()
    stopped = threading.Event()
    # Ctrl-C reaches the browser as well: the visit under way then ends with an error, which is not one of the site's.
    before = signal.signal(signal.SIGINT, lambda *_: stopped.set())
    for record in measured(bench, sides, networks, args.runs):
        if stopped.is_set():
            say("stopped")
            break
        records.append(record)
    signal.signal(signal.SIGINT, before)
    loads.append(machine.load())
    facts = machine.machine(version)
    known = [one for one in loads if one is not None]
    guard = bench.servers.guard
    if args.json is not None:
        document = {"machine": facts, "load": known, "asked_elsewhere": guard.of_pages(), "records": records}
        args.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print("\n".join([*machine.words(facts, known), ""]))
    print(table.tables(records, {name: NAMES[name] for name in args.only}))
    print(
        "\n".join(
            [
                "",
                *_notes(args.only, guard, records),
                *table.troubles(records),
                "",
                *table.aims(records, FULL_SPEED.name),
            ]
        )
    )
    return 1 if any("failed" in record for record in records) else 0


def _may_write(path: Path) -> None:
    """Raises BuildError now, rather than after a quarter of an hour."""
    try:
        path.open("a", encoding="utf-8").close()
    except OSError as problem:
        raise BuildError(f"--json {path} cannot be written: {problem.strerror}.") from None


def _notes(only: Sequence[str], guard: Guard, records: Sequence[Mapping[str, Any]]) -> list[str]:
    """What has to be known to read the tables."""
    lines = ["Median (least–most). Cold: a fresh profile. Warm: the browser started again with that profile."]
    if "site" in only:
        lines.append("Ours warm: its service worker has the site. Learner worker: asked for as soon as Python answers.")
    if any(name.startswith("plain") for name in only):
        lines += [
            "Plain is scrubbable when Python is. It differs from what `panel convert` makes by itself:",
            *OTHERWISE,
        ]
    if "plain-lite" in only:
        lines.append("Light wheels: Panel and Bokeh without the page's scripts, like those on Panel's own server.")
    for network in dict.fromkeys(record["network"] for record in records):
        fastest = max((r["fastest"] for r in records if r["network"] == network and "fastest" in r), default=0)
        lines.append(f"{network}: at most {fastest / 1e6:.1f} MB went over the wire within a second.")
    asked, own = guard.of_pages(), len(guard.heard) - len(guard.of_pages())
    went = f"{len(asked)} ({', '.join(sorted(set(asked)))})" if asked else "none"
    lines.append(f"Requests to anybody but this machine: {went}; {own} of the browser's own were refused.")
    return lines


def _runs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not a number of runs (1 to 100)")
    return int(text)


def _sides(text: str) -> list[str]:
    asked = [name.strip() for name in text.split(",")]
    for name in asked:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(NAMES)}")
    return [name for name in NAMES if name in asked]
