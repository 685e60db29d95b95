"""The whole lab in real Chromium: what a visitor sees, does, and can rely on."""

import functools
import json
import os
import re
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from lab_page import START, LabPage, assert_axe_finds_nothing, assert_same_figures, command_line, opened, profile
from lab_server import LabServer
from playwright.sync_api import Error, expect
from recorder import Recorder

from lab import core

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def said(lab: LabPage, policy: str) -> str:
    """What a side says of this iteration, on one line."""
    return " ".join(lab.side(policy).locator(".words").inner_text().split())


# ---- the course replay ---------------------------------------------------------------------------------------------


def test_the_course_replay_is_there_before_python(browser, server, capsys):
    with opened(browser) as lab:
        lab.page.route("**/*.wasm", lambda route: None)  # Python never gets any further
        lab.open(server.url, ready=False)
        lab.reveal()
        assert_same_figures(lab, command_line(capsys))
        static, continuous = lab.metrics("static"), lab.metrics("continuous")
        assert (static["iterations"], continuous["iterations"]) == (116, 88)
        expect(lab.side("static").locator("[data-metric=utilization]")).to_contain_text("61")
        expect(lab.side("continuous").locator("[data-metric=utilization]")).to_contain_text("86")
        assert (static["wait_p95"], continuous["wait_p95"]) == (19, 7)
        lab.seek(15)
        expect(lab.side("continuous").locator(".words")).to_contain_text("took seat 1")
        expect(lab.field("Seats")).to_have_value("3")  # drawn as they will be
        expect(lab.side("static").locator(".chart-slot > .live")).to_be_visible()
        assert lab.page.get_attribute("html", "data-python") == "starting"
        expect(lab.page.locator("#slot-controls")).to_have_attribute("inert", "")


def test_what_happens_at_14_and_15_is_said_in_words(browser, server):
    with opened(browser) as lab:
        lab.open(server.url, ready=False)
        lab.seek(14)
        assert "a finished: its 3 pages are released" in said(lab, "continuous")
        assert "a finished, but keeps seat 1 and 3 pages" in said(lab, "static")
        lab.seek(15)
        assert "d took seat 1" in said(lab, "continuous")
        assert "a finished earlier and still holds seat 1" in said(lab, "static")
        expect(lab.side("static")).to_contain_text("d waits: batch, membership is fixed")


def test_the_keyboard_moves_both_sides(browser, server):
    with opened(browser) as lab:
        lab.open(server.url, ready=False)
        slider = lab.page.locator("#experiment input[type=range]").first
        lab.page.locator("#experiment").focus()
        for key, expected in [
            ("ArrowRight", "2"),
            ("ArrowRight", "3"),
            ("ArrowLeft", "2"),
            ("End", "116"),
            ("Home", "1"),
        ]:
            lab.page.keyboard.press(key)
            expect(slider).to_have_value(expected)


# ---- Python ----------------------------------------------------------------------------------------------------------


def test_limits_change_both_sides_to_what_the_command_line_prints(browser, server, capsys):
    with opened(browser) as lab:
        lab.open(server.url)
        lab.reveal()
        expected = command_line(capsys, "--max-num-seqs", "4")
        lab.set("Seats", "4")
        assert_same_figures(lab, expected, wait=20)
        expected = command_line(capsys, "--max-num-seqs", "4", "--num-pages", "14")
        lab.set("Pages", "14")
        assert_same_figures(lab, expected, wait=20)
        expected = command_line(
            capsys, "--max-num-seqs", "4", "--num-pages", "14", "--max-num-batched-tokens", "32", "--chunked-prefill"
        )
        lab.page.locator("#slot-controls").get_by_text("Chunked prefill").click()
        lab.set("Token budget", "32")
        assert_same_figures(lab, expected, wait=20)
        lab.page.locator("#slot-controls").get_by_role("button", name="Reset limits").click()
        assert_same_figures(lab, command_line(capsys), wait=20)
        lab.page.wait_for_url(server.url)  # nothing differs from the trace any more
        # What the worker's Python says of itself; CI has the toolchain, and requires it.
        compiled = os.environ.get(core.ASKED) == core.COMPILED
        cores = "compiled to WebAssembly" if compiled else "(compiled to WebAssembly|pure Python)"
        expect(lab.page.locator("#core")).to_have_text(re.compile(f"^Core: {cores}\\.$"))
        assert lab.troubles == []


