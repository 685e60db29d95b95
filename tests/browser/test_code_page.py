"""Learners write the code, in real Chromium: editor, checks, saved work and results, third policy, progress, quiz."""

import hashlib
import json
import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from code_page import EXERCISES, PAGES, SLOW, STEP, CodePage, reference, wrong
from lab_page import assert_axe_finds_nothing, command_line, profile
from lab_server import LabServer
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
ENDLESS = "def allocate_kv_pages(tokens, page_size=16):\n    while True:\n        pass\n"
SHORT = "def allocate_kv_pages(tokens, page_size=16):\n    return 1\n"


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@contextmanager
def learner(browser, url, exercise=PAGES, before=None, app=False, **options):
    """The code section in a fresh profile; every request of the page is looked at afterwards.

    `app`: beside the app's Python, which a learner need not wait for, and most tests do not ask for anything.
    """
    context = profile(browser, app=app, **options)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    try:
        page = context.new_page()
        if before:
            page.add_init_script(before)
        yield CodePage(page, exercise).open(url)
        assert [one for one in asked if not one.startswith((url, "blob:", "data:"))] == []
    finally:
        context.close()


# ---- checks and results ---------------------------------------------------------------------------------------------


def test_the_reference_passes_and_leaves_a_result_that_belongs_to_it(browser, server):
    with learner(browser, server.url, app=True) as code:
        code.with_ace().write(reference(PAGES)).check()
        assert set(code.outcomes()) == {"passed"}
        expect(code.said).to_contain_text(
            f"{EXERCISES[PAGES].visible_points} of {EXERCISES[PAGES].visible_points} points"
        )
        expect(code.progress("code")).to_have_text("1/2")
        expect(code.page.locator(f"#tab-{PAGES}")).to_contain_text("passed")
        result = code.results
        expect(result).to_have_count(1)
        expect(result).to_have_attribute("data-state", "current")
        text = code.text()
        hashes = [node.get_attribute("title") for node in result.locator(".hash").all()]
        assert hashes == [hashlib.sha256(text.encode()).hexdigest(), EXERCISES[PAGES].checks_sha256(hidden=False)]
        rows = {
            row.locator("th").inner_text(): row.locator("td").all_inner_texts()
            for row in result.locator("tbody tr").all()
        }
        assert rows["iterations"] == ["116", "88"]
        assert rows["utilization"] == ["61 %", "86 %"]
        assert rows["P95 wait"] == ["19", "7"]
        assert set(rows) == {"iterations", "utilization", "P95 wait", "mean latency", "peak pages", "occupancy"}
        expect(code.page.locator(".saved-box")).to_contain_text("the trace that the page opens with")
        expect(code.page.locator(".saved-box")).to_contain_text("tied to the code that was saved and checked")
        # After a reload it is all there, and the editor too.
        code.page.reload()
        code.near()
        assert code.text() == text
        expect(code.results).to_have_attribute("data-state", "current")
        expect(code.progress("code")).to_have_text("1/2")
        # Another code is not the one that passed: the result stays, and says so; the same code again is.
        code.with_ace().write(text + "\n# changed\n")
        expect(code.results).to_have_attribute("data-state", "code")
        expect(code.results).to_contain_text("Out of date")
        expect(code.progress("code")).to_have_text("0/2")
        code.write(text)
        expect(code.results).to_have_attribute("data-state", "current")
        assert code.lab.troubles == []


def test_a_result_of_other_checks_is_out_of_date_and_not_lost(browser, server):
    with learner(browser, server.url) as code:
        code.write(reference(PAGES)).check()
        expect(code.results).to_have_attribute("data-state", "current")
        code.page.route(
            "**/exercises.json",
            lambda route: route.fulfill(
                body=route.fetch().text().replace(EXERCISES[PAGES].checks_sha256(hidden=False), "0" * 64)
            ),
        )
        code.page.reload()
        code.near()
        expect(code.results).to_have_attribute("data-state", "checks")
        expect(code.progress("code")).to_have_text("0/2")


