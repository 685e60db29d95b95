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
        "numpy/_core/_multiarray_umath.cpython-312-wasm32-emscripten.so",
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
        "numpy/_core/tests/test_dtype.py",
        "numpy/f2py/rules.py",
        "numpy/_core/include/numpy/libdivide.h",
        "numpy/_core/lib/libnpymath.a",
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
