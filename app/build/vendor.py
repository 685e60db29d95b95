"""BokehJS and Panel's scripts and styles, from the packages installed on this machine."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

from app.build.ace import ace_files
from app.build.errors import BuildError
from app.build.folders import Folder
from app.build.packages import installed

BOKEH_SCRIPTS = ("bokeh.min.js", "bokeh-widgets.min.js", "bokeh-tables.min.js")
PANEL_SCRIPTS = ("panel.min.js",)
SCRIPTS = (*BOKEH_SCRIPTS, *PANEL_SCRIPTS)
"""What the page loads, in this order."""

ADDRESS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
"""An address in a style sheet."""


def vendor_folder() -> Folder:
    """The folder `vendor-…`: scripts at its top, styles where Panel asks for them below its PANEL_CDN_ROOT."""
    bokeh = _package("bokeh") / "server" / "static" / "js"
    panel = (_package("panel") / "dist").resolve()
    files = {name: _read(bokeh / name) for name in BOKEH_SCRIPTS}
    files |= {name: _read(panel / name) for name in PANEL_SCRIPTS}
    below = f"{importlib.metadata.version('panel')}/dist/"
    for style in sorted([*(panel / "css").glob("*.css"), *(panel / "bundled" / "theme").glob("*.css")]):
        files[below + style.relative_to(panel).as_posix()] = _read(style)
        for asked in _asked_for(style):
            files[below + asked.relative_to(panel).as_posix()] = _read(asked)
    return Folder("vendor", files | ace_files(panel))


def _asked_for(style: Path) -> Iterator[Path]:
    """The files that a style sheet makes a browser fetch: pictures, fonts, other style sheets."""
    for found in ADDRESS.finditer(style.read_text(encoding="utf-8")):
        address = found[1] or found[2]
        if not address.startswith(("data:", "#", "http:", "https:", "//")):
            yield (style.parent / address).resolve()


def _package(name: str) -> Path:
    folder = installed(name)
    if folder is None:
        raise BuildError(
            f"The Python package {name} is not installed for this interpreter, and the site ships it. "
            "Install serving-lab with its dependencies and build again."
        )
    return folder


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise BuildError(
            f"{path.name} is missing from the installed packages; the wheels of Panel and Bokeh have it, "
            "so install them again from wheels."
        ) from None