def test_no_result_is_saved_while_a_check_fails(browser, server):
    with learner(browser, server.url) as code:
        code.write(wrong(PAGES, "floor_division.py")).check()
        outcomes = code.outcomes()
        assert "failed" in outcomes and "passed" in outcomes
        first = code.verdict(outcomes.index("failed"))
        expect(first.locator(".word")).to_have_text("failed")
        for part in ("Call", "Expected", "Came back", "Hint"):
            expect(first).to_contain_text(part)
        expect(first.locator(".cause")).to_contain_text("Floor division")
        colours = {
            code.panel.locator(f".verdict[data-outcome={one}] .word").first.evaluate(
                "(node) => getComputedStyle(node).color"
            )
            for one in ("failed", "passed")
        }
        assert len(colours) == 2
        expect(code.results).to_have_count(0)
        expect(code.panel.locator(".check-results")).to_contain_text(f"{EXERCISES[PAGES].hidden_count} more checks")
        expect(code.panel.locator(".check-results")).to_contain_text("Each check may take 5 s")
        # A wrong value is marked where the function begins; pressing the mark goes there.
        line = next(n for n, text in enumerate(code.text().splitlines(), 1) if text.startswith("def allocate"))
        expect(code.panel.locator(".marks li")).to_contain_text(f"line {line}")
        expect(code.panel.locator(".ace_gutter-cell.ace_warning")).to_have_text(str(line))
        # An edit says that these results are of the code before it.
        code.write(SHORT)
        expect(code.panel.get_by_text("You have edited the code since this check.")).to_be_visible()
        assert code.lab.troubles == []


def test_errors_are_marked_at_the_learners_own_line(browser, server):
    with learner(browser, server.url) as code:
        code.with_ace().write(
            "def allocate_kv_pages(tokens, page_size=16):\n    pages = tokens // page_size\n    return page\n"
        ).check()
        assert set(code.outcomes()) == {"failed"}
        expect(code.panel.locator(".marks li")).to_contain_text("NameError")
        expect(code.panel.locator(".ace_gutter-cell.ace_error")).to_have_text("3")
        code.panel.locator(".marks").get_by_role("button", name="line 3").click()
        assert code.page.evaluate("() => document.activeElement.closest('.ace_editor') !== null")
        # The mark stays with its line.
        code.page.keyboard.press("Control+Home")
        code.page.keyboard.insert_text("# first\n")
        expect(code.panel.locator(".ace_gutter-cell.ace_error")).to_have_text("4")


def test_a_syntax_error_is_told_before_any_check(browser, server):
    with learner(browser, server.url) as code:
        code.write("def allocate_kv_pages(tokens, page_size=16)\n    return 1\n").check()
        assert set(code.outcomes()) == {"did_not_run"}
        expect(code.panel.locator(".problem")).to_contain_text("Line 1")
        expect(code.panel.locator(".problem")).to_contain_text("SyntaxError")
        expect(code.panel.locator(".marks li")).to_contain_text("line 1")
        expect(code.panel.locator(".verdict .word").first).to_have_text("did not run")


def test_stop_ends_a_check_and_the_next_honest_one_is_clean(browser, server):
    with learner(browser, server.url, app=True) as code:
        code.write(ENDLESS).press("Check")
        expect(code.panel.locator(".verdict[data-outcome=running]")).to_have_count(1)
        code.lab.seek(40)  # the page stays live meanwhile
        expect(code.page.locator("#experiment input[type=range]").first).to_have_value("40")
        code.press("Stop").wait_checked()
        expect(code.said).to_have_text("You stopped the checks.")
        assert set(code.outcomes()) <= {"left", "stopped"}
        code.write(reference(PAGES)).check()
        assert set(code.outcomes()) == {"passed"}


def test_run_shows_what_is_printed_and_where_it_broke(browser, server):
    with learner(browser, server.url) as code:
        code.write('print("<b>hello</b>")\nprint("x" * 200_000)\n1 / 0\n').press("Run").wait_checked()
        output = code.panel.locator(".run-output")
        expect(output.locator("pre")).to_contain_text("<b>hello</b>")
        assert output.locator("pre b").count() == 0
        assert len(output.locator("pre").inner_text()) <= 66_000
        expect(output).to_contain_text("cut off here")
        expect(output).to_contain_text("Line 3: ZeroDivisionError")
        expect(code.panel.locator(".marks li")).to_contain_text("line 3")


def test_a_reload_in_the_middle_of_a_check_loses_nothing(browser, server):
    with learner(browser, server.url, app=True) as code:
        code.write(ENDLESS).press("Check")
        expect(code.panel.locator(".verdict[data-outcome=running]")).to_have_count(1)
        code.page.reload()
        code.near()
        assert code.text() == ENDLESS
        assert set(code.outcomes()) == {"waiting"}
        expect(code.results).to_have_count(0)
        code.write(reference(PAGES)).check()
        assert set(code.outcomes()) == {"passed"}


