"""What the replay draws and says of each option, from documents that the engine made; no Python in the page."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from replay_site import served

from app.page.main import course_trace
from app.page.payload import payload
from lab.options import Options
from lab.workload import Limits, Request, Trace

COURSE = course_trace()
FORK = Trace(
    "fork",
    Limits(6, 24, 16),
    (
        Request("a", 0, 40, 12, samples=4),
        Request("b", 2, 33, 20),
        Request("c", 4, 32, 9, samples=2),
        Request("d", 4, 8, 2, samples=7),
    ),
)
PREFIX = Trace(
    "prefix",
    Limits(3, 20, 16),
    tuple(Request(name, i * 3, 60, 10 + i, prefix=("p0", "p1", "p2")) for i, name in enumerate("abcdef")),
)
LEAVE = Trace(
    "leave",
    Limits(3, 24, 16),
    tuple(
        Request(name, i * 2, 40, 20, client="AB"[i % 2], cancel_after_tokens=None if i % 3 else 6)
        for i, name in enumerate("abcdefg")
    ),
)
FAIR = Trace(
    "fair", Limits(3, 24, 16), tuple(Request(f"r{i}", i, 30, 8, client="A" if i % 5 else "B") for i in range(20))
)
TIMED = Trace(
    "timed", Limits(3, 24, 16), tuple(Request(name, 25 * i, 40, 20) for i, name in enumerate("abcd")), time_unit="ms"
)
H100 = "llama-3.1-8b-h100"


def _documents() -> dict[str, dict[str, Any]]:
    short = replace(COURSE.limits, num_pages=14)
    return {
        "course": payload(COURSE),
        "swap": payload(COURSE, short, Options(preemption="swap", step_time=H100, swap_bandwidth=25 * 10**9)),
        "slab": payload(COURSE, replace(COURSE.limits, num_pages=18), Options(allocation="slab")),
        "length": payload(COURSE, None, Options(allocation="slab", slab_tokens=128)),
        "final": payload(COURSE, None, Options(allocation="final-length")),
        "fork": payload(FORK, None, Options(fork_samples=True)),
        "prefix": payload(PREFIX, None, Options(prefix_caching=True)),
        "ignored": payload(LEAVE, None, Options(cancellation="ignored")),
        "honoured": payload(LEAVE, None, Options(cancellation="honoured")),
        "fair": payload(FAIR, None, Options(admission="vtc")),
        "limited": payload(FAIR, None, Options(admission="limit", client_tokens_per_second=150)),
        "timed": payload(TIMED, None, Options(step_time=H100)),
    }


DOCUMENTS = _documents()


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page for all; `show` puts a document into it."""
    with served(tmp_path_factory.mktemp("pictures"), DOCUMENTS) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        made = context.new_page()
        errors: list[str] = []
        made.on("pageerror", lambda error: errors.append(str(error)))
        made.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        made.goto(f"{address}?document=course&guess=no")
        made.wait_for_selector("html[data-ready]", state="attached")
        yield made
        context.close()
        assert errors == []


def show(page: Page, document: str, t: int) -> None:
    page.evaluate("async ([name, t]) => { view.show(await load(name)); view.seek(t); }", [document, t])


def part(page: Page, name: str, policy: str = "continuous") -> Any:
    return page.locator(f".side[data-policy={policy}] {name}")


def rows(document: str, policy: str = "continuous") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = DOCUMENTS[document]["replay"]["policies"][policy]["rows"]
    return [row for row in found if "iteration" in row]


def first(document: str, key: str, policy: str = "continuous") -> dict[str, Any]:
    """The first row in which `key` is not empty."""
    return next(row for row in rows(document, policy) if row.get(key))


EVERYTHING_SEEN = """() => [...document.querySelectorAll("#replay *")].filter((one) => one.getClientRects().length)
  .map((node) => {
    const {x, y, width, height} = node.getBoundingClientRect();
    const text = node.children.length ? "" : node.textContent;
    return [node.tagName, node.getAttribute("class"), text, ...[x, y, width, height].map(Math.round)].join(" ");
})"""


