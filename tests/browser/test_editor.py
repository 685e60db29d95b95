"""The trace editor in real Chromium, as an instructor uses it; what the page shows is what the command line prints."""

import json
import re
import shlex
import time
from pathlib import Path

import pytest
from editor_page import EditorPage, printed, teaches
from lab_page import assert_axe_finds_nothing, assert_same_figures, opened
from playwright.sync_api import expect

from lab.cli import main
from lab.formats.trace_json import dump_trace, parse_trace, read_trace

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "traces" / "course.json"
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def page(browser, server):
    """One page for all the tests of this file: a start takes seconds."""
    with opened(browser, permissions=CLIPBOARD, viewport={"width": 1280, "height": 1000}) as lab:
        lab.open(server.url)
        yield lab


@pytest.fixture
def editor(page, capsys):
    """The editor, with the lab's own trace in it and on both sides."""
    made = EditorPage(page).open()
    # By way of no requests: what the test before left there may have figures in common with the lab's trace, and would
    # stay there if an edit overtook that and were refused.
    made.command("Empty")
    page.wait_metric("static", "iterations", 0)
    made.command("The lab's trace")
    page.page.locator("#slot-controls").get_by_role("button", name="Reset").click()
    assert_same_figures(page, printed(capsys, COURSE), wait=20)
    expect(made.page.locator(".ed-errors")).to_be_hidden()
    yield made
    assert page.troubles == []


def agrees(editor, folder, capsys):
    """Both replays are those of the saved file; returns it."""
    path = editor.saved(folder)
    assert_same_figures(editor.lab, printed(capsys, path), wait=20)
    return read_trace(path)


# ---- by keyboard -----------------------------------------------------------------------------------------------------


def nothing_is_asked_of_a_python_that_is_starting(lab):
    """What is asked too early is answered with a sentence, and the start goes on."""
    editor = EditorPage(lab).open()
    editor.command("Save trace")
    expect(lab.page.locator(".ed-says")).to_contain_text("still starting")
    for title, button in (("Generate a trace", "Generate"), ("Find a trace near this one", "Search")):
        part = lab.page.locator("details.ed-part", has=lab.page.get_by_text(title))
        part.locator("summary").click()
        part.get_by_role("button", name=button, exact=True).click()
        expect(part.locator(".ed-trouble")).to_have_text(re.compile(r"still starting[^.]*\.$"))
        expect(part.get_by_role("button", name=button, exact=True)).to_be_visible()
        part.locator("summary").click()
    editor.cell("arrival", 1).fill("1")
    expect(lab.page.locator(".ed-says")).to_have_text("Both replays follow as soon as Python is ready.")
    editor.command("Undo")
    editor.command("Close")
    assert lab.page.get_attribute("html", "data-python") == "starting"


