"""What the tests do with the lab's page, in the words of a user."""

import json
import time
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from lab.cli import main

READY = "html[data-python=ready]"
START = 90_000  # ms; a cold start on a slow machine
SHOWN = ("iterations", "utilization", "wait_p95", "latency_mean", "peak_pages", "occupancy")


class LabPage:
    """A page of the lab, with everything that went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.troubles: list[str] = []
        page.on("console", lambda m: self.troubles.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))

    def open(self, url: str, ready: bool = True) -> "LabPage":
        self.page.goto(url)
        self.page.wait_for_selector(".side")
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self) -> None:
        self.page.wait_for_selector("html[data-python=ready], html[data-python=failed]", timeout=START)
        assert self.page.get_attribute("html", "data-python") == "ready", self.page.inner_text("#status-text")

    def reveal(self) -> None:
        """Show the results without having played, as somebody who skips the guess does."""
        skip = self.page.get_by_role("button", name="Skip")
        if skip.count() and skip.first.is_visible():
            skip.first.click()

    def metrics(self, policy: str) -> dict[str, float]:
        """The exact figures that the cards of one side show."""
        cards = self.page.locator(f".side[data-policy={policy}] [data-metric]").all()
        return {c.get_attribute("data-metric") or "": float(c.get_attribute("data-value") or "nan") for c in cards}

    def side(self, policy: str) -> Any:
        return self.page.locator(f".side[data-policy={policy}]")

    def seek(self, iteration: int) -> None:
        self.page.locator("#experiment input[type=range]").first.fill(str(iteration))

    def field(self, label: str) -> Any:
        """A number field of the controls, by its label."""
        return self.page.locator("#slot-controls").get_by_label(label)

    def set(self, label: str, value: str) -> None:
        field = self.field(label)
        field.fill(value)
        field.press("Enter")
        field.press("Tab")

    def wait_metric(self, policy: str, metric: str, value: float) -> None:
        self.page.wait_for_selector(
            f'.side[data-policy={policy}] [data-metric={metric}][data-value="{value}"]', timeout=20_000
        )


def profile(browser: Browser, *, offline: bool = False, app: bool = True, **options: Any) -> BrowserContext:
    """A fresh profile.

    offline: whether the page may keep the site for when its server is gone. That fetches all of it beside what is
             tested, a third of the work of a visit, so only those tests let it that are about it.
    app:     whether the app's Python starts. Where it does not, the page goes on waiting for it, which costs nothing.
    """
    context = browser.new_context(**options)
    if not offline:
        context.add_init_script("delete Navigator.prototype.serviceWorker")
    if not app:
        context.route("**/worker.js", lambda route: route.fulfill(content_type="text/javascript", body=""))
    return context


@contextmanager
def opened(browser: Browser, **options: Any) -> Any:
    """A page in a profile of its own. `options` as for `profile`."""
    context = profile(browser, **options)
    try:
        yield LabPage(context.new_page())
    finally:
        context.close()


def command_line(capsys: Any, *arguments: str) -> dict[str, Any]:
    """What `serving-lab replay traces/course.json --json` prints with `arguments`."""
    capsys.readouterr()
    assert main(["replay", "traces/course.json", "--json", *arguments]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def assert_same_figures(lab: LabPage, printed: dict[str, Any], wait: float = 0) -> None:
    """Every card of both sides shows what the command line prints; `wait` seconds are given to get there."""
    expected = {(p, name): printed["policies"][p][name] for p in printed["policies"] for name in SHOWN}
    until = time.monotonic() + wait
    while True:
        shown = {policy: lab.metrics(policy) for policy in printed["policies"]}
        got = {(policy, name): shown[policy][name] for policy, name in expected}
        if got == pytest.approx(expected, abs=1e-9) or time.monotonic() > until:
            break
        lab.page.wait_for_timeout(50)
    assert got == pytest.approx(expected, abs=1e-9)


def assert_axe_finds_nothing(page: Page, scheme: str, context: object = None) -> None:
    """axe-core, whose script the page holds already, looks at `context` (as axe takes it; None: all of the page)."""
    found = page.evaluate(
        "async (context) => (await axe.run(context ?? document, {resultTypes: ['violations']})).violations.map("
        "(v) => [v.id, v.impact, v.nodes.slice(0, 5).map((n) => n.target.join(' ') + ': ' + n.failureSummary)])",
        context,
    )
    assert found == [], (scheme, json.dumps(found, indent=1)[:3000])
