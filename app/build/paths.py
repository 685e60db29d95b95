"""Where things are: the checkout (when there is one), our packages, and the cache."""

from __future__ import annotations

import os
from pathlib import Path

import app

APP = Path(app.__file__).resolve().parent
"""The folder of the package `app`."""

ROOT = APP.parent
"""The folder that holds `lab`, `app`, `traces` and `checks`: a checkout, or site-packages."""

SITE_SOURCES = APP / "site"
"""The page's static sources."""


def in_checkout() -> bool:
    """True when we run from a checkout rather than from an installed copy."""
    project = ROOT / "pyproject.toml"
    return project.is_file() and 'name = "serving-lab"' in project.read_text(encoding="utf-8")


def cache_folder() -> Path:
    """The folder for what was fetched or computed: SERVING_LAB_CACHE, the checkout's own, or the user's.

    Everything in it can be deleted at any time and comes back with the next build.
    """
    named = os.environ.get("SERVING_LAB_CACHE")
    if named:
        return Path(named).expanduser().resolve()
    if in_checkout() and os.access(ROOT, os.W_OK):
        return ROOT / ".cache"
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().resolve() / "serving-lab"
