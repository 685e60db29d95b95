"""Measures the core in every Python that there is here, and prints the tables.

python -m app.bench.core_bench [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from app.bench.core_archive import lab_archive
from app.build import sources
from app.build.errors import BuildError
from app.build.fetch import runtime_files
from app.build.node import Runtime, node
from app.build.paths import cache_folder
from app.build.store import Store
from app.build.wasm_core import wasm_core
from lab.bench.aims import aims
from lab.bench.harness import Harness, Start
from lab.bench.lines import Process, Worker, WorkerError
from lab.bench.machine import load, machine
from lab.bench.plan import CHROMIUM_COMPILED, CHROMIUM_PURE, COMPILED, NODE_COMPILED, NODE_PURE, PURE, groups
from lab.bench.tables import render
from lab.core import ASKED

HERE = Path(__file__).resolve().parent
QUIET = 0.5
"""Load average above which times are not what they could be."""

MINUTES = {False: "about five minutes", True: "about a minute"}


def say(text: str) -> None:
    """One line on stderr."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 if everything there is was measured and every answer was right, else 1."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure the core in every Python that there is here.")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write what was measured to FILE")
    asked = parser.parse_args(arguments)
    os.environ.pop(ASKED, None)  # each worker is told which core is its own
    if asked.json is not None:
        try:
            asked.json.open("a", encoding="utf-8").close()  # not only after five minutes
        except OSError as error:
            parser.error(f"--json {asked.json}: {error.strerror}; name a file that can be written")
    say(f"this takes {MINUTES[asked.quick]}, on a machine that does nothing else")
    if os.getloadavg()[0] > QUIET:
        say(f"it does something else now (load average {load()}): expect times that are too long, by different amounts")
    try:
        return _measure(asked.quick, asked.json)
    except KeyboardInterrupt:
        say("stopped")
        return 130


def _measure(quick: bool, out: Path | None) -> int:
    began = time.monotonic()
    on = machine()
    with ExitStack() as stack:
        starts, versions = _starts(stack)
        harness = Harness(starts, say)
        stack.callback(harness.close)
        harness.start()
        _check_cores(harness)
        results = harness.measure(groups(quick))
    on |= versions | {name: _told(about) for name, about in harness.about.items()}
    on |= {"load average at the end": load(), "took": f"{time.monotonic() - began:.0f} s"}
    found = aims(results)
    print(render(results, found, on), end="")
    if out is not None:
        document: dict[str, Any] = {"schema_version": 1, "machine": on, "about": harness.about, "quick": quick}
        document["aims"] = [
            {"aim": aim.text, "value": aim.value, "bound": aim.bound, "met": aim.met, "where": aim.where}
            for aim in found
        ]
        document |= {"problems": results.problems, "differences": results.differences()}
        document["measured"] = results.to_list()
        out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 1 if results.problems or results.differences() else 0


def _starts(stack: ExitStack) -> tuple[dict[str, Start], dict[str, str]]:
    """What starts each worker that can be had here, and versions; what cannot is said, and left out."""
    starts: dict[str, Start] = {name: _here(name) for name in (PURE, COMPILED)}
    versions = {"Pyodide": sources.runtime().version}
    try:
        store = Store(cache_folder())
        runtime = stack.enter_context(Runtime(runtime_files(store)))
        archive = lab_archive(wasm_core(runtime, store))
    except BuildError as error:
        say(f"nothing is measured in Pyodide: {error}")
        return starts, {}
    for prepare in (_node_starts, _chromium_starts):
        try:
            more, version = prepare(stack, runtime, archive)
        except (BuildError, WorkerError) as error:
            say(f"left out: {error}")
            continue
        starts |= more
        versions |= version
    return starts, versions


def _environment(name: str) -> dict[str, str]:
    """The environment in which the worker `name` runs its core: the pure one only where its name says so."""
    rest = {key: value for key, value in os.environ.items() if key != ASKED}
    return {**rest, ASKED: "pure"} if name == PURE else rest


def _here(name: str) -> Start:
    return lambda: Process(name, [sys.executable, "-m", "lab.bench.worker"], _environment(name))


Made = tuple[dict[str, Start], dict[str, str]]


def _node_starts(stack: ExitStack, runtime: Runtime, archive: bytes) -> Made:
    program = node()
    node_version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="serving-lab-bench-"))) / "lab.zip"
    path.write_bytes(archive)

    def start(name: str) -> Start:
        command = [program, "--no-warnings", str(HERE / "core_node.mjs"), str(runtime.path), str(path), _core(name)]
        return lambda: Process(name, command, {**os.environ, "NODE_OPTIONS": ""})

    return {name: start(name) for name in (NODE_PURE, NODE_COMPILED)}, {"Node": node_version}


def _chromium_starts(stack: ExitStack, runtime: Runtime, archive: bytes) -> Made:
    try:
        from app.bench.core_chromium import Chromium
    except ImportError as error:
        raise WorkerError(f"nothing is measured in Chromium: {error}") from None
    browser = Chromium(runtime.files, archive)
    stack.callback(browser.close)

    def start(name: str) -> Callable[[], Worker]:
        return lambda: browser.worker(name, _core(name))

    return {name: start(name) for name in (CHROMIUM_PURE, CHROMIUM_COMPILED)}, {"Chromium": browser.version}


def _told(about: dict[str, Any]) -> str:
    """One line on a worker."""
    by = f" by Cython {about['cython']}" if about["cython"] else ""
    return f"{about['python']}, {about['compiler']}: {about['why']}{by}"


def _core(name: str) -> str:
    return name.split()[-1]


def _check_cores(harness: Harness) -> None:
    """Leave out workers that run another core than they were started for: none was compiled for them."""
    for name, about in list(harness.about.items()):
        if about["core"] != _core(name):
            say(f"{name} is left out: {about['why']}")
            harness.leave_out(name)


if __name__ == "__main__":
    sys.exit(main())
