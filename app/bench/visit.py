"""One visit: a page is opened, and what a visitor waits for is timed."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.bench.browser import Processor, opened
from app.bench.line import FULL_SPEED, Network
from app.bench.servers import Servers
from app.page.fields import FIELDS

if TYPE_CHECKING:
    from playwright.sync_api import Page, Playwright

PROBE = Path(__file__).with_name("probe.js")
ITERATION, PAGES = 15, 20
"""Where the probe moves the replay, and to how many pages it turns the pool: neither is how the page starts."""

LIMIT = {True: 90.0, False: 240.0}
"""Seconds after which a visit has failed, at full speed and else."""

WARM_LEARNER = """async () => {
    const config = JSON.parse(document.getElementById("site-config").textContent);
    const {LearnerRunner} = await import(new URL(config.folders.assets + "runner.js", document.baseURI));
    const runner = new LearnerRunner({config, base: document.baseURI, spare: false});
    const asked = performance.now();
    await runner.warm();
    const ready = performance.now();
    runner.dispose();
    return [asked, ready];
}"""
OFFLINE = "() => document.documentElement.dataset.offline === 'ready'"
MARKS = "() => ({...window.serving_lab_probe.marks, origin: performance.timeOrigin})"
BLOCKED = "() => window.serving_lab_probe.blocked()"


class VisitFailed(Exception):
    """The page did not come to what was waited for; the message says how far it got."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the things measured. `kind`: how the probe looks at it (`site`, `plain` or `bare`)."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Bench:
    """What all visits share. `chromium`: the browser's path."""

    playwright: Playwright
    chromium: str
    servers: Servers


def visit(bench: Bench, side: Side, network: Network, profile: Path) -> dict[str, Any]:
    """Opens the page of `side` in `profile`; returns what was measured, as plain JSON data.

    Times are seconds since the navigation began. `…_until` are up to the moment when Python was interactive; the
    others up to the end of the visit, when a site also works offline.
    Raises VisitFailed.
    """
    with opened(bench.playwright, bench.chromium, profile, bench.servers.guard.address) as context:
        label = next(field.label for field in FIELDS if field.name == "num_pages")
        asked = {"kind": side.kind, "label": label, "iteration": ITERATION, "pages": PAGES}
        context.add_init_script(f"({PROBE.read_text(encoding='utf-8')})({json.dumps(asked)})")
        page = context.pages[0]
        bench.servers.begin(side.name, network)
        processor = Processor(context)
        ends = time.monotonic() + LIMIT[network is FULL_SPEED]
        page.goto(bench.servers.url(side.name), wait_until="commit")
        marks = _until(page, ends, MARKS, lambda found: "interactive" in found and "content" in found)
        busy = processor.seconds()
        found: dict[str, Any] = {
            name: marks[name] / 1000 for name in ("content", "scrubbable", "offered", "interactive") if name in marks
        }
        found["blocked"] = page.evaluate(BLOCKED) / 1000
        if side.kind == "site":
            began, ready = page.evaluate(WARM_LEARNER)
            found |= {"learner": ready / 1000, "learner_alone": (ready - began) / 1000}
            _until(page, ends, OFFLINE, bool)
        time.sleep(0.5)  # whatever the browser still writes down for a next visit
    wire = bench.servers.wire(side.name)
    at = (marks["origin"] + marks["interactive"]) / 1000
    return {
        **found,
        "cpu_until": busy,
        "bytes_until": wire.bytes(at),
        "requests_until": wire.requests(at),
        "bytes": wire.bytes(),
        "requests": wire.requests(),
        "fastest": wire.fastest(),
        "missing": wire.missing(),
    }


def _until(page: Page, ends: float, script: str, done: Any) -> Any:
    """What `script` gives once `done` says that it will do."""
    while True:
        try:
            found = page.evaluate(script)
        except Exception as problem:  # the page is only just coming
            found, why = None, str(problem).splitlines()[0]
            if page.is_closed():
                raise VisitFailed(f"the browser has ended: {why}") from None
        else:
            why = f"last seen: {json.dumps(found)}"
            if done(found):
                return found
        if time.monotonic() > ends:
            status = page.evaluate("() => document.body?.innerText.slice(0, 300) ?? ''")
            raise VisitFailed(f"{why}; the page says {status!r}")
        time.sleep(0.05)