def test_with_the_server_stopped_it_goes_on(browser, site):
    with LabServer(site) as server, learner(browser, server.url, offline=True, app=True) as code:
        code.page.wait_for_selector("html[data-offline=ready]", timeout=SLOW)
        server.stop()
        code.page.reload()
        code.near()
        code.with_ace().write(reference(PAGES)).check()
        assert set(code.outcomes()) == {"passed"}


def test_exercises_that_do_not_arrive_can_be_asked_for_again(browser, server):
    context = profile(browser, app=False)
    try:
        page = context.new_page()
        page.route("**/exercises.json", lambda route: route.abort())
        code = CodePage(page)
        code.lab.open(server.url, ready=False)
        page.locator("#code").scroll_into_view_if_needed()
        expect(page.locator("#code-place")).to_contain_text("no connection to the lab's server")
        expect(code.progress("code")).to_have_text("?")
        page.unroute("**/exercises.json")
        page.locator("#code-place").get_by_role("button", name="Try again").click()
        code.near()
        expect(code.progress("code")).to_have_text("0/2")
        expect(code.panel.locator(".task-card")).to_contain_text("Signature")
    finally:
        context.close()


# ---- the task -------------------------------------------------------------------------------------------------------


def test_task_hints_and_reference(browser, server):
    with learner(browser, server.url) as code:
        exercise = EXERCISES[PAGES]
        card = code.panel.locator(".task-card")
        for text in (*exercise.statement, exercise.signature, exercise.rule, exercise.example.text):
            expect(card).to_contain_text(text)
        hints = card.locator(".hints li")
        expect(hints).to_have_count(0)
        for n in range(1, len(exercise.hints) + 1):
            card.locator(".hint-box > button").click()
            expect(hints).to_have_count(n)
            expect(hints.last).to_have_text(exercise.hints[n - 1])
        expect(card.locator(".hint-box > button")).to_be_hidden()
        solution = card.locator("details.reference")
        expect(solution.locator("pre")).to_be_hidden()
        code.write(SHORT)
        for _ in range(3):
            expect(card.locator(".offer")).to_be_empty()
            code.check()
        expect(card.locator(".offer")).to_contain_text("reference solution")
        solution.locator("summary").click()
        expect(solution.locator("pre")).to_have_text(reference(PAGES).strip())
        expect(solution).to_contain_text(exercise.approach)


def test_without_solutions_there_is_nothing_to_open(browser, server):
    def without(route):
        document = route.fetch().json()
        for exercise in document["exercises"]:
            exercise["reference"] = exercise["approach"] = None
        route.fulfill(json=document)

    context = profile(browser, app=False)
    try:
        page = context.new_page()
        page.route("**/exercises.json", without)
        code = CodePage(page).open(server.url)
        expect(code.panel.locator(".task-card")).to_contain_text("Signature")
        expect(code.panel.locator(".reference")).to_have_count(0)
        expect(code.panel.locator(".offer")).to_have_count(0)
    finally:
        context.close()


# ---- the editor -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ace", "plain"])
def test_the_keyboard_goes_in_and_out_of_the_editor(browser, server, kind):
    with learner(browser, server.url) as code:
        code.with_ace()
        if kind == "plain":
            code.plain()
        expect(code.panel.get_by_text("leaves the editor")).to_be_visible()
        code.write("if True:")
        code.page.keyboard.press("Enter")
        code.page.keyboard.press("Tab")
        code.page.keyboard.insert_text("pass")
        indented = code.text()
        assert re.fullmatch(r"if True:\n( {4}){1,2}pass", indented), indented
        code.page.keyboard.press("Escape")
        code.page.keyboard.press("Tab")
        assert code.text() == indented
        assert code.page.evaluate("() => document.activeElement.closest('.editor-place') === null")
        assert code.page.evaluate("() => document.activeElement !== document.body")
        code.field.focus()
        code.page.keyboard.press("Control+z")
        assert code.text() != indented  # undo works
        code.write(SHORT)
        if kind == "ace":
            code.page.keyboard.press("Control+f")
            expect(code.panel.locator(".ace_search")).to_be_visible()
            code.page.keyboard.press("Escape")
        code.page.keyboard.press("Control+Enter")
        code.wait_checked()
        expect(code.said).to_contain_text("checks passed")
        assert code.lab.troubles == []


def test_ace_is_fetched_only_when_the_code_is_near(browser, server):
    context = profile(browser, viewport={"width": 1280, "height": 700})
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        code = CodePage(page)
        code.lab.open(server.url)
        expect(code.progress("code")).to_have_text("0/2")
        assert [one for one in asked if "/ace/" in one] == []
        code.near()
        code.with_ace()
        names = sorted(one.rsplit("/", 1)[1] for one in asked if "/ace/" in one)
        assert names == ["ace.js", "mode-python.js"]
    finally:
        context.close()