def test_a_bad_limit_is_told_beside_it_and_the_picture_stays(browser, server, capsys):
    printed = command_line(capsys)
    with opened(browser) as lab:
        lab.open(server.url)
        lab.reveal()
        note = lab.page.locator("#slot-controls [role=alert]")
        for label, value, good, says in (
            ("Seats", "0", "3", "at least 1"),
            ("Pages", "-5", "32", "at least 1"),
            ("Pages", "5000", "32", "4096"),
            ("Tokens a page", "", "16", "write a whole number"),
            ("Token budget", "2", "", "max_num_seqs"),
        ):
            lab.set(label, value)
            expect(note).to_contain_text(says)
            field, sentence = lab.field(label).bounding_box(), note.bounding_box()
            assert 0 <= sentence["y"] - (field["y"] + field["height"]) < 30
            assert abs(sentence["x"] - field["x"]) < 10
            assert_same_figures(lab, printed)
            lab.set(label, good)
            expect(note).to_have_count(0)
        assert lab.troubles == []


def test_a_link_restores_what_was_on_the_screen(browser, server, capsys):
    with opened(browser) as lab:
        lab.open(server.url)
        lab.set("Pages", "15")
        lab.seek(40)
        lab.page.wait_for_url("**#num_pages=15&iteration=40")
        link = lab.page.url
    assert "num_pages=15" in link
    with opened(browser) as other:
        other.open(link)
        other.reveal()
        expected = command_line(capsys, "--num-pages", "15")
        assert_same_figures(other, expected, wait=20)
        expect(other.page.locator("#experiment input[type=range]").first).to_have_value("40")
        expect(other.field("Pages")).to_have_value("15")


def test_changing_the_link_in_place_changes_the_replay(browser, server, capsys):
    with opened(browser) as lab:
        lab.open(server.url)
        lab.reveal()
        lab.page.get_by_role("link", name="a pool that runs dry").click()
        expected = command_line(capsys, "--num-pages", "14")
        assert_same_figures(lab, expected, wait=20)


def test_what_is_asked_while_python_starts_is_done_when_it_is_ready(browser, server, capsys):
    """Links followed, results of a failed start, and where the learner has got meanwhile are all kept."""
    with opened(browser) as lab:
        lab.page.route("**/*.wasm", lambda route: route.abort())
        lab.open(f"{server.url}#num_pages=15&iteration=20", ready=False)
        lab.page.wait_for_selector("html[data-python=failed]", timeout=START)
        lab.page.wait_for_timeout(500)
        assert "num_pages=15" in lab.page.url  # still there for a reload
        lab.page.get_by_role("link", name="a pool that runs dry").click()
        expect(lab.page.locator("#notice-opening")).to_be_visible()
        lab.seek(33)
        lab.page.unroute("**/*.wasm")
        lab.page.get_by_role("button", name="Try again").click()
        lab.wait_ready()
        assert_same_figures(lab, command_line(capsys, "--num-pages", "14"), wait=20)
        expect(lab.field("Pages")).to_have_value("14")
        expect(lab.page.locator("#experiment input[type=range]").first).to_have_value("33")  # nothing jumped
        expect(lab.page.get_by_text("Guess before you play")).to_be_visible()  # a link does not guess for its reader
        lab.page.wait_for_url("**#num_pages=14&iteration=33")


def test_back_undoes_a_link(browser, server, capsys):
    with opened(browser) as lab:
        lab.open(server.url)
        lab.page.get_by_role("link", name="a fourth seat").click()
        assert_same_figures(lab, command_line(capsys, "--max-num-seqs", "4"), wait=20)
        lab.page.go_back()
        assert_same_figures(lab, command_line(capsys), wait=20)
        expect(lab.field("Seats")).to_have_value("3")


DAMAGED = (
    ("num_pages=abc", "no whole number"),
    ("num_pages=1&num_pages=2", "twice"),
    ("colour=red", "does not know"),
    ("num_pages=%3Cimg%20src=x%3E", "damaged"),
    ("num_pages=" + "9" * 3000, "too long"),
    ("num_pages=0", "at least 1"),
    ("num_pages=9007199254740991", "more than the page draws"),
    ("max_num_batched_tokens=1", "max_num_batched_tokens"),
)