def test_a_trace_is_built_from_nothing_by_keyboard(browser, server, tmp_path, capsys):
    with opened(browser, viewport={"width": 1280, "height": 1000}) as lab:
        held = []
        lab.page.route("**/app.zip", lambda route: held.append(route))
        lab.open(server.url, ready=False)
        nothing_is_asked_of_a_python_that_is_starting(lab)
        held[0].continue_()
        lab.wait_ready()
        editor, keys = EditorPage(lab), lab.page.keyboard
        lab.page.locator(".brand").focus()
        editor.tab_to("Edit this trace")
        keys.press("Enter")
        lab.page.wait_for_function("() => document.activeElement.matches('.ed-table .cell')")
        expect(lab.page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
        editor.tab_to("Empty", back=True)
        keys.press("Enter")
        expect(lab.page.locator(".ed-empty")).to_be_visible()
        editor.tab_to("Add row", back=True)
        keys.press("Enter")
        for n, row in enumerate((("first", "0", "40", "12"), ("second", "0", "70", "30"), ("third", "4", "20", "9"))):
            if n:
                keys.press("Enter")  # from the last cell: a row more, and back to where this row began
            for m, text in enumerate(row):
                if m:
                    keys.press("Tab")
                keys.type(text)
        keys.press("Enter")
        keys.type("fourth")
        assert editor.rows()[:3] == [
            ["first", "0", "40", "12"],
            ["second", "0", "70", "30"],
            ["third", "4", "20", "9"],
        ]
        assert editor.rows()[3][0] == "fourth"
        keys.press("Control+Delete")
        assert len(editor.rows()) == 3
        keys.press("Alt+ArrowUp")  # the current row is the third
        assert [row[0] for row in editor.rows()] == ["first", "third", "second"]
        keys.press("Control+d")
        assert [row[0] for row in editor.rows()] == ["first", "third", "third2", "second"]
        keys.press("Control+z")
        keys.press("ArrowUp")
        # The picture by keys: the arrival of the row that is current.
        editor.tab_to("arrival of third", back=True)
        keys.press("ArrowRight")
        keys.press("Shift+ArrowRight")
        keys.press("ArrowLeft")
        assert editor.cell("arrival", 2).input_value() == "14"
        editor.tab_to("Save trace", back=True)
        path = editor.saved(tmp_path, press=True)
        assert [request.id for request in read_trace(path).requests] == ["first", "third", "second"]
        assert read_trace(path).requests[1].arrival == 14
        assert_same_figures(lab, printed(capsys, path), wait=20)
        assert lab.troubles == []


def test_arrows_go_about_as_in_a_spreadsheet(editor):
    keys = editor.page.keyboard

    def here():
        return editor.page.evaluate("() => document.activeElement.getAttribute('aria-label')")

    editor.cell("id", 1).focus()
    editor.cell("id", 1).select_text()
    for key, expected in (
        ("ArrowRight", "arrival, row 1"),
        ("ArrowDown", "arrival, row 2"),
        ("ArrowRight", "prompt tokens, row 2"),
        ("ArrowLeft", "arrival, row 2"),
        ("PageDown", "arrival, row 9"),
        ("Control+Home", "arrival, row 1"),
        ("Control+End", "arrival, row 9"),
        ("ArrowUp", "arrival, row 8"),
        ("Enter", "arrival, row 9"),
        ("Shift+Enter", "arrival, row 8"),
    ):
        keys.press(key)
        assert here() == expected, key
    keys.press("F2")  # into the text: the arrows are the text's now
    keys.press("ArrowLeft")
    assert here() == "arrival, row 8"
    keys.type("9")
    assert editor.cell("arrival", 8).input_value() == "594"
    keys.press("Escape")
    assert editor.cell("arrival", 8).input_value() == "54"
    # One row of the table is in the way of Tab, not nine.
    assert editor.page.locator(".ed-table .cell[tabindex='0']").count() == 4


# ---- cells that cannot be used ---------------------------------------------------------------------------------------


def test_thirty_rows_with_two_bad_ones_are_pasted_from_a_spreadsheet(editor, tmp_path, capsys):
    rows = [[f"q{n}", str(n * 3), str(20 + n), str(5 + n % 7)] for n in range(30)]
    rows[6][2] = "many"
    rows[22][1] = "-4"
    text = "\n".join("\t".join(row) for row in [["Request", "Arrival", "Prompt tokens", "Output tokens"], *rows])
    editor.command("Empty")
    editor.lab.wait_metric("static", "iterations", 0)  # a trace without requests is one
    editor.page.locator(".ed-empty").focus()
    editor.paste(text + "\n")
    expect(editor.page.locator(".ed-says")).to_contain_text("30 rows pasted")
    expect(editor.page.locator(".ed-wrong")).to_contain_text("2 cells")
    assert editor.rows() == rows
    assert editor.wrong() == ["prompt tokens, row 7", "arrival, row 23"]
    assert editor.lab.metrics("static")["iterations"] == 0  # the last valid replay stays
    bad = editor.page.locator(".ed-table [aria-invalid]")
    for cell, says in zip(bad.all(), ("must be an integer", "at least 0"), strict=True):
        why = editor.page.locator(f"#{cell.get_attribute('aria-describedby')}")
        expect(why).to_contain_text(says)
    editor.page.get_by_role("button", name="Row 23, arrival").click()
    editor.page.keyboard.type("66")
    expect(editor.page.locator(".ed-wrong")).to_contain_text("1 cell ")
    editor.cell("prompt_tokens", 7).fill("26")
    expect(editor.page.locator(".ed-errors")).to_be_hidden()
    trace = agrees(editor, tmp_path, capsys)
    assert [request.prompt_tokens for request in trace.requests] == [20 + n for n in range(30)]


def test_pasting_without_headings_overwrites_from_the_cell_on(editor):
    editor.cell("prompt_tokens", 8).focus()
    editor.paste("11,12\r\n13,14\r\n15,16\r\n")
    assert [row[2:] for row in editor.rows()[7:]] == [["11", "12"], ["13", "14"], ["15", "16"]]
    assert editor.rows()[9][0] != "" and editor.wrong() in ([], ["arrival, row 10"])
    editor.cell("id", 1).focus()
    editor.cell("id", 1).select_text()
    editor.paste("plain text")  # one value is for the cell alone
    assert editor.rows()[0][0] == "plain text" and len(editor.rows()) == 10
    # A quote that is never closed is a letter, and no end to the rows after it.
    editor.cell("id", 1).select_text()
    editor.paste('tall 5"\t1\t2\t3\n"bare\t4\t5\t6')
    assert editor.rows()[:2] == [['tall 5"', "1", "2", "3"], ['"bare', "4", "5", "6"]]
    # More than anybody can look at is not taken.
    editor.paste("\n".join(["x\t1\t2\t3"] * 401))
    expect(editor.page.locator(".ed-says")).to_contain_text("401 rows are far more than the page draws")
    assert len(editor.rows()) == 10


def test_a_row_that_is_added_has_an_id_of_its_own(editor):
    for last, expected in (
        ("req-9", "req-10"),
        ("req-07", "req-08"),
        ("99", "100"),
        ("r9007199254740992", "r9007199254740993"),  # as numbers of JavaScript's these two are one
        ("z", "r1"),
        ("1" * 60_000 + "x", "1" * 60_000 + "x2"),
    ):
        editor.cell("id", 9).fill(last)
        editor.command("Add row")
        assert editor.rows()[9][0] == expected
        editor.command("Undo")


def test_each_bad_value_is_told_and_nothing_else_changes(editor, capsys):
    course = printed(capsys, COURSE)
    for field, row, value, says in (
        ("arrival", 2, "1.5", "round it"),
        ("prompt_tokens", 2, "", "is missing"),
        ("output_tokens", 2, "0", "at least 1"),
        ("output_tokens", 2, "9007199254740992", "at most"),
        ("id", 2, "a", "repeats the id of row 1"),
        ("id", 2, "", "must not be empty"),
    ):
        before = editor.cell(field, row).input_value()
        editor.cell(field, row).fill(value)
        expect(editor.page.locator(".ed-errors")).to_contain_text(says)
        expect(editor.cell(field, row)).to_have_attribute("aria-invalid", "true")
        assert_same_figures(editor.lab, course)
        editor.cell(field, row).fill(before)
        expect(editor.page.locator(".ed-errors")).to_be_hidden()


def test_a_hundred_requests_follow_and_one_more_is_too_many(editor, tmp_path, capsys):
    editor.command("Empty")
    editor.page.locator(".ed-empty").focus()
    editor.paste("\n".join(f"r{n}\t{n}\t{8 + n % 50}\t{3 + n % 20}" for n in range(100)))
    agrees(editor, tmp_path, capsys)
    x, y = editor.grab("arrival", 2)
    seen = set()
    for n in range(12):
        editor.page.mouse.move(x + 8 * n, y)
        editor.page.wait_for_timeout(60)
        seen.add(editor.lab.metrics("static")["latency_mean"])
    editor.page.mouse.up()
    assert len(seen) > 1  # they followed while it was dragged
    agrees(editor, tmp_path, capsys)
    editor.command("Add row")
    expect(editor.page.locator(".ed-errors")).to_contain_text("at most 100")
    editor.command("Undo")
    expect(editor.page.locator(".ed-errors")).to_be_hidden()


# ---- dragging, steps -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "row", "by"), [("arrival", 5, 90), ("prompt_tokens", 3, 60), ("output_tokens", 1, 120)]
)
def test_dragging_changes_both_replays_to_what_the_command_line_prints(editor, tmp_path, capsys, what, row, by):
    before = editor.rows()[row - 1]
    was = {policy: editor.lab.metrics(policy) for policy in ("static", "continuous")}
    x, y = editor.grab(what, row)
    for n in range(1, 6):
        editor.page.mouse.move(x + by * n / 5, y)
    expect(editor.cell(what, row)).not_to_have_value(
        before[["id", "arrival", "prompt_tokens", "output_tokens"].index(what)]
    )
    editor.page.wait_for_function(
        "(was) => document.querySelector('.side[data-policy=static] [data-metric=latency_mean]').dataset.value !== was"
        " || document.querySelector('.side[data-policy=static] [data-metric=occupancy]').dataset.value !== was",
        arg=str(was["static"]["latency_mean"]),
    )
    editor.page.mouse.up()
    trace = agrees(editor, tmp_path, capsys)
    changed = [r for r, c in zip(trace.requests, read_trace(COURSE).requests, strict=True) if r != c]
    assert [request.id for request in changed] == [before[0]]
    now = {policy: editor.lab.metrics(policy) for policy in ("static", "continuous")}
    assert now["static"] != was["static"] and now["continuous"] != was["continuous"]
    editor.command("Undo")  # the whole drag is one step
    assert editor.rows()[row - 1] == before
    assert_same_figures(editor.lab, printed(capsys, COURSE), wait=20)


