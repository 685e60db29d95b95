"""Writes a site to a folder: all of it or nothing, and never over something that is not a site of ours."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from app.build.errors import BuildError

if TYPE_CHECKING:
    from app.build.site import Site

SITE_FILE = "site.json"
"""Says what the site is; also how a folder is known to be one of ours."""

NAME = "serving-lab"

LOOKS = 5
"""How often a folder is looked at before it is refused."""

SWAPS = 10
"""How often a swap is tried when other builds keep putting theirs in the same place."""


def site_document(folder: Path) -> dict | None:
    """The content of a folder's site.json; None when the folder is not a site of ours."""
    try:
        document = json.loads((folder / SITE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("site") == NAME else None


def check_target(out: Path) -> None:
    """Raises BuildError when a site must not be written to `out`."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BuildError(f"{out} is not a folder. Name another with --out.")
    for _ in range(LOOKS):
        problem = _problem_with(out)
        if problem is None:
            return
        time.sleep(0.05)  # another build may be swapping the folder at this moment
    raise BuildError(problem)


def _problem_with(out: Path) -> str | None:
    """Why the folder `out` must not be replaced, in one sentence; None when it may be."""
    ours = site_document(out)
    try:
        entries = sorted(entry.name for entry in out.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return None  # not there yet; whether it can be is found out when it is written
    if ours is None and not entries:
        return None
    if ours is None:
        return f"{out} has files in it and is not a site built by serving-lab. Name another with --out."
    # Somebody may have made the folder a repository or added files for a host: a build must not take those along.
    known = {path.split("/", 1)[0] for path in ours.get("files", ())} | {SITE_FILE}
    strange = [name for name in entries if name.removesuffix(".br").removesuffix(".gz") not in known]
    if not strange:
        return None
    return (
        f"{out} also has {strange[0]!r}, which is not of the site, and a build replaces the whole folder. "
        "Name another with --out, and copy from there."
    )


def write_site(site: Site, out: Path) -> None:
    """Writes beside `out`, then swaps. Raises BuildError when the disk does not allow it."""
    check_target(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}.new-", dir=out.parent))
        try:
            for name, content in {**site.files, **site.compressed}.items():
                path = made / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            _readable(made)
            _swap(made, out)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as problem:
        raise BuildError(f"{out} cannot be written: {problem.strerror or problem}.") from problem


def _readable(folder: Path) -> None:
    """Temporary folders are private; a site is for a web server, which may be somebody else."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


def _swap(made: Path, out: Path) -> None:
    """Puts `made` in the place of `out`. Another build may do the same at this moment; the last one stays."""
    aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.old-", dir=out.parent))
    try:
        for turn in range(SWAPS):
            with contextlib.suppress(FileNotFoundError):
                out.rename(aside / f"{turn}")
            try:
                made.rename(out)
                return
            except OSError:
                if turn == SWAPS - 1:
                    with contextlib.suppress(OSError):
                        (aside / f"{turn}").rename(out)  # what was there is better than nothing
                    raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
