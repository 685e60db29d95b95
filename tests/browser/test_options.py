"""The engine's options on the page, in real Chromium: asked for, chosen, linked, and as the command line has them."""

import time
from pathlib import Path
from typing import Any

import pytest
from lab_page import LabPage, assert_axe_finds_nothing, command_line, opened
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
H100 = "llama-3.1-8b-h100"

ALWAYS = {
    name: (name,) for name in ("iterations", "utilization", "wait_p95", "latency_mean", "peak_pages", "occupancy")
}
TIME = {
    "ttft_p95": ("time", "ttft_ms", "p95"),
    "itl_p99": ("time", "itl_ms", "p99"),
    "itl_max": ("time", "itl_ms", "max"),
    "tpot_mean": ("time", "tpot_ms", "mean"),
    "e2e_mean": ("time", "e2e_ms", "mean"),
    "stalls": ("time", "stalls"),
}
MEMORY = {
    "used_share": ("memory", "used_share"),
    "reserved_share": ("memory", "reserved_share"),
    "internal_share": ("memory", "internal_share"),
    "peak_running": ("memory", "peak_running"),
    "fragmented": ("memory", "fragmented_iterations"),
    "peak_kv": ("memory", "peak_kv_bytes"),
}
SHARING = {
    name: ("sharing", name)
    for name in ("cached_tokens", "prefill_tokens", "shared_pages_peak", "forks", "copied_pages")
}
PREEMPTION = {
    "preempted": ("preemptions",),
    "lost_tokens": ("preemption", "lost_tokens"),
    "swapped_out": ("preemption", "swapped_out_pages"),
    "host_pages_peak": ("preemption", "host_pages_peak"),
}

# What is asked for, as the command line and as a link say it; and the cards that come with it.
SWAP = {"num_pages": 14, "preemption": "swap"}
IN_CHUNKS = {"max_num_batched_tokens": 16, "chunked_prefill": True, "prefill_first": True, "chunk_multiple": 8}
COMBINATIONS: list[tuple[dict[str, Any], dict[str, tuple[str, ...]]]] = [
    ({**SWAP, "swap_bandwidth": 25_000_000_000, "step_time": H100}, {**TIME, **PREEMPTION}),
    ({**SWAP, "swap_pages": 6, "swap_pages_per_step": 6, "victim": "largest"}, PREEMPTION),
    ({"num_pages": 18, "allocation": "slab", "kv_dtype": "fp8"}, MEMORY),
    (
        {"allocation": "final-length", "step_time": H100, "scheduler_us": 2000, "async_scheduling": True},
        {**TIME, **MEMORY},
    ),
    ({**IN_CHUNKS, "step_time": H100, "kv_read": True, "stall_ms": 4.8}, TIME),
    ({"num_pages": 20, "prefix_caching": True, "figures": True}, {**SHARING, **MEMORY, **PREEMPTION}),
]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def shared(browser, server):
    """One page for the tests that leave it as they found it."""
    with opened(browser) as lab:
        lab.open(server.url)
        lab.reveal()
        yield lab
        assert lab.troubles == []


def flags(asked: dict[str, Any]) -> list[str]:
    said = []
    for name, value in asked.items():
        flag = "--" + name.replace("_", "-")
        said += [flag] if value is True else [flag, str(value)]
    return said


def link(asked: dict[str, Any]) -> str:
    return "&".join(f"{name}={int(value) if value is True else value}" for name, value in asked.items())


def options_of(lab: LabPage) -> Any:
    return lab.page.locator("#slot-options")


def open_options(lab: LabPage) -> None:
    lab.page.get_by_role("button", name="More options").click()
    options_of(lab).get_by_label("Victim", exact=True).wait_for()
    expect(lab.page.locator("#options-wait")).to_be_hidden()


def on(lab: LabPage) -> list[str]:
    return [text.removesuffix(" ×") for text in lab.page.locator("#options-on .on").all_inner_texts()]


WATCH_SHIFTS = """() => { window.shifts = []; new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push(one.value);
}).observe({type: "layout-shift"}); }"""
CARDS = """() => Object.fromEntries([...document.querySelectorAll(".side")].map((side) => [side.dataset.policy,
    Object.fromEntries([...side.querySelectorAll("[data-metric]")].map(({dataset}) =>
      [dataset.metric, Number(dataset.value)]))]))"""