def test_a_plain_field_does_the_work_where_ace_does_not_load(browser, server):
    context = profile(browser, app=False)
    try:
        page = context.new_page()
        page.route("**/ace/*.js", lambda route: route.abort())
        code = CodePage(page).open(server.url)
        expect(code.panel.locator(".editor-help")).to_contain_text("did not load")
        expect(code.panel.locator("[data-editor=plain]")).to_be_visible()
        code.write(reference(PAGES)).check()
        assert set(code.outcomes()) == {"passed"}
    finally:
        context.close()


def test_both_editors_hold_the_same_text(browser, server):
    with learner(browser, server.url) as code:
        code.with_ace().write(SHORT).plain()
        assert code.text() == SHORT
        code.write(SHORT + "# more\n")
        code.panel.get_by_label("Plain text field").uncheck()
        code.with_ace()
        assert code.text() == SHORT + "# more\n"
        # The choice is kept.
        code.plain()
        code.page.reload()
        code.near()
        expect(code.panel.locator("[data-editor=plain]")).to_be_visible()


# ---- saved work -----------------------------------------------------------------------------------------------------


def test_work_is_saved_as_typed_for_each_exercise(browser, server):
    with learner(browser, server.url) as code:
        code.write(SHORT).wait_saved(SHORT)
        saved = code.saved()
        assert saved is not None
        assert set(saved) == {"schema_version", "exercise", "checks_sha256", "code", "code_sha256", "saved_at"}
        assert saved["code_sha256"] == hashlib.sha256(SHORT.encode()).hexdigest()
        code.choose(STEP).write("# the other\n").wait_saved("# the other\n")
        code.page.reload()
        code.near()
        assert code.text() == "# the other\n"  # the tab that was open is open again
        assert code.choose(PAGES).text() == SHORT


def test_what_was_typed_last_survives_a_reload_at_once(browser, server):
    with learner(browser, server.url) as code:
        code.write(SHORT)
        code.page.reload()
        code.near()
        assert code.text() == SHORT


def test_reset_asks_and_can_be_undone(browser, server):
    with learner(browser, server.url) as code:
        code.write(SHORT).press("Reset")
        assert code.text() == SHORT
        code.question("reset").get_by_role("button", name="Keep mine").click()
        assert code.text() == SHORT
        code.press("Reset")
        code.question("reset").get_by_role("button", name="Reset").click()
        assert code.text() == EXERCISES[PAGES].starter
        code.page.reload()  # also later
        code.near()
        assert code.text() == EXERCISES[PAGES].starter
        code.question("aside").get_by_role("button", name="Undo the reset").click()
        assert code.text() == SHORT
        code.wait_saved(SHORT)


@pytest.mark.parametrize("answer", ["Keep this one", "Show the other tab's"])
def test_a_second_tab_is_noticed_and_asked_about(browser, server, answer):
    context = profile(browser, app=False)
    try:
        one = CodePage(context.new_page()).open(server.url)
        two = CodePage(context.new_page()).open(server.url)
        expect(one.question("elsewhere")).to_be_visible()
        expect(two.question("elsewhere")).to_be_visible()
        one.write("# from one\n").wait_saved("# from one\n")
        expect(two.question("conflict")).to_be_visible()
        two.write("# from two\n")
        two.page.wait_for_timeout(800)  # longer than it takes to save
        assert (two.saved() or {})["code"] == "# from one\n"  # nothing was overwritten
        two.question("conflict").get_by_role("button", name=answer).click()
        kept, other = (
            ("# from two\n", "# from one\n") if answer == "Keep this one" else ("# from one\n", "# from two\n")
        )
        assert two.text() == kept
        two.wait_saved(kept)
        two.question("aside").get_by_role("button", name="Bring it back").click()
        assert two.text() == other
        assert one.lab.troubles == two.lab.troubles == []
    finally:
        context.close()


DENIED = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
FULL = "Storage.prototype.setItem = function () { throw new DOMException('full', 'QuotaExceededError'); }"