def test_ten_steps_are_undone_and_done_again(editor, tmp_path, capsys):
    states = [editor.rows()]

    def step(act):
        act()
        states.append(editor.rows())
        assert states[-1] != states[-2]

    step(lambda: editor.cell("arrival", 1).fill("2"))
    step(lambda: editor.cell("prompt_tokens", 2).fill("99"))
    step(lambda: editor.command("Duplicate"))
    step(lambda: editor.command("Move down"))
    step(lambda: editor.cell("output_tokens", 4).fill("3"))
    step(lambda: editor.command("Delete"))
    step(lambda: editor.cell("id", 1).fill("first"))
    step(lambda: editor.command("Add row"))
    step(lambda: editor.cell("arrival", 2).fill("not a number"))
    step(lambda: editor.cell("arrival", 3).fill("5"))
    expect(editor.page.locator(".ed-errors")).to_be_visible()
    editor.cell("id", 3).focus()
    for state in reversed(states[:-1]):
        editor.page.keyboard.press("Control+z")
        assert editor.rows() == state
    assert_same_figures(editor.lab, printed(capsys, COURSE), wait=20)
    assert editor.rows() == states[0]
    for state in states[1:]:
        editor.page.keyboard.press("Control+y")
        assert editor.rows() == state
    expect(editor.page.locator(".ed-errors")).to_be_visible()
    editor.command("Undo")
    editor.command("Undo")
    agrees(editor, tmp_path, capsys)


