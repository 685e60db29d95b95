"""Ace, the code editor that ships inside Panel's package: only the files that the page's Python editor loads."""

from __future__ import annotations

from pathlib import Path

from app.build.errors import BuildError

FILES = ("ace.js", "mode-python.js", "ext-searchbox.js")
"""The editor, Python's colours, and the search box, which Ace itself fetches when somebody searches."""

BELOW = "ace/"
"""Where they lie in the folder of the page's scripts; app/site/code.js looks for them there."""


def ace_files(panel: Path) -> dict[str, bytes]:
    """The files by their paths in the vendor folder. `panel` is the folder `dist` of the installed Panel."""
    found = sorted((panel / "bundled" / "aceplot").glob("ace-builds@*/src-min-noconflict"))
    try:
        folder = found[-1]
        return {BELOW + name: (folder / name).read_bytes() for name in FILES}
    except (IndexError, OSError):
        raise BuildError(
            "The code editor Ace is missing from the installed package of Panel; the wheel of Panel has it, "
            "so install it again from its wheel."
        ) from None