@pytest.mark.parametrize(("script", "says"), [(DENIED, "blocks storage"), (FULL, "storage is full")])
def test_without_storage_it_works_from_memory_and_says_so(browser, server, tmp_path, script, says):
    with learner(browser, server.url, before=script) as code:
        expect(code.page.locator(".store-trouble")).to_contain_text(says)
        code.write(reference(PAGES)).check()
        assert set(code.outcomes()) == {"passed"}
        expect(code.results).to_have_attribute("data-state", "current")
        expect(code.panel.locator(".saved")).to_contain_text("Not saved")
        code.choose(STEP).choose(PAGES)
        assert code.text() == reference(PAGES)
        document = code.export(tmp_path / "work.json")
        assert document["solutions"][0]["code"] == reference(PAGES)
        assert code.lab.troubles == []


def test_storage_that_has_room_again_is_used_again(browser, server):
    with learner(browser, server.url) as code:
        code.page.evaluate("() => { window.put = Storage.prototype.setItem; }")
        code.page.evaluate(f"() => {{ {FULL} }}")
        code.write(SHORT)
        expect(code.page.locator(".store-trouble")).to_be_visible()
        code.page.evaluate("() => { Storage.prototype.setItem = window.put; }")
        code.write(SHORT + "#\n").wait_saved(SHORT + "#\n")
        expect(code.page.locator(".store-trouble")).to_be_hidden()


def test_unreadable_saved_work_is_not_thrown_away(browser, server):
    with learner(browser, server.url) as code:
        key = "serving-lab:/:code:" + PAGES
        code.page.evaluate("(key) => localStorage.setItem(key, '{\"code\": 7}')", key)
        code.page.reload()
        code.near()
        assert code.text() == EXERCISES[PAGES].starter
        expect(code.question("unreadable")).to_be_visible()
        code.write(SHORT).wait_saved(SHORT)
        kept = code.page.evaluate("(key) => localStorage.getItem(key)", "serving-lab:/:code-unreadable:" + PAGES)
        assert kept == '{"code": 7}'


# ---- files ----------------------------------------------------------------------------------------------------------


def test_work_goes_to_a_file_and_into_a_fresh_profile(browser, server, tmp_path):
    file = tmp_path / "work.json"
    with learner(browser, server.url) as code:
        code.write(SHORT)
        code.choose(STEP).write("# die zweite: schön\n")
        document = code.export(file)
        assert document["schema_version"] == 1
        assert [one["exercise"] for one in document["solutions"]] == [PAGES, STEP]
    with learner(browser, server.url) as code:
        code.choose_file(file)
        expect(code.import_says).to_contain_text("imported")
        assert code.text() == SHORT
        code.wait_saved(SHORT)
        assert code.choose(STEP).text() == "# die zweite: schön\n"
        # Work that is there already is never taken away without an answer.
        code.write("# mine\n").wait_saved("# mine\n")
        code.choose_file(file)
        asked = code.page.locator(f"[data-question=import][data-exercise={STEP}]")
        expect(asked).to_be_visible()
        assert code.text() == "# mine\n"
        asked.get_by_role("button", name="Keep mine").click()
        assert code.text() == "# mine\n"
        code.choose_file(file)
        asked.get_by_role("button", name="Take the file's").click()
        assert code.text() == "# die zweite: schön\n"
        code.question("aside").get_by_role("button", name="Bring it back").click()
        assert code.text() == "# mine\n"
        assert code.lab.troubles == []


def solution(**changes):
    code = str(changes.get("code", "x"))
    made = {
        "schema_version": 1, "exercise": PAGES, "checks_sha256": "0" * 64, "code": code,
        "code_sha256": hashlib.sha256(code.encode()).hexdigest(), "saved_at": "2026-01-02T03:04:05Z",
    }  # fmt: skip
    return {**made, **changes}


HOSTILE = {
    "no-json": ("<script>alert(1)</script>", "not JSON"),
    "list": ("[]", "no object"),
    "version": ('{"schema_version": 2, "solutions": []}', "schema_version is not 1"),
    "key": ('{"schema_version": 1, "solutions": [], "<img src=x>": 1}', "does not know the key “<img src=x>”"),
    "type": (json.dumps({"schema_version": 1, "solutions": [solution(code=7)]}), "solutions[0]: code is not text"),
    "forged": (
        json.dumps({"schema_version": 1, "solutions": [solution(code_sha256="1" * 64)]}),
        "does not belong to this code",
    ),
    "time": (json.dumps({"schema_version": 1, "solutions": [solution(saved_at="yesterday")]}), "saved_at is not"),
    "twice": (json.dumps({"schema_version": 1, "solutions": [solution(), solution()]}), "two solutions of"),
    "null": ("null", "no object"),
    "deep": ("[" * 100_000 + "]" * 100_000, "Nothing was imported"),
}