def test_without_options_nothing_is_added_and_after_them_nothing_is_left(page: Page) -> None:
    """Every element that is seen, where it stands, what it says."""
    show(page, "course", 15)
    before = page.evaluate(EVERYTHING_SEEN)
    added = ".cards.more, .option-strip, .waste, .page.split, .page.empty, .page.shared, .page.cached, .clients"
    assert [node for node in page.locator(added).all() if node.is_visible()] == []
    for name in DOCUMENTS:
        if name != "course":
            show(page, name, 3)
            assert page.evaluate(EVERYTHING_SEEN) != before
            show(page, "course", 15)
            assert page.evaluate(EVERYTHING_SEEN) == before, name


def test_swapping_is_said_marked_and_counted(page: Page) -> None:
    out = first("swap", "swapped_out")
    (victim,) = out["swapped_out"]
    show(page, "swap", out["iteration"])
    expect(part(page, ".words")).to_contain_text(
        f"{victim} was preempted: 7 pages of it are copied to the host's memory"
    )
    expect(part(page, ".option-strip")).to_contain_text(f"7 pages: {victim} 7")
    assert part(page, ".wait.host").count() >= 1
    expect(page.locator(".legend li", has_text="on the host")).to_be_visible()
    back = first("swap", "swapped_in")
    show(page, "swap", back["iteration"])
    expect(part(page, ".words")).to_contain_text(f"{victim} took seat 1 again, with 7 pages copied back")
    metrics = DOCUMENTS["swap"]["replay"]["policies"]["continuous"]["metrics"]["preemption"]
    expect(part(page, "[data-metric=swapped_out]")).to_have_attribute("data-value", str(metrics["swapped_out_pages"]))


def test_milliseconds_stand_beside_the_iteration_and_in_the_tables(page: Page) -> None:
    show(page, "timed", 2)
    row = rows("timed")[1]
    expect(part(page, ".option-strip")).to_contain_text(
        f"at {row['start_ns'] / 1e6:.2f} ms, for {row['duration_ns'] / 1e6:.2f} ms"
    )
    time = DOCUMENTS["timed"]["replay"]["policies"]["continuous"]["metrics"]["time"]
    for card, value in {
        "ttft_p95": time["ttft_ms"]["p95"],
        "itl_p99": time["itl_ms"]["p99"],
        "stalls": time["stalls"],
    }.items():
        assert float(part(page, f"[data-metric={card}]").get_attribute("data-value")) == value
    part(page, "[data-metric=itl_max]").hover()
    expect(part(page, "p.rule")).to_contain_text("each gap between one token of a sequence and its next")
    expect(part(page, "p.rule")).to_contain_text("sorted[⌊0.95 (n − 1)⌋]")
    page.get_by_text("All requests as a table").click()
    expect(page.locator(".tables")).to_contain_text("arrival, ms")
    expect(page.locator(".tables")).to_contain_text("ttft ms")
    page.get_by_text("All requests as a table").click()
    part(page, ".stay").first.hover()
    expect(part(page, ".request-panel")).to_contain_text("arrival 0 ms")
    page.mouse.move(0, 0)


def test_waste_is_told_apart_and_slabs_are_runs(page: Page) -> None:
    row = first("slab", "fragmented")
    show(page, "slab", row["iteration"])
    expect(part(page, ".waste")).to_contain_text(f"{row['reserved_slots']} reserved")
    expect(part(page, ".waste")).to_contain_text(f"{row['internal_slots']} internal")
    expect(part(page, ".waste")).to_contain_text(f"{row['external_slots']} external")
    expect(part(page, ".queue .why")).to_contain_text("the pool is fragmented")
    for pages in row["pages"].values():
        for index, number in enumerate(pages):
            node = part(page, f'.page[data-page="{number}"]')
            classes = (node.get_attribute("class") or "").split()
            assert ("before" in classes, "after" in classes) == (index > 0, index < len(pages) - 1)
    show(page, "length", 1)
    expect(part(page, ".rejected", "static")).to_contain_text("its 149 tokens do not fit in a slab of 128")
    show(page, "final", 1)
    assert part(page, ".page.empty").count() > 0
    reserved = rows("final")[0]["reserved_slots"]
    expect(part(page, ".waste")).to_contain_text(f"{reserved} reserved")


