"""A pytest plugin: writes what was collected, what ran and how it ended as JSON to the file that COLLECTED names.

Used by both sides: CPython says which tests there are, Pyodide says which of them ran.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

ended: dict[str, str] = {}
reasons: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Notes each test, and the reason of its mark `cpython_only` if it has one."""
    for item in items:
        mark = item.get_closest_marker("cpython_only")
        reasons[item.nodeid] = str(mark.args[0]) if mark else ""


def pytest_runtest_logstart(nodeid: str) -> None:
    """Leaves the test's name behind, for the case that it takes the interpreter with it."""
    Path(f"{os.environ['COLLECTED']}.running").write_text(nodeid, encoding="utf-8")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes how each test ended: the first phase that did not pass counts."""
    if ended.get(report.nodeid, "passed") == "passed":
        ended[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    """Writes the notes."""
    Path(os.environ["COLLECTED"]).write_text(json.dumps({"reasons": reasons, "ended": ended}), encoding="utf-8")