@pytest.fixture(scope="module")
def importing(browser, server):
    """One page for the files that are refused, and so change nothing."""
    with learner(browser, server.url) as code:
        yield code


@pytest.mark.parametrize("name", HOSTILE)
def test_a_damaged_file_is_refused_in_one_line(importing, tmp_path, name):
    text, says = HOSTILE[name]
    file = tmp_path / "work.json"
    file.write_text(text, encoding="utf-8")
    importing.import_says.evaluate("(node) => { node.textContent = ''; }")
    importing.write(SHORT).choose_file(file)
    expect(importing.import_says).to_contain_text("Nothing was imported")
    expect(importing.import_says).to_contain_text(says)
    assert importing.text() == SHORT
    assert importing.page.locator(".transfer img").count() == 0
    assert importing.lab.troubles == []


def test_big_binary_and_foreign_files(browser, server, tmp_path):
    big, binary, foreign = tmp_path / "big.json", tmp_path / "binary.json", tmp_path / "foreign.json"
    with big.open("wb") as out:
        out.truncate(50_000_000)
    binary.write_bytes(b"\xff\xfe\x00\x01")
    html = "<img src=x onerror=alert(1)>"
    foreign.write_text(
        json.dumps({"schema_version": 1, "solutions": [solution(exercise="another_lab"), solution(code=html)]})
    )
    with learner(browser, server.url) as code:
        code.choose_file(big)
        expect(code.import_says).to_contain_text("50 MB")
        code.choose_file(binary)
        expect(code.import_says).to_contain_text("not text in UTF-8")
        code.choose_file(foreign)
        expect(code.import_says).to_contain_text("another_lab: left out")
        assert code.text() == html  # text is text
        assert code.page.locator("#code img").count() == 0
        assert code.lab.troubles == []


# ---- the third policy -----------------------------------------------------------------------------------------------


def test_a_right_step_is_drawn_beside_the_engine_and_follows_the_limits(browser, server, capsys):
    with learner(browser, server.url, STEP, app=True) as code:
        code.lab.wait_ready()
        code.lab.reveal()
        code.near()
        code.write(reference(STEP)).press("Experiment with your code")
        side = code.lab.side("yours")
        expect(side).to_be_visible(timeout=SLOW)
        aside = code.page.locator(".yours")
        expect(aside).to_contain_text("Every step is the engine's")
        expect(aside).to_contain_text("chunked prefill are off")
        assert code.lab.metrics("yours") == code.lab.metrics("continuous")
        expect(side.locator(".stone", has_text="differs")).to_have_count(0)
        expect(aside.locator("tbody tr").first).to_have_text("iterations1168888")
        code.lab.seek(15)
        words = [
            " ".join(code.lab.side(name).locator(".words").inner_text().split()) for name in ("yours", "continuous")
        ]
        assert words[0] == words[1]
        expected = command_line(capsys, "--max-num-seqs", "2")["policies"]["continuous"]
        assert expected["iterations"] != 88
        code.lab.set("Seats", "2")
        code.lab.wait_metric("continuous", "iterations", expected["iterations"])
        code.lab.wait_metric("yours", "iterations", expected["iterations"])
        expect(aside.locator(".stale")).to_be_hidden()
        assert code.lab.metrics("yours") == code.lab.metrics("continuous")
        code.near()
        code.field.focus()
        code.page.keyboard.press("Control+Home")
        code.page.keyboard.insert_text("# edited\n")
        expect(aside).to_contain_text("edited the code since")
        aside.get_by_role("button", name="Remove it").click()
        expect(side).to_have_count(0)
        expect(aside).to_have_count(0)
        assert code.lab.troubles == []


def test_where_a_wrong_step_departs_is_marked_and_explained(browser, server):
    with learner(browser, server.url, STEP) as code:
        code.lab.reveal()
        code.near()
        # One admission an iteration: the first batch of three comes in one by one.
        code.write(wrong(STEP, "one_admission_an_iteration.py")).press("Experiment with your code")
        side = code.lab.side("yours")
        expect(side).to_be_visible(timeout=SLOW)
        stone = side.locator(".stone", has_text="differs")
        expect(stone).to_have_count(1)
        aside = code.page.locator(".yours")
        expect(aside).to_contain_text("It first differs from the engine in iteration 1.")
        expect(aside).to_contain_text("admits b")
        code.lab.seek(30)
        stone.click()
        expect(code.page.locator("#experiment input[type=range]").first).to_have_value("1")
        expect(side.locator(".words")).to_contain_text("admits b")
        assert code.lab.troubles == []


