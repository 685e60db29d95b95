"""The site's Python, started under Node from the archives that browsers get."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.build.archive import unzip_bytes
from app.build.python_folder import INDEX
from app.build.site import Site

NOT_SHIPPED = {"numpy", "pandas", "PIL", "contourpy", "narwhals", "xyzservices", "bleach", "tornado", "requests"}


def archive(site: Site, kind: str, name: str) -> dict[str, bytes]:
    (path,) = [path for path in site.files if path.startswith(f"{kind}-") and path.endswith(f"/{name}")]
    return unzip_bytes(site.files[path])


@pytest.fixture(scope="module")
def started(run_node: Callable[..., Any]) -> Any:
    return run_node("starts.mjs")


def test_the_app_starts_and_works_from_the_start_archives_alone(started: Any) -> None:
    assert started["fetched"] == []
    (document,) = started["docs"].values()
    assert {root["id"] for root in document["roots"]} == set(started["roots"])
    assert set(started["extra"]["slots"].values()) == set(started["roots"])


def test_what_is_never_shipped_is_never_imported(started: Any) -> None:
    imported = {name.split(".")[0] for name in started["loaded"]}
    assert imported & NOT_SHIPPED == {"numpy"}
    assert started["numpy"] == "app.page.no_arrays"  # what stands in for it


def test_what_is_never_shipped_is_in_no_archive(site: Site) -> None:
    shipped = {
        path.split("/")[0].removesuffix(".pyc")
        for kind, name in [("python", "start.zip"), ("python", "rest.zip"), ("lab", "app.zip")]
        for path in archive(site, kind, name)
    }
    assert {"panel", "bokeh", "lab", "app"} <= shipped
    assert not shipped & NOT_SHIPPED


def test_archives_hold_bytecode_and_no_sources(site: Site) -> None:
    for kind, name in [("python", "stdlib.zip"), ("python", "start.zip"), ("python", "rest.zip"), ("lab", "app.zip")]:
        paths = list(archive(site, kind, name))
        assert any(path.endswith(".pyc") for path in paths)
        # What learners read and edit is text.
        assert not [path for path in paths if path.endswith(".py") and not path.startswith("checks/")]
        assert not [path for path in paths if "__pycache__" in path]


def test_archives_share_no_file(site: Site) -> None:
    names = [("python", "start.zip"), ("python", "data.zip"), ("python", "rest.zip"), ("lab", "app.zip")]
    paths = [path for of in names for path in archive(site, *of)]
    assert len(paths) == len(set(paths))


def test_our_archive_has_the_lab_and_nothing_that_only_a_builder_or_a_teacher_has(site: Site) -> None:
    ours = archive(site, "lab", "app.zip")
    assert {"lab/engine.pyc", "app/page/main.pyc", "traces/course.json", "checks/__init__.py"} <= ours.keys()
    assert not [path for path in ours if path.startswith(("app/build/", "app/serve/", "app/setup/", "lab/cuda/"))]
    assert not [path for path in ours if path.startswith("checks/") and re.search("hidden|wrong|reference", path)]


def test_the_index_names_the_modules_of_each_archive(site: Site) -> None:
    lines = [line.split(" ") for line in archive(site, "python", "data.zip")[INDEX].decode().splitlines()]
    for part in ("start.zip", "rest.zip"):
        names = [module for name, module in lines if name == part]
        files = archive(site, "python", part)
        assert len(names) == len(set(names)) == len([path for path in files if path.endswith((".pyc", ".so"))])
        for name in names:
            path = name.replace(".", "/")
            assert any(f.startswith((f"{path}.", f"{path}/__init__.")) for f in files), name


def test_a_late_import_fetches_the_rest_once_and_says_when_it_cannot(site: Site, run_node: Callable[..., Any]) -> None:
    late = ["bokeh.application.handlers.code", "jinja2.sandbox", "markdown_it.cli.parse", "bokeh.util.hex"]
    listed = archive(site, "python", "data.zip")[INDEX].decode().splitlines()
    assert {f"rest.zip {name}" for name in late} <= set(listed)
    found = run_node("late_imports.mjs", *late)
    assert not found["offline"]["found"]
    assert "fetched when they are first needed" in found["offline"]["why"]
    assert "there is no connection" in found["offline"]["why"]
    assert not found["unknown"]["found"]
    assert found["unknown"]["fetched"] == []
    assert [attempt["found"] for attempt in found["attempts"]] == [True] * len(late), found["attempts"]
    assert [attempt["fetched"] for attempt in found["attempts"]] == [["rest.zip"], *[[]] * (len(late) - 1)]


def test_the_worker_and_the_app_understand_each_other(run_node: Callable[..., Any]) -> None:
    main = Path(__file__).parent / "trial_app" / "main.py"
    done = run_node("protocol.mjs", str(main))
    assert set(done["slots"]) == {"controls", "plot"}
    assert list(done["slots"].values()) == done["roots"]
    # An answer, then what the slider's change made the app say: once from a call, once from the page's own change.
    assert done["messages"] == [["square", 49], ["seats", 8], ["seats", 2]]
    assert done["fromCall"]["patches"] > 0
    assert done["fromCall"]["buffers"] > 0, "arrays travel as buffers"
    assert done["fromPatch"]["patches"] > 0, "the text and the line follow the slider"
    assert "nothing_of_this_name" in done["refused"]