def test_a_damaged_link_is_refused_and_the_course_replay_stays(browser, server, capsys):
    printed = command_line(capsys)
    with opened(browser) as lab:
        lab.open(f"{server.url}#{DAMAGED[0][0]}")
        lab.reveal()
        for fragment, says in DAMAGED:
            lab.page.evaluate("(hash) => { location.hash = hash; }", fragment)
            expect(lab.page.locator("#notice-link")).to_contain_text(says)
            assert_same_figures(lab, printed)
        assert lab.troubles == []


@pytest.mark.parametrize("fragment", ["num_pages=0", "num_pages=abc"])
def test_a_damaged_link_is_refused_when_it_is_what_was_opened(browser, server, fragment):
    with opened(browser) as lab:
        lab.open(f"{server.url}#{fragment}")
        expect(lab.page.locator("#notice-link")).to_contain_text(dict(DAMAGED)[fragment])
        assert lab.troubles == []


# ---- what can be relied on -------------------------------------------------------------------------------------------


def test_nothing_but_the_origin_is_ever_asked(browser, server):
    """Below the page: the browser's only way out is a proxy that hears of every request, workers' included."""
    with Recorder(server.origin) as recorder:
        with opened(browser, offline=True, proxy={"server": recorder.url, "bypass": "<-loopback>"}) as lab:
            lab.open(server.url)
            lab.page.wait_for_selector("html[data-offline=ready]", timeout=START)
            lab.set("Seats", "4")
            lab.seek(30)
            lab.page.wait_for_timeout(500)
            assert lab.troubles == []
        assert recorder.elsewhere() == []
        strange = [heard for heard in recorder.heard if heard.status not in (200, 304)]
        assert strange == []
        assert all(heard.method in ("GET", "HEAD") and not heard.cookies for heard in recorder.heard)
        paths = [heard.url.split(server.origin, 1)[1] for heard in recorder.heard]
        assert any(path.endswith(".wasm") for path in paths)
        files = {f"/{entry}" for entry in json.loads((server.site / "site.json").read_text())["files"]}
        assert set(paths) <= {"/", "/api/cuda", *files}, set(paths) - files
        assert paths.count("/api/cuda") == 1  # this server offers replays on a GPU; from others nothing is asked
        hashed = [path for path in paths if path.count("/") > 1]
        twice = {path for path in hashed if hashed.count(path) > 1}
        assert twice == set(), "fetched twice"


def test_a_second_visit_works_with_the_server_stopped(browser, site, capsys):
    server = LabServer(site)
    server.start()
    try:
        with opened(browser, offline=True) as lab:
            lab.open(server.url)
            lab.page.wait_for_selector("html[data-offline=ready]", timeout=START)
            server.stop()
            lab.page.goto(server.url + "#num_pages=14")
            lab.page.reload()
            lab.wait_ready()
            lab.reveal()
            expected = command_line(capsys, "--num-pages", "14")
            assert_same_figures(lab, expected, wait=20)
    finally:
        server.stop()


def test_a_blocked_wasm_file_is_told_and_can_be_tried_again(browser, server):
    with opened(browser) as lab:
        lab.page.route("**/*.wasm", lambda route: route.abort())
        lab.open(server.url, ready=False)
        lab.page.wait_for_selector("html[data-python=failed]", timeout=START)
        expect(lab.page.locator("#status-text")).to_contain_text("pyodide.asm.wasm")
        expect(lab.page.get_by_role("heading", name="Evidence and limits")).to_be_visible()
        lab.seek(15)
        expect(lab.side("continuous")).to_contain_text("seat 1")
        lab.page.unroute("**/*.wasm")
        lab.page.get_by_role("button", name="Try again").click()
        lab.wait_ready()
        expect(lab.page.get_by_role("button", name="Try again")).to_be_hidden()


def test_whatever_does_not_load_is_named_and_can_be_tried_again(browser, server):
    with opened(browser) as lab:
        refuse = lambda route: route.fulfill(status=503)  # noqa: E731
        for name in ("worker.js", "app.zip", "pyodide.asm.js", "stdlib.zip", "start.zip"):
            if name == "stdlib.zip":  # from here on what is fetched only without the snapshot
                lab.page.route("**/snapshot-1.bin", refuse)
            lab.page.route(f"**/{name}", refuse)
            lab.page.goto(server.url)
            lab.page.wait_for_selector("html[data-python=failed]", timeout=START)
            expect(lab.page.locator("#status-text")).to_contain_text(name)
            lab.page.unroute(f"**/{name}")
        lab.page.get_by_role("button", name="Try again").click()
        lab.wait_ready()