def test_a_slower_step_stretches_every_axis(browser, server):
    """With one seat the run is longer than the engine's; timelines and charts still end together."""
    with learner(browser, server.url, STEP, app=True) as code:
        code.lab.wait_ready()
        code.lab.reveal()
        code.near()
        code.write(reference(STEP).replace("< max_num_seqs", "< 1")).press("Experiment with your code")
        expect(code.lab.side("yours")).to_be_visible(timeout=SLOW)
        last = int(code.page.locator("#experiment input[type=range]").first.get_attribute("max") or 0)
        assert last == code.lab.metrics("yours")["iterations"] > 116
        ends = code.page.evaluate(
            "() => Bokeh.documents.flatMap((d) => [...d._all_models.values()])"
            ".filter((m) => m.type === 'Figure').map((m) => m.x_range.end)"
        )
        assert ends == [last + 1, last + 1]
        code.page.locator(".yours").get_by_role("button", name="Remove it").click()
        expect(code.page.locator("#experiment input[type=range]").first).to_have_attribute("max", "116")
        assert code.lab.troubles == []


def test_code_that_breaks_mid_replay_stops_the_picture_there(browser, server):
    broken = reference(STEP).replace(
        "    active = []\n",
        '    if any(r["id"] == "d" for r in running):\n        raise ValueError("<i>no</i>")\n    active = []\n',
    )
    assert broken != reference(STEP)
    with learner(browser, server.url, STEP, app=True) as code:
        code.lab.reveal()
        code.near()
        code.write(broken).press("Experiment with your code")
        side = code.lab.side("yours")
        expect(side).to_be_visible(timeout=SLOW)
        # d runs from iteration 15; the step that is given it is that of 16.
        expect(side.locator(".stone", has_text="stops")).to_contain_text("16")
        aside = code.page.locator(".yours")
        expect(aside).to_contain_text("iteration 16")
        expect(aside).to_contain_text("ValueError: <i>no</i>")
        code.lab.seek(15)
        expect(side.locator(".words")).to_contain_text("d")
        code.lab.seek(50)
        expect(side.locator(".words")).to_contain_text("stopped in iteration 16")
        # The two policies are as they were, and so is the guess.
        assert code.lab.metrics("continuous")["iterations"] == 88
        expect(code.page.locator(".guess")).to_contain_text("Continuous finishes 28 iterations sooner")
        code.near()
        code.write("def scheduler_step(:\n").press("Experiment with your code")
        expect(aside).to_contain_text("SyntaxError", timeout=SLOW)
        assert code.lab.troubles == []


# ---- progress and knowledge check -----------------------------------------------------------------------------------


def test_progress_is_earned_by_doing_and_comes_back(browser, server):
    with learner(browser, server.url, app=True) as code:
        for part, share in (("code", "0/2"), ("experiment", "0/2"), ("check", "0/11")):
            expect(code.progress(part)).to_have_text(share)
        code.lab.seek(14)
        code.lab.seek(15)
        expect(code.progress("experiment")).to_have_text("1/2")
        code.lab.seek(116)
        expect(code.progress("experiment")).to_have_text("✓")
        code.page.locator("[data-question=seat] input").fill("15")
        code.page.locator("[data-question=seat]").get_by_role("button", name="Answer").click()
        expect(code.progress("check")).to_have_text("1/11")
        code.page.reload()
        code.near()
        expect(code.progress("experiment")).to_have_text("✓")
        expect(code.progress("check")).to_have_text("1/11")


def test_progress_says_that_it_is_read_back_and_shows_no_false_zero(browser, server):
    context = profile(browser)
    try:
        page = context.new_page()
        page.route("**/exercises.json", lambda route: None)  # it never comes
        code = CodePage(page)
        code.lab.open(server.url, ready=False)
        expect(page.locator("#progress")).to_have_attribute("aria-busy", "true")
        expect(code.progress("code")).to_have_text("…")
        expect(page.locator("#progress").get_by_role("link", name="Code reading your progress")).to_be_visible()
    finally:
        context.close()