def test_turning_a_limit_is_a_step_and_is_saved_with_the_trace(editor, tmp_path, capsys):
    editor.lab.set("Seats", "2")
    assert_same_figures(editor.lab, printed(capsys, COURSE, "--max-num-seqs", "2"), wait=20)
    trace = agrees(editor, tmp_path, capsys)
    assert trace.limits.max_num_seqs == 2 and trace.limits.num_pages == 32
    editor.command("Undo")
    assert_same_figures(editor.lab, printed(capsys, COURSE), wait=20)
    expect(editor.lab.field("Seats")).to_have_value("3")


# ---- what it teaches, generating, searching --------------------------------------------------------------------------


def test_what_the_trace_teaches_is_there_and_follows(editor):
    panel = editor.page.locator(".ed-teaches")
    expect(panel.locator(".sentence")).to_contain_text("116 iterations and continuous 88")
    teaches(editor, "Utilization", "61 %", "86 %")
    teaches(editor, "Preemptions", "0", "0")
    editor.cell("output_tokens", 9).fill("400")
    expect(panel.locator(".sentence")).not_to_contain_text("116 iterations")
    editor.lab.set("Pages", "14")
    expect(panel.get_by_text("preempts")).to_be_visible()


def test_the_generator_makes_the_bytes_of_the_command_line(editor, tmp_path, capsys):
    part = editor.page.locator("details", has=editor.page.get_by_text("Generate a trace"))
    part.locator("summary").click()
    for choices in (
        {"Arrivals": "bursty", "Lengths": "mix"},
        {"Arrivals": "at-once", "Lengths": "own", "Prompts": "uniform", "Outputs": "fixed"},
        {"Arrivals": "poisson", "Prompts": "lognormal", "Outputs": "lognormal"},
    ):
        for label, value in choices.items():
            part.get_by_label(label, exact=True).select_option(value)
        before = editor.rows()
        part.get_by_role("button", name="Generate", exact=True).click()
        until = time.monotonic() + 20
        while editor.rows() == before and time.monotonic() < until:
            editor.page.wait_for_timeout(50)
        assert editor.rows() != before and len(editor.rows()) == 24
        line = part.locator("code").inner_text()
        path = editor.saved(tmp_path)
        capsys.readouterr()
        assert main([*line.split()[1:], "--out", str(tmp_path / "there.json")]) == 0
        assert path.read_bytes() == (tmp_path / "there.json").read_bytes()
        assert_same_figures(editor.lab, printed(capsys, path), wait=20)
    first = editor.rows()
    part.get_by_role("button", name="Next seed").click()
    editor.page.wait_for_function(
        "(cells) => document.querySelector('.ed-table tbody tr:nth-child(2)').textContent !== cells", arg=""
    )
    expect(part.locator("code")).to_contain_text("--seed 2")
    assert editor.rows() != first
    part.get_by_label("on average every").fill("0")
    part.get_by_role("button", name="Generate", exact=True).click()
    expect(part.locator(".ed-trouble")).to_contain_text("must be above 0")
    expect(part.get_by_label("on average every")).to_have_attribute("aria-invalid", "true")
    part.get_by_label("on average every").fill("4")
    part.locator("summary").click()


