"""How Python starts: from the snapshot of its memory, and still where that is missing or damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_page import START, LabPage, assert_same_figures, command_line, opened
from playwright.sync_api import Page

FIRST_LOAD = json.loads((Path(__file__).parents[1] / "site" / "first_load.json").read_text(encoding="utf-8"))
FIRST_LOAD_WORDS = "see tests/site/test_first_load.py"

DAMAGE = """async (ending) => {
    let count = 0;
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
            if (!request.url.endsWith(ending)) continue;
            const bytes = new Uint8Array(await (await cache.match(request)).arrayBuffer());
            bytes[bytes.length >> 1] ^= 1;
            bytes[bytes.length - 20] ^= 1;
            await cache.put(request, new Response(bytes));
            count += 1;
        }
    }
    return count;
}"""

WHOLE = """async ([ending, sha256]) => {
    const response = await caches.match([...new URL(ending, location.href).href].join(""));
    const digest = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("") === sha256;
}"""


def short(path: str) -> str:
    """As in tests/site/test_first_load.py."""
    folder, _, rest = path.partition("/")
    return f"{folder.split('-')[0]}/{rest.rpartition('/')[2]}" if rest else path or "index.html"


def way(page: Page) -> str | None:
    return page.get_attribute("html", "data-start")


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


def assert_it_works(lab: LabPage, capsys) -> None:
    lab.reveal()
    lab.set("Seats", "4")
    assert_same_figures(lab, command_line(capsys, "--max-num-seqs", "4"), wait=20)
    assert lab.troubles == []


def test_a_first_load_asks_for_what_is_listed_and_does_without_a_snapshot(browser, server, capsys):
    asked: list[str] = []
    said: list[str] = []
    with opened(browser) as lab:
        lab.page.on("request", lambda request: asked.append(request.url.split("#")[0]))
        lab.open(server.url)
        assert way(lab.page) == "snapshot"
        paths = [url.removeprefix(server.url) for url in asked]
        assert sorted({short(path) for path in paths if path != "api/cuda"}) == FIRST_LOAD["files"], FIRST_LOAD_WORDS
        # A part of the snapshot that is not as it was made costs time, and nothing else.
        lab.page.on("console", lambda message: said.append(message.text))
        lab.page.route("**/snapshot-2.bin", lambda route: route.fulfill(status=200, body=b"cut short"))
        lab.page.reload()
        lab.wait_ready()
        assert way(lab.page) == "plain"
        assert any("without its snapshot" in line and "not as it was made" in line for line in said)
        assert_it_works(lab, capsys)


def test_copies_that_were_damaged_heal_by_themselves(browser, server, capsys):
    """The service worker's copies: of the snapshot, which Python can do without, and of what it cannot."""
    files = json.loads((server.site / "site.json").read_text())["files"]
    (part,) = [path for path in files if path.endswith("/snapshot-1.bin")]
    (ours,) = [path for path in files if path.endswith("/app.zip")]
    with opened(browser, offline=True) as lab:
        lab.open(server.url)
        lab.page.wait_for_selector("html[data-offline=ready]", timeout=START)
        for damaged, first in ((part, "plain"), (ours, "snapshot")):
            assert lab.page.evaluate(DAMAGE, damaged.rpartition("/")[2]) == 1
            lab.page.reload()
            lab.page.wait_for_selector("html[data-python=ready]", timeout=START)
            assert way(lab.page) == first
            lab.page.wait_for_function(WHOLE, arg=[damaged, files[damaged]["sha256"]])
        lab.page.reload()
        lab.wait_ready()
        assert way(lab.page) == "snapshot"
        assert_it_works(lab, capsys)