def assert_same(lab: LabPage, printed: dict[str, Any], cards: dict[str, tuple[str, ...]]) -> None:
    """Every one of `cards` shows, on both sides, what the command line prints; some seconds are given to get there."""

    def value(policy: str, path: tuple[str, ...]) -> float:
        found = printed["policies"][policy]
        for key in path:
            found = found[key]
        return float(found)

    wanted = {(policy, card): value(policy, path) for policy in printed["policies"] for card, path in cards.items()}
    until = time.monotonic() + 20
    while True:
        shown = lab.page.evaluate(CARDS)
        got = {(policy, card): shown[policy].get(card) for policy, card in wanted}
        counts = {len(one) for one in shown.values()}
        if (got == pytest.approx(wanted, abs=1e-9) and counts == {len(cards)}) or time.monotonic() > until:
            break
        lab.page.wait_for_timeout(50)
    assert got == pytest.approx(wanted, abs=1e-9)
    assert counts == {len(cards)}  # and no other card is shown


# ---- asked for, chosen, turned off -----------------------------------------------------------------------------------


def test_nothing_of_the_options_is_there_before_they_are_asked_for(shared):
    page = shared.page
    expect(page.locator("#options")).to_be_hidden()
    expect(page.locator("#options-on")).to_be_hidden()
    assert options_of(shared).locator("input, select").count() == 0
    assert page.locator("#slot-options").evaluate("(slot) => slot.getBoundingClientRect().height") == 0
    expect(page.get_by_role("button", name="More options")).to_have_attribute("aria-expanded", "false")
    assert page.locator("[data-metric]").count() == 2 * len(ALWAYS)


def test_chosen_in_the_fields_and_turned_off_one_by_one(shared, capsys):
    page = shared.page
    page.evaluate(WATCH_SHIFTS)
    open_options(shared)
    page.wait_for_timeout(500)
    assert sum(page.evaluate("() => window.shifts")) < 0.05  # nothing jumps when the fields come
    expect(page.locator("#options-on")).to_have_text("No option is on: this is the engine of the lesson.")
    fields = options_of(shared)
    fields.get_by_label("A victim's KV").select_option(label="swap to host")
    expect(fields.get_by_label("Host pages")).to_be_visible()  # of use only now
    shared.set("Pages", "14")
    shared.page.locator("#options-on .on").first.wait_for()
    asked = {"num_pages": 14, "preemption": "swap"}
    assert_same(shared, command_line(capsys, *flags(asked)), {**ALWAYS, **PREEMPTION})
    fields.get_by_text("Memory figures").click()
    assert_same(shared, command_line(capsys, *flags({**asked, "figures": True})), {**ALWAYS, **PREEMPTION, **MEMORY})
    assert on(shared) == ["memory figures", "a victim's KV: swap to host"]
    page.wait_for_url(f"**#{link({'num_pages': 14, 'figures': True, 'preemption': 'swap'})}")
    page.get_by_role("button", name="Turn off memory figures").click()
    assert_same(shared, command_line(capsys, *flags(asked)), {**ALWAYS, **PREEMPTION})
    expect(page.get_by_role("button", name="Turn off a victim's KV: swap to host")).to_be_focused()
    expect(fields.get_by_label("Memory figures")).not_to_be_checked()
    page.locator("#slot-controls").get_by_role("button", name="Reset all").click()
    assert_same(shared, command_line(capsys), ALWAYS)
    expect(fields.get_by_label("A victim's KV")).to_have_value("recompute")
    expect(shared.field("Pages")).to_have_value("32")
    expect(page.locator("#slot-controls").get_by_role("button", name="Reset limits")).to_be_visible()
    page.wait_for_url(lambda url: "#" not in url)
    page.get_by_role("button", name="Fewer options").click()
    expect(page.locator("#options")).to_be_hidden()
    expect(page.locator("#options-on")).to_be_hidden()


def test_what_is_wrong_is_told_at_the_field_and_the_picture_stays(shared, capsys):
    page = shared.page
    open_options(shared)
    fields = options_of(shared)
    fields.get_by_label("Admission").select_option(label="limit a client")
    alert = fields.get_by_role("alert")
    expect(alert).to_contain_text("admission by limit needs one")
    field = fields.get_by_label("Tokens a second")
    box, said = field.bounding_box(), alert.bounding_box()
    assert 0 <= said["y"] - (box["y"] + box["height"]) < 12
    assert_same(shared, command_line(capsys), ALWAYS)
    field.fill("150")
    field.press("Enter")
    expect(alert).to_have_count(0)
    asked = {"admission": "limit", "client_tokens_per_second": 150}
    assert_same(shared, command_line(capsys, *flags(asked)), ALWAYS)
    expect(shared.side("continuous").locator(".rejected")).to_contain_text("its client was over 150 tokens a second")
    field = fields.get_by_label("ms an iteration")
    field.fill("")
    field.press("Tab")
    expect(alert).to_have_text("write a number here")
    expect(field).to_have_value("")  # nothing, and not NaN
    field.fill("20")
    field.press("Enter")
    expect(alert).to_have_count(0)
    page.get_by_role("button", name="Turn all off").click()
    assert_same(shared, command_line(capsys), ALWAYS)
    page.get_by_role("button", name="Fewer options").click()


