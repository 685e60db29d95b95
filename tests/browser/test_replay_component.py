"""The replay component in a real browser, fed with documents that the engine made."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from replay_site import payload, served

from lab.formats.trace_json import read_trace
from lab.workload import Limits, Request, Trace

ROOT = Path(__file__).resolve().parents[2]
COURSE = read_trace(str(ROOT / "traces" / "course.json"))
HOSTILE = [
    "<img src=x onerror=window.pwned=1>",
    "constructor",
    "__proto__",
    "🦊🦊",
    "x" * 300,
    "toString",
    '"><b>',
    "ا",
    "7",
]
Open = Callable[..., Page]


def _many() -> Trace:
    rng = random.Random(7)
    requests = [
        Request(f"req-{i}", arrival=i * 9, prompt_tokens=rng.randint(8, 200), output_tokens=rng.randint(2, 90))
        for i in range(100)
    ]
    return Trace("many", Limits(16, 512, 16, 256, True), tuple(requests))


def _documents() -> dict[str, dict[str, Any]]:
    limits = COURSE.limits
    hostile = tuple(replace(request, id=name) for request, name in zip(COURSE.requests, HOSTILE, strict=True))
    third = payload(COURSE)
    third["replay"]["policies"]["mine"] = third["replay"]["policies"]["continuous"]
    return {
        "course": payload(COURSE),
        "starved": payload(COURSE, replace(limits, num_pages=14)),
        "chunked": payload(COURSE, replace(limits, max_num_batched_tokens=24, chunked_prefill=True)),
        "short": payload(COURSE, replace(limits, num_pages=9)),
        "nothing": payload(COURSE, replace(limits, num_pages=1)),
        "empty": payload(replace(COURSE, requests=())),
        "hostile": payload(replace(COURSE, requests=hostile)),
        "many": payload(_many()),
        "third": third,
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("replay"), _documents()) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser, site: str) -> Iterator[Open]:
    """open_page(document, width=…, guess=…, key=…): a page that shows it; no error may reach its console."""
    contexts = []
    errors: list[str] = []

    def opened(document: str = "course", *, width: int = 1280, guess: bool = False, **context: Any) -> Page:
        made = browser.new_context(viewport={"width": width, "height": 900}, **context)
        contexts.append(made)
        page = made.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"{site}?document={document}&guess={'yes' if guess else 'no'}&key=guess")
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for made in contexts:
        made.close()
    assert errors == []


def side(page: Page, policy: str) -> Any:
    return page.locator(f".side[data-policy={policy}]")


def part(page: Page, policy: str, name: str) -> Any:
    return side(page, policy).locator(name)


def at(page: Page) -> int:
    return int(page.evaluate("view.iteration"))


def scrubber(page: Page) -> Any:
    return page.get_by_role("slider", name="Iteration")


# ---- what an iteration says --------------------------------------------------------------------------------------


def test_iteration_1_is_the_lessons_header_strip(open_page: Open) -> None:
    page = open_page()
    for policy in ("static", "continuous"):
        strip = part(page, policy, ".strip").inner_text().split("\n")
        pairs = dict(zip([s for s in strip if s][::2], [s for s in strip if s][1::2], strict=True))
        assert pairs == {
            "active": "a · b · c",
            "waiting": "d",
            "KV allocation": "11 pages",
            "decode rule": "at most 1 token a request",
        }


def test_iteration_14_a_finishes_and_each_policy_says_what_that_frees(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.seek(14)")
    expect(part(page, "static", ".words")).to_contain_text(
        "a finished, but keeps seat 1 and 3 pages until the batch drains"
    )
    expect(part(page, "continuous", ".words")).to_contain_text("a finished: its 3 pages are released, seat 1 is free")
    expect(part(page, "continuous", ".words")).to_contain_text("identity retained")
    expect(part(page, "static", ".queue")).to_contain_text(
        "d waits: batch, membership is fixed until the longest member ends"
    )
    expect(part(page, "continuous", ".queue")).to_contain_text("d waits: seats, all 3 are taken")


def test_iteration_15_d_takes_the_seat_only_under_continuous(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.seek(15)")
    words = part(page, "static", ".words")
    expect(words).to_contain_text("b and c decoded one token each.")
    expect(words).to_contain_text("a finished earlier and still holds seat 1.")
    expect(words).to_contain_text("d still waits: batch")
    expect(part(page, "continuous", ".words")).to_contain_text(
        "d took seat 1, prefilled 48 tokens and emitted a token."
    )
    expect(part(page, "static", ".pool-box .figure")).to_have_text("13 of 32 pages held · 19 slots unused")
    assert part(page, "static", ".page.held").count() == 3
    assert part(page, "static", ".page.owned").count() == 13
    assert part(page, "continuous", ".page.owned").count() == 14


def test_idle_and_done_are_said(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.seek(80)")
    expect(part(page, "continuous", ".words")).to_have_text(
        "Idle: nothing runs and nothing waits. i comes next, in iteration 84."
    )
    page.evaluate("view.seek(116)")
    expect(part(page, "continuous", ".words")).to_have_text("Done: all 9 requests finished by iteration 88.")
    expect(part(page, "static", ".words")).to_contain_text(
        "h finished, the last of the batch: both seats and 12 pages are released."
    )


def test_preemption_and_chunks_are_said_and_marked(open_page: Open) -> None:
    page = open_page("starved")
    jump = side(page, "continuous").get_by_role("button", name="preempts")
    jump.click()
    expect(part(page, "continuous", ".words")).to_contain_text(
        "f was preempted: it gives up its 7 pages and waits again."
    )
    expect(part(page, "continuous", ".queue")).to_contain_text("nobody enters in an iteration that preempts")
    assert part(page, "continuous", ".timeline .preempted").count() == 2
    assert part(page, "continuous", '.stay[data-r="5"]').count() == 2, "f sits twice"

    page = open_page("chunked")
    page.evaluate("view.seek(1)")
    expect(part(page, "continuous", ".words")).to_contain_text("a took seat 1, prefilled 24 of 33 tokens.")
    expect(part(page, "continuous", ".queue")).to_contain_text("b waits: tokens, the budget of 24 is spent")
    page.evaluate("view.seek(2)")
    expect(part(page, "continuous", ".words")).to_contain_text("a prefilled 9 more tokens and emitted a token.")


def test_rejected_requests_are_listed_with_reasons(open_page: Open) -> None:
    page = open_page("short")
    rejected = side(page, "continuous").get_by_role("list", name="Rejected requests")
    expect(rejected).to_contain_text("f rejected: it needs 10 pages, the pool has 9")


# ---- figures -----------------------------------------------------------------------------------------------------


def test_cards_have_the_exact_figures_the_rule_and_the_difference(open_page: Open) -> None:
    page = open_page()
    document = payload(COURSE)["replay"]
    for policy, run in document["policies"].items():
        for name in ("iterations", "utilization", "wait_p95", "latency_mean", "peak_pages", "occupancy"):
            value = side(page, policy).locator(f"[data-metric={name}]").get_attribute("data-value")
            assert float(value) == run["metrics"][name], (policy, name)
    card = part(page, "continuous", "[data-metric=utilization]")
    expect(card.locator(".value")).to_have_text("86 %")
    expect(card.locator(".delta")).to_have_text("+25 pts better")
    expect(part(page, "continuous", "[data-metric=iterations] .delta")).to_have_text("−28 better")
    expect(part(page, "continuous", ".results .rule")).to_contain_text(
        "212 tokens ÷ (3 seats × 82 busy iterations); over all 88 it would be 80 %"
    )
    expect(part(page, "static", ".results .rule")).to_contain_text("the 8th of 9 waits in order; the largest is 42")
    part(page, "static", "[data-metric=peak_pages]").focus()
    expect(part(page, "continuous", ".results .rule")).to_contain_text(
        "Peak pages: the most held while one iteration runs, of 32"
    )


# ---- moving ------------------------------------------------------------------------------------------------------


def test_keyboard(open_page: Open) -> None:
    page = open_page()
    scrubber(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert at(page) == 3
    page.keyboard.press("ArrowLeft")
    assert at(page) == 2
    page.keyboard.press("Shift+ArrowRight")
    assert at(page) == 9, "e arrives"
    page.keyboard.press("Shift+ArrowLeft")
    assert at(page) == 1
    page.keyboard.press("End")
    assert at(page) == 116
    page.keyboard.press("Home")
    assert at(page) == 1
    page.keyboard.press("Space")
    assert page.evaluate("view.playing")
    page.keyboard.press("Space")
    assert not page.evaluate("view.playing")
    assert scrubber(page).get_attribute("aria-valuetext").startswith(f"iteration {at(page)} of 116: Static: ")


def test_keys_in_a_field_do_not_move_the_replay(open_page: Open) -> None:
    page = open_page(guess=True)
    field = page.get_by_label("by how many iterations")
    field.fill("20")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert at(page) == 1


def test_space_presses_the_button_that_the_keyboard_reached(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Next event").focus()
    page.keyboard.press("Space")
    assert at(page) == 9
    assert not page.evaluate("view.playing")
    page.get_by_role("button", name="Next event").click()
    page.keyboard.press("Space")
    assert page.evaluate("view.playing"), "a button that was only clicked does not keep Space from Play"


def test_milestones_come_from_the_rows(open_page: Open) -> None:
    page = open_page()

    def stones(policy: str) -> list[str]:
        return [text.replace("\n", " ") for text in part(page, policy, ".milestones button").all_inner_texts()]

    assert [text.split()[0] for text in stones("static")] == ["1", "14", "18", "19"]
    assert [text.split()[0] for text in stones("continuous")] == ["1", "14", "15"]
    side(page, "static").get_by_role("button", name="18 drain").click()
    assert at(page) == 18
    expect(part(page, "static", ".words")).to_contain_text("all 3 seats and 13 pages are released")


def test_next_event_visits_every_change_on_either_side(open_page: Open) -> None:
    page = open_page()
    document = payload(COURSE)["replay"]
    wanted = set()
    for run in document["policies"].values():
        rows = [row for row in run["rows"] if "iteration" in row]
        gates = {row["iteration"]: row["gate"] for row in rows}
        for row in rows:
            happened = any(row[name] for name in ("arrived", "admitted", "completed", "preempted"))
            if happened or row["gate"] != gates.get(row["iteration"] - 1):
                wanted.add(row["iteration"])
    seen = {1}
    button = page.get_by_role("button", name="Next event")
    for _ in wanted:
        button.click()
        seen.add(at(page))
    assert wanted <= seen
    assert at(page) == 116


def test_a_press_on_one_timeline_moves_both_sides(open_page: Open) -> None:
    page = open_page()
    box = part(page, "static", ".timeline").bounding_box()
    x = box["x"] + 44 + (box["width"] - 52) * (59.5 / 116)
    page.mouse.move(x, box["y"] + box["height"] - 30)
    page.mouse.down()
    assert at(page) == 60
    page.mouse.move(x + 100, box["y"] + box["height"] - 30, steps=3)
    page.mouse.up()
    assert at(page) > 70
    for policy in ("static", "continuous"):
        expect(part(page, policy, ".flag")).to_have_text(str(at(page)))


def test_events_tell_the_page_where_the_replay_is(open_page: Open) -> None:
    page = open_page()
    page.evaluate("heard.length = 0")
    page.evaluate("view.seek(15.4)")
    assert page.evaluate("heard") == [["lab-iteration", {"iteration": 15, "last": 116, "reason": "seek"}]]
    page.evaluate("view.seek(1e9)")
    assert at(page) == 116


def test_play_runs_to_the_end_and_stops(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.seek(100)")
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Play again from the start")).to_be_visible()
    assert at(page) == 116
    turned = [detail["iteration"] for name, detail in page.evaluate("heard") if detail.get("reason") == "play"]
    assert turned == sorted(turned)
    assert turned[-1] == 116


def test_play_without_motion_still_plays(open_page: Open) -> None:
    page = open_page(reduced_motion="reduce")
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => view.iteration > 10")
    assert page.evaluate("Number.isInteger(view.clock.position)")


# ---- the guess ---------------------------------------------------------------------------------------------------


def test_guess_veils_the_results_until_the_run_has_been_seen(open_page: Open) -> None:
    page = open_page(guess=True)
    card = part(page, "continuous", "[data-metric=iterations]")
    expect(card.locator(".value")).to_have_attribute("aria-hidden", "true")
    expect(card).to_contain_text("hidden until you have seen the run to its end")
    height = page.locator(".guess").bounding_box()["height"]
    page.get_by_role("radio", name="Continuous").check()
    page.get_by_label("by how many iterations").fill("20")
    page.get_by_role("button", name="Lock in my guess").click()
    expect(page.locator(".guess")).to_contain_text("Your guess: continuous by 20.")
    page.evaluate("view.seek(88)")
    expect(card.locator(".value")).not_to_have_attribute("aria-hidden", "true")
    expect(part(page, "static", "[data-metric=iterations] .value")).to_have_attribute("aria-hidden", "true")
    expect(card.locator(".delta")).to_have_text("")
    expect(page.locator(".guess")).to_contain_text("Continuous is done in iteration 88; static still runs.")
    page.evaluate("view.seek(116)")
    expect(page.locator(".guess")).to_contain_text(
        "Continuous finishes 28 iterations sooner: 88 against 116. You guessed continuous by 20; it was 28."
    )
    expect(card.locator(".delta")).to_have_text("−28 better")
    assert page.locator(".guess").bounding_box()["height"] == height, "nothing jumps when the guess goes"
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    expect(page.locator(".guess")).to_contain_text("You guessed continuous by 20; it was 28.")
    expect(card.locator(".value")).not_to_have_attribute("aria-hidden", "true")


def test_skip_shows_the_results_and_guessing_again_hides_them(open_page: Open) -> None:
    page = open_page(guess=True)
    value = part(page, "static", "[data-metric=wait_p95] .value")
    page.get_by_role("button", name="Skip").click()
    expect(value).not_to_have_attribute("aria-hidden", "true")
    expect(page.locator(".guess")).to_contain_text("Continuous finishes 28 iterations sooner")
    page.keyboard.press("Space")
    assert page.evaluate("view.playing"), "Space plays; the button that took Skip's place does not take it"
    page.get_by_role("button", name="Guess again").click()
    expect(value).to_have_attribute("aria-hidden", "true")


def test_other_limits_end_the_guessing(open_page: Open) -> None:
    page = open_page(guess=True)
    page.evaluate("load('course').then((payload) => view.show(payload))")
    value = part(page, "static", "[data-metric=wait_p95] .value")
    expect(value).to_have_attribute("aria-hidden", "true")
    page.evaluate("load('starved').then((payload) => view.show(payload))")
    expect(value).not_to_have_attribute("aria-hidden", "true")


def test_blocked_storage_is_no_obstacle(open_page: Open, browser: Browser, site: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    blocked = "{get() { throw new DOMException('no', 'SecurityError'); }}"
    page.add_init_script(f"Object.defineProperty(window, 'localStorage', {blocked})")
    page.goto(f"{site}?key=guess")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.get_by_role("button", name="Skip").click()
    expect(page.locator(".guess")).to_contain_text("88 against 116")
    context.close()


# ---- one request everywhere --------------------------------------------------------------------------------------


def _opacity(page: Page, selector: str) -> float:
    return float(page.evaluate("(s) => getComputedStyle(document.querySelector(s)).opacity", selector))


def test_a_request_lights_everywhere_on_both_sides(open_page: Open) -> None:
    page = open_page(reduced_motion="reduce")
    page.evaluate("view.seek(15)")
    page.get_by_role("group", name="Requests").get_by_role("button", name="request d").hover()
    page.wait_for_function("() => document.querySelector('#replay').dataset.lit === 'd'")
    for policy in ("static", "continuous"):
        scope = f".side[data-policy={policy}]"
        assert _opacity(page, f'{scope} .stay[data-r="3"]') == 1
        assert _opacity(page, f'{scope} .stay[data-r="0"]') < 0.5
        assert _opacity(page, f'{scope} .page[data-r="1"]') < 0.5
    assert _opacity(page, '.side[data-policy=continuous] .page[data-r="3"]') == 1
    expect(part(page, "continuous", ".request-panel")).to_contain_text(
        "d: 49 tokens on 4 pages [13, 14, 15, 16]; last page 1 of 16 slots used"
    )
    expect(part(page, "continuous", ".request-panel")).to_contain_text("arrival 0 · wait 14 · start 15 · finish 34")
    expect(part(page, "static", ".request-panel")).to_contain_text("d waits at the head of the queue")
    assert ["lab-highlight", {"id": "d"}] in page.evaluate("heard")


def test_a_click_pins_and_escape_lets_go(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.seek(15)")
    part(page, "continuous", ".page[data-r='3']").first.click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(150)
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "d"
    page.evaluate("load('starved').then((payload) => view.show(payload))")
    page.wait_for_function("() => view.last === 126")
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "d", "the pin outlives a new replay"
    scrubber(page).focus()
    page.keyboard.press("Escape")
    assert page.evaluate("document.querySelector('#replay').dataset.lit === undefined")


def test_a_press_on_a_bar_pins_its_request_and_a_press_beside_it_lets_go(open_page: Open) -> None:
    page = open_page()
    box = part(page, "continuous", '.stay[data-r="5"] .decode').bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(5, 5)
    page.wait_for_timeout(150)
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "f"
    assert 25 < at(page) < 78
    timeline = part(page, "continuous", ".timeline").bounding_box()
    page.mouse.click(timeline["x"] + timeline["width"] - 20, timeline["y"] + 8)
    page.mouse.move(5, 5)
    page.wait_for_timeout(150)
    assert page.evaluate("document.querySelector('#replay').dataset.lit === undefined")


def test_entering_a_chart_does_not_undo_what_the_chart_lights(open_page: Open) -> None:
    page = open_page()
    page.evaluate("document.querySelectorAll('.chart-standin').forEach((node) => node.remove())")
    part(page, "static", ".chart-slot").hover()
    page.evaluate("view.highlight('g')")
    page.wait_for_timeout(150)
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "g"


def test_focus_lights_a_request(open_page: Open) -> None:
    page = open_page()
    page.get_by_label("Speed").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "a"
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "b"


def test_highlight_from_a_chart_is_as_a_pointer_does(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.highlight('h')")
    assert page.evaluate("document.querySelector('#replay').dataset.lit") == "h"
    page.evaluate("view.highlight(null)")
    assert page.evaluate("document.querySelector('#replay').dataset.lit === undefined")
    page.evaluate("view.highlight('no such request')")
    assert page.evaluate("document.querySelector('#replay').dataset.lit === undefined")


# ---- other documents ---------------------------------------------------------------------------------------------


def test_two_quick_shows_reuse_the_elements_and_keep_the_iteration(open_page: Open) -> None:
    page = open_page()
    page.evaluate("view.seek(100)")
    gone = page.evaluate(
        """async () => {
          const [starved, course] = [await load("starved"), await load("course")];
          const before = [...document.querySelectorAll(
            ".side, .chart-slot, .cards *, .transport button, .strip *, .page")];
          view.show(starved);
          view.show(course);
          const gone = before.filter((node) => !node.isConnected);
          return gone.map((node) => node.closest(".page")?.className ?? node.outerHTML);
        }"""
    )
    # Between the two, the pool shrank to 14 pages and grew to 32 again.
    assert len(gone) == 2 * 18 and all(name.startswith("page") for name in gone)
    assert at(page) == 100
    assert page.locator(".side").count() == 2
    assert page.locator(".chart-slot").count() == 2
    same = page.evaluate(
        """async () => {
          const course = await load("course");
          const before = [...document.querySelectorAll(".replay *")];
          view.show(course);
          view.show(await load("course"));
          return before.filter((node) => !node.isConnected).map((node) => node.outerHTML);
        }"""
    )
    assert same == []


def test_a_shorter_run_clamps_the_iteration(open_page: Open) -> None:
    page = open_page("starved")
    page.evaluate("view.seek(126)")
    page.evaluate("load('course').then((payload) => view.show(payload))")
    page.wait_for_function("() => view.last === 116")
    assert at(page) == 116


def test_hostile_ids_are_text(open_page: Open) -> None:
    page = open_page("hostile")
    page.evaluate("view.seek(15)")
    page.locator("details.data summary").first.click()
    page.locator("details.data summary").last.click()
    page.get_by_role("group", name="Requests").get_by_role("button").first.hover()
    page.wait_for_timeout(150)
    assert page.locator("#replay img, #replay script, #replay b b").count() == 0
    assert page.evaluate("window.pwned") is None
    expect(page.locator("details.data").last).to_contain_text(HOSTILE[0][:8])
    expect(part(page, "static", ".words")).to_contain_text("constructor and __proto__ decoded one token each.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("document", ["empty", "nothing"])
def test_an_empty_replay_says_so(open_page: Open, document: str) -> None:
    page = open_page(document, guess=True)
    expect(part(page, "static", ".words")).to_contain_text("Nothing to replay")
    expect(part(page, "static", "[data-metric=utilization] .value")).to_have_text("0 %")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Next event").click()
    assert at(page) == 1
    assert "NaN" not in page.locator("#replay").inner_html()


def test_a_hundred_requests_on_sixteen_seats(open_page: Open) -> None:
    page = open_page("many")
    page.evaluate("view.seek(view.last >> 1)")
    assert page.locator(".legend .chip").count() == 100
    assert part(page, "continuous", ".page").count() == 512
    assert "NaN" not in page.locator("#replay").inner_html()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_third_policy_gets_a_side_of_its_own(open_page: Open) -> None:
    page = open_page("third", guess=True)
    assert page.locator(".side").count() == 3
    expect(part(page, "mine", "h3")).to_have_text("Mine")
    assert page.locator(".guess input[type=radio]").count() == 4
    page.evaluate("load('course').then((payload) => view.show(payload))")
    expect(page.locator(".side")).to_have_count(2)


def test_tables_hold_the_same_data_and_jump(open_page: Open) -> None:
    page = open_page()
    page.get_by_text("This iteration and all others as a table").click()
    row = page.locator("details.data").first.locator("tbody tr").nth(14)
    expect(row).to_contain_text("b c")
    expect(row).to_contain_text("batch")
    page.get_by_role("button", name="Go to iteration 15", exact=True).click()
    assert at(page) == 15
    expect(row).to_have_attribute("aria-current", "true")
    page.get_by_text("All requests as a table").click()
    cells = page.locator("details.data").last.locator("tbody tr").nth(3).locator("th, td").all_inner_texts()
    assert cells == ["d", "0", "48", "20", "19", "38", "18", "38", "0", "15", "34", "14", "34", "0"]


# ---- screens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 360, 768])
def test_phone_stacks_without_a_horizontal_scroll(open_page: Open, width: int) -> None:
    page = open_page(width=width, guess=True, has_touch=True)
    page.evaluate("view.seek(60)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    static, continuous = (side(page, name).bounding_box() for name in ("static", "continuous"))
    assert continuous["y"] >= static["y"] + static["height"]
    for button in page.locator(".transport button, .milestones button, .legend button, .face.shown button").all():
        box = button.bounding_box()
        assert box["width"] >= 40 and box["height"] >= 40, button.inner_text()


def test_the_chart_slot_lines_up_with_the_timeline(open_page: Open) -> None:
    page = open_page()
    for policy in ("static", "continuous"):
        slot = part(page, policy, ".chart-slot").bounding_box()
        timeline = part(page, policy, ".timeline").bounding_box()
        assert slot["x"] == timeline["x"]
        assert abs(slot["width"] - timeline["width"]) < 1
        assert slot["height"] == 150


def test_nothing_jumps_while_playing(open_page: Open) -> None:
    page = open_page("starved")
    tops = page.evaluate(
        """() => {
          const top = (node) => Math.round(node.getBoundingClientRect().top + scrollY);
          const parts = () => [...document.querySelectorAll(".side > *, .tables")].map(top);
          const all = new Set();
          for (let t = 1; t <= view.last; t++) { view.seek(t); all.add(parts().join()); }
          return [...all];
        }"""
    )
    assert len(tops) == 1


def test_frames_while_playing_are_told(open_page: Open, capsys: pytest.CaptureFixture[str]) -> None:
    page = open_page()
    frames = page.evaluate(
        """async () => {
          let frames = 0;
          let counting = true;
          const tick = () => { frames++; if (counting) requestAnimationFrame(tick); };
          view.clock.speed = 8;
          view.play();
          requestAnimationFrame(tick);
          await new Promise((resolve) => setTimeout(resolve, 1000));
          counting = false;
          return frames;
        }"""
    )
    with capsys.disabled():
        print(f"\n{frames} frames in the first second of play at 8×")
    assert at(page) > 1
