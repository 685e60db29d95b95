"""Makes sure that a site is there to be served: the one built last when nothing changed since, else a new one."""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

from app.build.compress import QUICK
from app.build.out import write_site
from app.build.paths import cache_folder
from app.build.site import make_site
from app.build.store import Store
from app.serve.inputs import fingerprint
from app.serve.site_folder import is_whole

KEPT_DAYS = 7
"""A site that nobody asked for in so many days is deleted when another is built."""


def ready_site() -> Path:
    """The folder of the site for the sources as they are now. Raises BuildError when it cannot be built."""
    sites = cache_folder() / ".site"
    folder = sites / fingerprint(QUICK)
    if is_whole(folder):
        folder.touch()
        return folder
    if folder.exists():  # damaged: what is missing from it must not be taken for somebody's own files
        shutil.rmtree(folder, ignore_errors=True)
    write_site(make_site(Store(cache_folder()), QUICK), folder)
    forget_old(sites, folder)
    return folder


def forget_old(sites: Path, kept: Path) -> None:
    """Deletes from the folder `sites` those that nobody has asked for in a while, but not `kept`."""
    limit = time.time() - KEPT_DAYS * 24 * 3600
    for folder in sites.iterdir():
        with contextlib.suppress(OSError):
            if folder != kept and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