@pytest.mark.parametrize(("asked", "cards"), COMBINATIONS, ids=lambda value: None)
def test_links_with_options_replay_as_the_command_line(shared, capsys, asked, cards):
    printed = command_line(capsys, *flags(asked))
    shared.page.evaluate("(hash) => { location.hash = hash; }", link(asked))
    assert_same(shared, printed, {**ALWAYS, **cards})
    if asked.get("step_time"):
        canvases = shared.side("continuous").locator(".more-slot canvas")
        expect(canvases.first).to_be_visible()
    shared.page.evaluate("() => { location.hash = ''; }")
    assert_same(shared, command_line(capsys), ALWAYS)
    expect(shared.side("continuous").locator(".more-slot canvas")).to_have_count(0)


DAMAGED = (
    ("victim=oldest", "none of newest, largest"),
    ("prefix_caching=yes", "neither 0 nor 1"),
    ("swap_pages=-1", "no whole number"),
    ("stall_ms=1e9", "no number"),
    ("victim=none", "none of newest, largest"),
    ("allocation=slab&prefix_caching=1", "only pages taken one by one can be shared"),
    ("admission=limit", "admission by limit needs one"),
    ("step_time=llama-3.1-8b-h100&stall_ms=0", "stall_ms"),
)


def test_a_damaged_link_is_refused_and_nothing_changes(shared, capsys):
    printed = command_line(capsys)
    for fragment, says in DAMAGED:
        shared.page.evaluate("(hash) => { location.hash = hash; }", fragment)
        expect(shared.page.locator("#notice-link")).to_contain_text(says)
    assert_same(shared, printed, ALWAYS)
    shared.page.evaluate("() => { location.hash = ''; }")
    expect(shared.page.locator("#notice-link")).to_have_count(0)


# ---- links, keyboard, small screens ----------------------------------------------------------------------------------


def test_a_link_brings_options_to_another_browser_and_the_keyboard_is_enough_there(browser, server, capsys):
    asked = {"num_pages": 14, "victim": "largest", "preemption": "swap"}
    with opened(browser) as lab:
        lab.open(f"{server.url}#{link(asked)}&iteration=31")
        lab.reveal()
        assert_same(lab, command_line(capsys, *flags(asked)), {**ALWAYS, **PREEMPTION})
        assert lab.page.url.endswith(
            "#num_pages=14&preemption=swap&victim=largest&iteration=31"
        )  # in the fields' order
        press = lab.page.keyboard.press
        lab.page.get_by_role("button", name="More options").focus()
        press("Enter")
        options_of(lab).get_by_label("Victim", exact=True).wait_for()
        expect(options_of(lab).get_by_label("Victim", exact=True)).to_have_value("largest")
        _tab_to(lab, "A victim's KV")
        press("ArrowUp")  # recompute
        expected = command_line(capsys, *flags({**asked, "preemption": "recompute"}))
        assert_same(lab, expected, {**ALWAYS, **PREEMPTION})
        assert _focused(lab) == "A victim's KV"  # what was shown or hidden took no focus
        _tab_to(lab, "Victim")
        press("ArrowUp")  # newest: nothing is on any more
        assert_same(lab, command_line(capsys, "--num-pages", "14"), ALWAYS)
        assert lab.troubles == []


def _focused(lab: LabPage) -> str:
    """The label of the field that has the focus, whatever shadow roots it is in."""
    return lab.page.evaluate(
        """() => { let at = document.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        return at?.labels?.[0]?.textContent.trim() ?? ""; }"""
    )


def _tab_to(lab: LabPage, label: str) -> None:
    for _ in range(40):
        if _focused(lab) == label:
            return
        lab.page.keyboard.press("Tab")
    raise AssertionError(f"{label} cannot be reached by Tab")


def test_on_a_phone_everything_fits_and_axe_finds_nothing(browser, server, node_package):
    axe = (node_package("axe-core@4.14.1") / "axe.min.js").read_text(encoding="utf-8")
    view = {"width": 360, "height": 740}
    # Without motion: half-way from one scheme to the other, colours are as they are in neither.
    with opened(browser, viewport=view, has_touch=True, bypass_csp=True, reduced_motion="reduce") as lab:
        asked = {"num_pages": 14, "preemption": "swap", "step_time": H100, "figures": True}
        lab.open(f"{server.url}#{link(asked)}&iteration=34")
        lab.reveal()
        lab.page.locator("#options-on .on").first.wait_for()
        open_options(lab)
        lab.side("continuous").locator(".more-slot canvas").first.wait_for()
        assert lab.page.evaluate("() => document.documentElement.scrollWidth") <= 360
        lab.page.evaluate(f"() => {{ {axe} }}")
        for scheme in ("light", "dark"):
            lab.page.emulate_media(color_scheme=scheme)
            assert_axe_finds_nothing(lab.page, scheme)
