"""Real Chromium with a profile of its own, sent through the guard for all that is not on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.setup.browser import ARGUMENTS

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Playwright

SETTLE = 1.0
"""Seconds that a browser gets to finish its own start before anything is measured in it."""


@contextmanager
def opened(playwright: Playwright, chromium: str, profile: Path, guard: str) -> Iterator[BrowserContext]:
    """A window (1280 × 800) of the browser at the path `chromium`; `guard`: the proxy's address."""
    context = playwright.chromium.launch_persistent_context(
        profile,
        executable_path=chromium,
        # Playwright itself would also send loopback addresses through a proxy.
        args=[*ARGUMENTS, f"--proxy-server={guard}"],
        viewport={"width": 1280, "height": 800},
    )
    try:
        time.sleep(SETTLE)
        yield context
    finally:
        context.close()


class Processor:
    """Seconds of processor time that all processes of a browser have used since this was made."""

    def __init__(self, context: BrowserContext) -> None:
        browser = context.browser
        self._session: Any = browser.new_browser_cdp_session() if browser is not None else None
        self._start = self._total()

    def seconds(self) -> float | None:
        """None where the browser does not say."""
        return None if self._session is None else self._total() - self._start

    def _total(self) -> float:
        if self._session is None:
            return 0.0
        return float(sum(one["cpuTime"] for one in self._session.send("SystemInfo.getProcessInfo")["processInfo"]))
