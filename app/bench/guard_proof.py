"""Shows, before anything is measured, that the guard hears what leaves the machine."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from app.bench.browser import opened
from app.bench.visit import Bench
from app.build.errors import BuilderFault

PAGE, WORKER = "page.invalid", "worker.invalid"
FROM_WORKER = """(url) => {
    const script = new Blob([`fetch("${url}", {mode: "no-cors"}).catch(() => {})`], {type: "text/javascript"});
    window.trial = new Worker(URL.createObjectURL(script));
}"""
SECONDS = 10.0


def proven(bench: Bench) -> str:
    """The browser's version, once a page and a worker have asked elsewhere and the guard has heard both.

    Raises BuilderFault if it has not.
    """
    heard = bench.servers.guard.heard
    with (
        tempfile.TemporaryDirectory(prefix="serving-lab-bench-", ignore_cleanup_errors=True) as profile,
        opened(bench.playwright, bench.chromium, Path(profile), bench.servers.guard.address) as context,
    ):
        page = context.pages[0]
        page.goto(f"http://{PAGE}/")
        page.evaluate(FROM_WORKER, f"http://{WORKER}/")
        ends = time.monotonic() + SECONDS
        while not {PAGE, WORKER} <= set(heard):
            if time.monotonic() > ends:
                raise BuilderFault("Requests to elsewhere do not reach the guard, so none could be ruled out.")
            time.sleep(0.02)
        heard[:] = [host for host in heard if host not in (PAGE, WORKER)]
        browser = context.browser
        return browser.version if browser is not None else "of an unknown version"