def test_the_generators_command_says_that_it_leaves_out_options(editor, tmp_path):
    part = editor.page.locator("details", has=editor.page.get_by_text("Generate a trace"))
    without = part.get_by_text("without the options that are on")
    part.locator("summary").click()
    own = tmp_path / "own.json"
    for options in ({}, {"preemption": "swap"}):
        own.write_text(json.dumps({**json.loads(COURSE.read_text()), "options": options}))
        editor.load(own)
        expect(editor.page.locator(".ed-table tbody tr")).to_have_count(9)
        part.get_by_role("button", name="Generate", exact=True).click()
        expect(editor.page.locator(".ed-table tbody tr")).to_have_count(24)
        expect(without).to_be_visible(visible=bool(options))
        here = json.loads(editor.saved(tmp_path).read_text())
        assert here.pop("options", {}) == options
        command = shlex.split(part.locator("code").inner_text())[1:]
        assert main([*command, "--out", str(tmp_path / "there.json")]) == 0
        assert here == json.loads((tmp_path / "there.json").read_text())
    part.locator("summary").click()


def test_a_search_finds_a_trace_and_can_be_stopped(editor, tmp_path, capsys):
    part = editor.page.locator("details", has=editor.page.get_by_text("Find a trace near this one"))
    part.locator("summary").click()
    course = editor.rows()
    part.get_by_role("button", name="static needs 30 iterations more").click()
    editor.page.keyboard.press("Enter")
    expect(part.get_by_role("status").first).to_contain_text("Found after", timeout=60_000)
    found = agrees(editor, tmp_path, capsys)
    assert dump_trace(found) != COURSE.read_text()
    said = printed(capsys, tmp_path / "course.json")["policies"]
    assert said["static"]["iterations"] - said["continuous"]["iterations"] >= 30
    editor.command("Undo")
    assert editor.rows() == course
    # Nothing of nine requests takes a million iterations: this one goes on until it is stopped.
    part.get_by_label("how many").fill("1000000")
    part.get_by_role("button", name="Search", exact=True).click()
    expect(part.get_by_role("status").first).to_contain_text(re.compile(r"[1-9]\d* of \d+ tries"))
    expect(part.locator("progress")).to_be_visible()
    part.get_by_role("button", name="Stop").click()
    expect(part.get_by_role("status").first).to_contain_text("Stopped after")
    assert editor.rows() == course
    # What cannot be searched for is told at the field, which is named once.
    for number, says in (("", "write a number"), ("x", "must be a number")):
        part.get_by_label("how many").fill(number)
        part.get_by_role("button", name="Search", exact=True).click()
        expect(part.locator(".ed-trouble")).to_have_text(re.compile(f"^how many: {says}"))
    part.locator("summary").click()


# ---- files -----------------------------------------------------------------------------------------------------------


