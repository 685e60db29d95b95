"""Calls `panel convert` in a process of its own: `python -m app.bench.convert SPEC`.

Panel reads where its files come from when it is first imported; the caller sets PANEL_CDN_ROOT for it.
"""

from __future__ import annotations

import json
import sys


def main(spec: str) -> int:
    """SPEC: JSON of `app`, `out`, `requirements`, `runtime` (URL of pyodide.js); returns the exit status."""
    import panel
    from panel.io import convert

    asked = json.loads(spec)
    convert.PYODIDE_URL = asked["runtime"]
    made = convert.convert_app(
        asked["app"],
        asked["out"],
        requirements=asked["requirements"],
        runtime="pyodide-worker",
        panel_version=panel.__version__,
        verbose=False,
    )
    return 0 if made else 1  # it has printed why


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