def test_controls_that_cannot_be_drawn_are_told_too(browser, server):
    with opened(browser) as lab:
        lab.page.route("**/bokeh.min.js", lambda route: route.fulfill(status=503))
        lab.open(server.url, ready=False)
        lab.page.wait_for_selector("html[data-python=failed]", timeout=START)
        expect(lab.page.locator("#status-text")).to_contain_text("bokeh.min.js")
        lab.page.unroute("**/bokeh.min.js")
        lab.page.get_by_role("button", name="Try again").click()
        lab.wait_ready()


def test_it_works_below_a_path(browser, site, capsys):
    with LabServer(site, "--prefix", "/some/path/") as server, opened(browser, offline=True) as lab:
        assert server.url.endswith("/some/path/")
        lab.open(server.url)
        lab.reveal()
        assert_same_figures(lab, command_line(capsys))
        lab.page.wait_for_selector("html[data-offline=ready]", timeout=START)
        server.stop()
        lab.page.reload()
        lab.wait_ready()
        assert [t for t in lab.troubles if "ERR_CONNECTION_REFUSED" not in t and "Failed to load" not in t] == []


def test_two_tabs_do_not_disturb_each_other(browser, server, capsys):
    context = profile(browser)
    try:
        one, two = LabPage(context.new_page()).open(server.url), LabPage(context.new_page()).open(server.url)
        one.set("Seats", "4")
        one.wait_metric(
            "continuous",
            "iterations",
            command_line(capsys, "--max-num-seqs", "4")["policies"]["continuous"]["iterations"],
        )
        assert two.metrics("continuous")["iterations"] == 88
        assert one.troubles == two.troubles == []
    finally:
        context.close()


def test_storage_denied_is_no_obstacle(browser, server):
    with opened(browser) as lab:
        lab.page.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
        )
        lab.open(server.url)
        lab.page.locator("#theme").click()
        lab.reveal()
        assert lab.metrics("static")["iterations"] == 116
        assert lab.troubles == []


@pytest.mark.parametrize("allowed", [True, False])
def test_a_frame_shows_it_only_where_the_builder_allows(browser, site, tmp_path, allowed):
    (tmp_path / "course").mkdir()
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "course"))
    outer = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=outer.serve_forever, daemon=True).start()
    origin = f"http://localhost:{outer.server_port}"  # another origin than 127.0.0.1
    live = tmp_path / "live"
    shutil.copytree(site, live)
    facts = json.loads((live / "site.json").read_text())
    facts["frame_ancestors"] = [origin] if allowed else ["https://elsewhere.example"]
    (live / "site.json").write_text(json.dumps(facts))
    try:
        with LabServer(live) as server, opened(browser) as lab:
            (tmp_path / "course" / "index.html").write_text(f'<iframe src="{server.url}" width="1200" height="900">')
            lab.page.goto(origin)
            frame = lab.page.frame_locator("iframe")
            if allowed:
                expect(frame.locator(".side")).to_have_count(2)
                frame.locator("html[data-python=ready]").wait_for(timeout=START)
            else:
                lab.page.wait_for_timeout(1500)
                expect(frame.locator(".side")).to_have_count(0)
                assert any("frame-ancestors" in trouble for trouble in lab.troubles)
    finally:
        outer.shutdown()
        outer.server_close()


# ---- how it looks ----------------------------------------------------------------------------------------------------