def test_export_and_import_give_the_same_bytes(editor, tmp_path, capsys):
    text = dump_trace(
        parse_trace(
            json.dumps(
                {
                    "schema_version": 1,
                    "name": "in time",
                    "title": "Zeiten – ünïcode",
                    "source": "here",
                    "license": "MIT",
                    "time_unit": "ms",
                    "limits": {"max_num_seqs": 2, "num_pages": 40, "page_size": 8, "max_num_batched_tokens": 64},
                    "requests": [
                        {"id": "a", "arrival": 20.0, "prompt_tokens": 12, "output_tokens": 3, "client": "x"},
                        {"id": "b", "arrival": 20, "prompt_tokens": 12, "output_tokens": 4, "prefix": [1, "p q", 3]},
                        {"id": '"c', "arrival": 0.25, "prompt_tokens": 9, "output_tokens": 1, "samples": 2},
                        {"id": "d", "arrival": 1e-07, "prompt_tokens": 9, "output_tokens": 2, "cancel_after_tokens": 1},
                    ],
                }
            )
        )
    )
    (tmp_path / "in.json").write_text(text, encoding="utf-8")
    editor.load(tmp_path / "in.json")
    expect(editor.page.locator("#notice-trace")).to_contain_text("brought to iterations")
    expect(editor.cell("id", 1)).to_have_value("a")
    expect(editor.cell("prefix", 2)).to_have_value('[1, "p q", 3]')
    assert_same_figures(editor.lab, printed(capsys, tmp_path / "in.json"), wait=20)
    out = editor.saved(tmp_path)
    assert out.read_text(encoding="utf-8") == text
    editor.load(out)
    assert editor.saved(tmp_path).read_text(encoding="utf-8") == text
    # And by way of an edit that is undone.
    editor.cell("arrival", 1).fill("21")
    editor.cell("prompt_tokens", 1).focus()
    editor.command("Undo")
    assert editor.saved(tmp_path).read_text(encoding="utf-8") == text
    editor.page.get_by_role("button", name="Back to the lab's trace").click()
    assert_same_figures(editor.lab, printed(capsys, COURSE), wait=20)
    assert editor.saved(tmp_path).read_text(encoding="utf-8") == COURSE.read_text(encoding="utf-8")


def test_columns_appear_on_request(editor, tmp_path):
    editor.page.locator(".ed-menu summary").click()
    editor.page.get_by_role("checkbox", name="client who sent it").check()
    editor.cell("client", 3).fill("team 3")
    assert editor.page.get_by_role("columnheader", name="client").is_visible()
    trace = read_trace(editor.saved(tmp_path))
    assert [request.client for request in trace.requests[:4]] == [None, None, "team 3", None]
    editor.command("Undo")


# ---- for everybody ---------------------------------------------------------------------------------------------------


def test_axe_finds_nothing_to_complain_of_in_the_editor(browser, server, node_package):
    axe = (node_package("axe-core@4.14.1") / "axe.min.js").read_text(encoding="utf-8")
    with opened(browser, bypass_csp=True, viewport={"width": 360, "height": 780}) as lab:
        lab.open(server.url)
        editor = EditorPage(lab).open()
        for summary in lab.page.locator("#editor summary").all():
            summary.click()
        editor.cell("arrival", 2).fill("x")
        expect(lab.page.locator(".ed-errors")).to_be_visible()
        lab.page.evaluate(f"() => {{ {axe} }}")
        for scheme in ("light", "dark"):
            lab.page.emulate_media(color_scheme=scheme)
            assert_axe_finds_nothing(lab.page, scheme, "#editor")
        assert lab.page.evaluate("() => document.documentElement.scrollWidth") == 360
        edges = lab.page.locator(".ed-tools :is(button, summary)").evaluate_all(
            "(all) => all.map((one) => Math.round(one.getBoundingClientRect().x))"
        )
        assert len(set(edges)) == 3  # the buttons stand in columns
        lab.page.set_viewport_size({"width": 320, "height": 700})
        lab.page.locator(".ed-menu summary").click()
        assert lab.page.locator(".ed-menu .list").is_visible()
        assert lab.page.evaluate("() => document.documentElement.scrollWidth") == 320
        assert (
            lab.page.locator(
                ".ed-menu .list, .ed-menu small, #editor :is(header, form) :is(button, select)"
            ).evaluate_all("(all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length")
            == 0
        )
        lab.page.set_viewport_size({"width": 360, "height": 780})
        picture, table = lab.page.locator(".ed-picture").bounding_box(), lab.page.locator(".ed-table").bounding_box()
        assert picture["y"] + picture["height"] <= table["y"]  # above it, where there is no room beside it
