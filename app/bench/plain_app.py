"""The app as one would hand it to `panel convert`: the page's own Python, laid out by Panel. Never imported."""

import importlib
import sys

import panel as pn

from app.page.main import Lab, course_trace

if sys.platform == "emscripten":
    ffi = importlib.import_module("pyodide.ffi")
    if not hasattr(ffi, "jsnull"):  # Panel 1.8 asks for a name that newer versions of Pyodide have
        ffi.jsnull = object()  # type: ignore[attr-defined]

parts = Lab(course_trace(), lambda _name, _data: None).roots()
pn.Column(
    parts["controls"],
    pn.Row(*(part for name, part in parts.items() if name.startswith("chart-"))),
    *(part for name, part in parts.items() if name == "options" or name.startswith("more-")),
).servable()