def test_nothing_jumps_from_the_first_paint_until_python_is_ready(browser, server):
    """Chromium's own measure: the sum of layout shifts, where 0.1 is what it calls good."""
    watch = """window.shifts = []; new PerformanceObserver((list) => {
        for (const e of list.getEntries()) if (!e.hadRecentInput)
            shifts.push([e.value, e.sources.map((s) => s.node?.id || s.node?.className || String(s.node))]);
    }).observe({type: "layout-shift", buffered: true});"""
    for width, height in ((1280, 900), (360, 740)):
        with opened(browser, viewport={"width": width, "height": height}) as lab:
            lab.page.add_init_script(watch)
            lab.open(server.url)
            lab.page.wait_for_timeout(500)
            shifts = lab.page.evaluate("() => window.shifts")
            assert sum(value for value, _ in shifts) < 0.01, (width, shifts)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_horizontal_scroll_on_a_phone(browser, server, scheme):
    with opened(browser, viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True) as lab:
        lab.open(server.url)
        for iteration in (1, 15, 60, 116):
            lab.seek(iteration)
            width = lab.page.evaluate("() => document.documentElement.scrollWidth")
            assert width <= 360
        first, second = lab.page.evaluate(
            "() => [...document.querySelectorAll('.side')].map((side) => side.getBoundingClientRect().toJSON())"
        )
        assert second["top"] >= first["bottom"]  # stacked
        for icon in lab.page.locator("#slot-controls .bk-description").all():
            icon.tap()
            bubble = lab.page.locator("body > [popover]")
            expect(bubble).to_have_count(1)
            box = bubble.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 360, box
            assert box["y"] >= 0 and box["y"] + box["height"] <= 740, box
            bubble.locator(".bk-close").tap()


def test_the_chart_stands_under_the_timeline_on_the_same_axis(browser, server):
    with opened(browser) as lab:
        lab.open(server.url)
        expect(lab.page.locator(".chart-standin")).to_have_count(0)
        for policy in ("static", "continuous"):
            assert lab.page.locator(f".chart-slot[data-policy={policy}] canvas").count() >= 1


def test_axe_finds_nothing_to_complain_of(browser, server, node_package):
    """Deque's axe-core, the usual checker of accessibility rules, on the page as it is once Python is ready."""
    axe = (node_package("axe-core@4.14.1") / "axe.min.js").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        with opened(browser, color_scheme=scheme, bypass_csp=True) as lab:
            lab.open(server.url)
            lab.seek(15)
            lab.page.evaluate(f"() => {{ {axe} }}")
            assert_axe_finds_nothing(lab.page, scheme)


# ---- a new version ---------------------------------------------------------------------------------------------------


def test_a_new_version_waits_until_it_is_wanted(browser, site, second_site, tmp_path):
    """The page in use stays as it is; files of the two versions are never mixed; work is not reloaded away."""
    live = tmp_path / "live"
    shutil.copytree(site, live)
    first = json.loads((site / "site.json").read_text())["version"]
    second = json.loads((second_site / "site.json").read_text())["version"]
    assert first != second
    with LabServer(live) as server, opened(browser, offline=True) as lab:
        lab.open(server.url)
        lab.page.wait_for_selector("html[data-offline=ready]", timeout=START)
        lab.set("Pages", "15")
        server.stop()
        shutil.rmtree(live)
        shutil.copytree(second_site, live)
        server.start()
        asked: list[str] = []
        lab.page.on("request", lambda request: asked.append(request.url))
        lab.page.evaluate(
            "async () => { const r = await navigator.serviceWorker.getRegistration(); await r.update(); }"
        )
        expect(lab.page.locator("#notice-update")).to_be_visible(timeout=START)
        expect(lab.field("Pages")).to_have_value("15")  # nothing was reloaded
        assert lab.page.evaluate(
            "() => JSON.parse(document.getElementById('site-config').textContent).version"
        ) == version_of(site)
        lab.page.reload()  # without having agreed: still the first version, whole
        lab.wait_ready()
        assert page_text(lab) == (site / "index.html").read_text(encoding="utf-8")
        expect(lab.page.locator("#notice-update")).to_be_visible(timeout=START)
        with lab.page.expect_navigation():  # what is ready until then is still the first version
            lab.page.get_by_role("button", name="Use the new version").click()
        lab.wait_ready()
        assert page_text(lab) == (second_site / "index.html").read_text(encoding="utf-8")
        assert lab.troubles == []


def version_of(site: Path) -> str:
    text = (site / "index.html").read_text(encoding="utf-8")
    return json.loads(text.split('id="site-config">', 1)[1].split("</script>", 1)[0])["version"]


def page_text(lab: LabPage) -> str:
    try:
        return lab.page.evaluate("async () => (await fetch('./')).text()")
    except Error as error:
        raise AssertionError(f"the page could not be read again: {error}") from None
