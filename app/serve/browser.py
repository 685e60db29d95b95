"""Opens the browser, where there is one."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import webbrowser


def has_display() -> bool:
    """True when a browser window could appear."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_browser(url: str) -> None:
    """Asks the system to show `url`, in the background. Nothing happens where that is not possible."""

    def show() -> None:
        with contextlib.suppress(Exception):
            webbrowser.open(url)

    if has_display():
        threading.Thread(target=show, daemon=True).start()
