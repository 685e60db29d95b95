"""What may go to the browser, and what never does."""

from __future__ import annotations

import pytest

from app.build.packages import wanted


@pytest.mark.parametrize(
    "path",
    [
        "panel/__init__.py",
        "panel/theme/css/default.css",
        "panel/models/slider.py",
        "bokeh/core/_templates/file.html.jinja",
        "markdown_it/rules_block/reference.py",
        "lab/grading/run.py",
        "checks/allocate_kv_pages/exercise.json",
        "checks/allocate_kv_pages/checks.json",
        "checks/allocate_kv_pages/starter.py",
        "traces/course.json",
    ],
)
def test_wanted(path: str) -> None:
    assert wanted(path)


@pytest.mark.parametrize(
    "path",
    [
        "panel/tests/test_docs.py",
        "panel/dist/panel.min.js",
        "bokeh/server/static/js/bokeh.min.js",
        "bokeh/sampledata/cows.py",
        "lab/__pycache__/engine.cpython-311.pyc",
        "lab/cuda/kernel.py",
        "app/build/site.py",
        "app/serve/handler.py",
        "app/site/boot.js",
        "checks/allocate_kv_pages/hidden.json",
        "checks/allocate_kv_pages/hidden_checks.json",
        "checks/allocate_kv_pages/hidden/more.json",
        "checks/allocate_kv_pages/reference.py",
        "checks/allocate_kv_pages/wrong/off_by_one.py",
    ],
)
def test_not_wanted(path: str) -> None:
    assert not wanted(path)
