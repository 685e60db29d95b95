"""The snapshot of Python's memory: what comes out of it is what a start would have made, and damage is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="module")
def seen(run_node: Callable[..., Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "America/New_York")  # the snapshot was made somewhere else, and in another year
        return run_node("snapshot.mjs")


def test_a_single_changed_bit_or_a_missing_end_is_seen(seen: Any) -> None:
    assert set(seen["damaged"]) == {"Damaged"}
    assert seen["swapped"] == ["Damaged"] * 3, "parts in another order, one missing, none"
    assert seen["whole"] == "as good"


def test_it_holds_the_packages_and_nothing_of_ours(seen: Any) -> None:
    before = seen["restored"]["before"]
    assert {"panel.io.pyodide", "bokeh.plotting", "json"} <= set(before)
    assert not {name.split(".")[0] for name in before} & {"app", "lab", "traces", "checks"}


def test_the_app_that_starts_from_it_is_the_same_to_the_last_byte(seen: Any) -> None:
    made = seen["plain"]["made"]
    assert len(made) > 100_000 and "chart-continuous" in made
    assert seen["restored"]["made"] == made


@pytest.mark.parametrize(
    "what",
    ["environ", "path", "argv", "cwd", "executable", "encoding", "locale", "recursion", "finders", "zone", "year"],
)
def test_the_interpreter_is_told_of_this_machine(seen: Any, what: str) -> None:
    assert seen["restored"][what] == seen["plain"][what]
    if what == "zone":
        assert seen["restored"][what] == [5 * 3600, 4 * 3600, 1, ["EST", "EDT"]]


def test_chance_is_no_memory(seen: Any) -> None:
    chances = [seen["restored"]["chance"], seen["again"], seen["plain"]["chance"]]
    assert len({str(number) for chance in chances for number in chance}) == 6


def test_no_module_is_missing_afterwards(seen: Any) -> None:
    assert set(seen["plain"]["modules"]) <= set(seen["restored"]["modules"])
