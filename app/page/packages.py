"""Panel and Bokeh, imported where they find what they expect: by a start, or by the builder for a snapshot of one.

A snapshot is the memory of a Python that has imported them, and nothing of ours. What it also has of the machine on
which it was made is put right when it comes back to life.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from app.page import no_arrays

BRIDGE = "panel.io.pyodide"
"""Importing it imports Panel and Bokeh: most of a start."""

TO_OBJECT = """(entries) => {
  for (const entry of entries) entry[1] ??= null;
  return Object.fromEntries(entries);
}"""
"""What the bridge makes when it is imported, and a snapshot cannot hold: a function of JavaScript's."""


def load(vendor: str) -> None:
    """Sets up what Panel expects of its surroundings, and imports it.

    `vendor` is the folder of the site, relative to the page and ending in a slash, from which Panel's styles come.
    """
    os.environ["PANEL_CDN_ROOT"] = vendor
    # Panel 1.8 asks for a name that newer versions of Pyodide have.
    ffi: Any = importlib.import_module("pyodide.ffi")
    if not hasattr(ffi, "jsnull"):
        ffi.jsnull = object()
    # Panel patches `requests` through this package when it is there, and imports pandas when it is not.
    stub = types.ModuleType("pyodide_http")
    stub.patch_all = lambda: None  # type: ignore[attr-defined]
    sys.modules.setdefault("pyodide_http", stub)
    no_arrays.install()
    importlib.import_module(BRIDGE)


def make_ready_for_snapshot(vendor: str, modules: Iterable[str]) -> None:
    """Imports what a start needs, `modules`, and lets go of what a snapshot cannot hold. Only the builder calls it."""
    import gc

    load(vendor)
    for name in modules:
        importlib.import_module(name)
    sys.modules[BRIDGE]._dict_converter = None  # type: ignore[attr-defined]
    os.environ.pop("PYTHONHASHSEED", None)
    sys.path.remove("")  # Pyodide adds it at each start
    for name in [name for name in sys.modules if name.split(".")[0] == "app"]:
        del sys.modules[name]
    gc.collect()


def put_right(environment: Mapping[str, str]) -> None:
    """To be called first in a Python that comes from a snapshot. `environment`: variables as this machine has them."""
    import random

    from pyodide.code import run_js  # type: ignore[import-not-found]

    from app.page.rest import look_again

    os.environ.update(environment)
    _set_time_zone()
    random.seed()
    look_again()
    sys.modules[BRIDGE]._dict_converter = run_js(TO_OBJECT)  # type: ignore[attr-defined]


def _set_time_zone() -> None:
    """The constants of `time`, as CPython finds them when it starts; this runtime has no `time.tzset`."""
    import time

    year = (365 * 24 + 6) * 3600
    new_year = int(time.time()) // year * year
    zones = [time.localtime(new_year), time.localtime(new_year + year // 2)]
    zones.sort(key=lambda zone: zone.tm_gmtoff)  # summer is ahead of winter, on either half of the earth
    winter, summer = zones
    time.timezone, time.altzone = -winter.tm_gmtoff, -summer.tm_gmtoff
    time.daylight = int(winter.tm_gmtoff != summer.tm_gmtoff)
    time.tzname = winter.tm_zone, summer.tm_zone
