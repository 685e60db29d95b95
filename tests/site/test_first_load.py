"""What a first load imports and fetches is kept in first_load.json, so that it cannot grow unnoticed.

Where a test here or in tests/browser/test_start.py fails, something was added to every start. Have it loaded when it is
first needed, or change the list and say why.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.build.site import Site

KEPT: dict[str, Any] = json.loads((Path(__file__).parent / "first_load.json").read_text(encoding="utf-8"))
OURS = {"app", "lab", "traces", "checks"}


def short(path: str) -> str:
    """`kind/name` for a path from the site's root, whatever the hash of its folder, and the versions of packages."""
    folder, _, rest = path.partition("/")
    return f"{folder.split('-')[0]}/{rest.rpartition('/')[2]}" if rest else path or "index.html"


@pytest.fixture(scope="module")
def imported(run_node: Callable[..., Any]) -> list[str]:
    """The modules after a start, before anybody has done anything."""
    names: list[str] = run_node("starts.mjs")["imported"]
    return names


def test_a_start_imports_of_ours_what_is_listed(imported: list[str]) -> None:
    assert [name for name in imported if name.split(".")[0] in OURS] == KEPT["ours"]


def test_a_start_imports_of_others_no_more_packages_and_modules(imported: list[str]) -> None:
    others = [name for name in imported if name.split(".")[0] not in OURS]
    packages = {name.split(".")[0] for name in others if "." in name}
    assert packages - set(KEPT["packages"]) == set()
    assert len(others) <= KEPT["most_modules_of_others"]


def test_what_is_listed_is_no_more_than_allowed_as_sent(site: Site) -> None:
    """Brotli as for one's own machine; what `serving-lab build` packs is a tenth smaller."""
    sent = {
        short(path): len(site.compressed.get(f"{path}.br", content))
        for path, content in site.files.items()
        if short(path) in KEPT["files"]
    }
    assert set(KEPT["files"]) == set(sent), "first_load.json lists files that the site does not have"
    assert sum(sent.values()) <= KEPT["most_bytes"], sorted(sent.items(), key=lambda item: -item[1])[:12]


def test_what_only_learner_code_or_a_start_without_snapshot_needs_is_no_part_of_it() -> None:
    later = {f"python/{name}.zip" for name in ("stdlib", "start", "rest")} | {"lab/learner.zip", "assets/learner.js"}
    assert not later & set(KEPT["files"])