def right_answer(card) -> str:
    """The answer to one of the questions with fresh values, worked out here by the rules of the lesson."""
    text = card.locator("legend").inner_text()
    numbers = [int(n) for n in re.findall(r"\d+", text.split("\n", 1)[1])]
    name = card.get_attribute("data-question")
    if name == "pages":
        tokens, size = numbers
        return str(-(-tokens // size))
    if name == "waste":
        tokens, size = numbers
        return str(-tokens % size)
    if name == "admission":
        return str(-(-(numbers[0] + 1) // 16))
    assert name == "growth"
    return str(-(-(numbers[0] + 1) // 16))


def test_the_knowledge_check_explains_and_is_kept(browser, server):
    with learner(browser, server.url) as code:
        cards = code.page.locator(".quiz-card")
        assert cards.count() >= 8
        for name in ("pages", "waste", "admission", "growth"):
            card = code.page.locator(f"[data-question={name}]")
            card.locator("input").fill(right_answer(card))
            card.locator("input").press("Enter")  # by keyboard alone
            expect(card).to_have_attribute("data-answered", "right")
            expect(card.locator(".quiz-said")).to_contain_text("Right.")
        for name, answer in (("seat", "15"), ("utilization", "86 %"), ("percentile", "19")):
            card = code.page.locator(f"[data-question={name}]")
            card.locator("input").fill(answer)
            card.get_by_role("button", name="Answer").click()
            expect(card).to_have_attribute("data-answered", "right")
        expect(code.page.locator("[data-question=utilization] .quiz-said")).to_contain_text("80 %")
        card = code.page.locator("[data-question=drain]")
        card.get_by_role("button", name="Answer").click()
        expect(card.locator(".quiz-said")).to_contain_text("Choose one")
        card.get_by_label(re.compile("^In 15")).check()
        card.get_by_role("button", name="Answer").click()
        expect(card).to_have_attribute("data-answered", "wrong")
        expect(card.locator(".quiz-said")).to_contain_text("In 19")
        before = cards.all_inner_texts()
        code.page.reload()
        code.page.wait_for_selector(".quiz-card")
        assert cards.all_inner_texts() == before
        expect(code.page.locator(".quiz-score")).to_contain_text("8 of 11 answered, 7 right")
        asked = code.page.locator("[data-question=pages] legend").inner_text()
        for _ in range(4):  # the same numbers may come up again, but not each time
            code.page.get_by_role("button", name="New numbers").click()
            if code.page.locator("[data-question=pages] legend").inner_text() != asked:
                break
        assert code.page.locator("[data-question=pages] legend").inner_text() != asked
        expect(code.page.locator(".quiz-card[data-answered]")).to_have_count(0)
        expect(code.progress("check")).to_have_text("8/11")  # what was earned stays
        assert code.lab.troubles == []


def test_a_number_is_asked_for(browser, server):
    with learner(browser, server.url) as code:
        card = code.page.locator("[data-question=pages]")
        card.locator("input").fill("many <b>")
        card.get_by_role("button", name="Answer").click()
        expect(card.locator(".quiz-said")).to_have_text("A whole number is asked for.")
        assert card.get_attribute("data-answered") is None


# ---- how it looks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_no_horizontal_scroll_and_a_field_of_its_own(browser, server, scheme):
    with learner(
        browser,
        server.url,
        STEP,
        app=True,
        viewport={"width": 360, "height": 740},
        color_scheme=scheme,
        has_touch=True,
        is_mobile=True,
    ) as code:
        expect(code.panel.locator("[data-editor=plain]")).to_be_visible()
        code.write(wrong(STEP, "newcomers_decode_too.py")).check()
        code.press("Experiment with your code")
        expect(code.lab.side("yours")).to_be_visible(timeout=SLOW)
        code.near()
        code.panel.get_by_label("Plain text field").uncheck()
        code.with_ace()
        assert code.page.evaluate("() => document.documentElement.scrollWidth") <= 360
        assert code.lab.troubles == []


def test_axe_finds_nothing_to_complain_of_in_the_code_section(browser, server, node_package):
    axe = (node_package("axe-core@4.14.1") / "axe.min.js").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        with learner(browser, server.url, STEP, color_scheme=scheme, bypass_csp=True, app=True) as code:
            code.write(wrong(STEP, "newcomers_decode_too.py")).press("Experiment with your code")
            expect(code.lab.side("yours")).to_be_visible(timeout=SLOW)
            code.near()
            code.with_ace().check()
            code.press("Reset")
            code.page.locator("[data-question=pages] input").fill("1")
            code.page.locator("[data-question=pages]").get_by_role("button", name="Answer").click()
            code.page.evaluate(f"() => {{ {axe} }}")
            # Ace draws its own inside; what it leaves open is offered by the plain field.
            assert_axe_finds_nothing(
                code.page, scheme, {"include": ["#code", "#check", "#progress", ".yours"], "exclude": [".ace_editor"]}
            )