def test_samples_are_drawn_as_those_of_their_request(page: Page) -> None:
    show(page, "fork", 1)
    expect(part(page, ".words")).to_contain_text(
        "a forked into 4 samples: a#2, a#3 and a#4 share the pages of its prompt."
    )
    expect(part(page, ".words")).to_contain_text("3 pages were copied before somebody wrote to them")
    assert part(page, '.stay[data-r="0"] text').all_text_contents() == ["a", "a#2", "a#3", "a#4"]
    colors = part(page, '.stay[data-r="0"] .decode').evaluate_all(
        "(nodes) => [...new Set(nodes.map((n) => getComputedStyle(n).fill))]"
    )
    assert len(colors) == 1
    shared = part(page, ".page.shared")
    assert shared.count() == rows("fork")[0]["shared_pages"] == 2
    shared.first.hover()
    expect(part(page, ".tip")).to_contain_text("a, a#2, a#3, a#4 · ref_count 4 · 16 of 16 slots")
    expect(part(page, ".request-panel")).to_contain_text("a#2: 41 tokens on 3 pages")
    expect(part(page, ".rejected")).to_contain_text("its samples need more seats than the 6 that there are")
    page.mouse.move(0, 0)


def test_shared_and_cached_pages_are_marked(page: Page) -> None:
    hit = first("prefix", "cached")
    show(page, "prefix", hit["iteration"])
    expect(part(page, ".words")).to_contain_text("b found 48 tokens of its prompt in the cache.")
    shared = part(page, ".page.shared")
    assert shared.count() == 3
    assert shared.first.get_attribute("data-rs") == "0 1"
    for row in rows("prefix"):
        page.evaluate("(t) => view.seek(t)", row["iteration"])
        assert part(page, ".page.cached").count() == row["cached_free"], row["iteration"]
    expect(part(page, ".waste")).to_contain_text(f"{rows('prefix')[-1]['cached_free']} free pages still cached")


def test_clients_that_leave_are_said_and_marked(page: Page) -> None:
    left = first("honoured", "left")
    show(page, "honoured", left["iteration"])
    expect(part(page, ".words")).to_contain_text("The client of a left: it ends and its seat and pages are free.")
    assert part(page, ".timeline .cancelled").count() == 3
    left = first("ignored", "left")
    show(page, "ignored", left["iteration"])
    expect(part(page, ".words")).to_contain_text("The client of a left, but it runs on for nobody.")
    assert part(page, ".stay .gone").count() >= 3
    wasted = DOCUMENTS["ignored"]["replay"]["policies"]["continuous"]["metrics"]["cancellation"]["wasted_tokens"]
    expect(part(page, "[data-metric=wasted_tokens]")).to_have_attribute("data-value", str(wasted))


def test_who_is_asked_next_may_stand_further_back(page: Page) -> None:
    row = next(row for row in rows("fair") if row["head"] and row["head"] != row["waiting"][0])
    show(page, "fair", row["iteration"])
    expect(part(page, ".queue .why")).to_contain_text(f"{row['head']} waits:")
    counters = " · ".join(f"{client} {value}" for client, value in row["counters"].items())
    expect(part(page, ".option-strip")).to_contain_text(counters)
    table = part(page, ".clients table")
    clients = DOCUMENTS["fair"]["replay"]["policies"]["continuous"]["metrics"]["clients"]
    for client, figures in clients.items():
        expect(table.locator("tr", has=page.get_by_role("rowheader", name=client, exact=True))).to_contain_text(
            str(figures["tokens"])
        )


def test_refused_requests_are_said_and_listed(page: Page) -> None:
    row = first("limited", "refused")
    (refused,) = row["refused"]
    show(page, "limited", row["iteration"])
    expect(part(page, ".words")).to_contain_text(f"{refused} was refused: over the limit of its client.")
    expect(part(page, ".rejected")).to_contain_text(f"{refused} rejected: its client was over 150 tokens a second")
