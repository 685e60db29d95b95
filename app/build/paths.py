"""Where things are: the checkout (when there is one), our packages, and the cache."""

from __future__ import annotations

import os
from pathlib import Path

import app
from app.build.errors import BuildError

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

    Everything in it can be deleted at any time and comes back with the next build. Raises BuildError for a user
    without a home who names none.
    """
    named = os.environ.get("SERVING_LAB_CACHE")
    if not named and in_checkout() and os.access(ROOT, os.W_OK):
        return ROOT / ".cache"
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(named or f"{base}/serving-lab").expanduser().resolve()
    except RuntimeError:  # there is no home
        raise BuildError(
            "There is no folder to keep what is built in: name one in the environment variable SERVING_LAB_CACHE."
        ) from None
