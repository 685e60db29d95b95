"""A lab that is handed on: by link, by file, and what stays as it is when one is opened."""

import base64
import json
import random
import zlib
from pathlib import Path

import pytest
from code_page import PAGES, CodePage, reference
from editor_page import EditorPage, printed
from lab_page import LabPage, assert_same_figures, opened
from playwright.sync_api import expect

from lab.formats.trace_json import read_trace

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "traces" / "course.json"
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def copied(lab: LabPage) -> str:
    """The link that "Copy link" gives."""
    lab.page.evaluate("() => navigator.clipboard.writeText('')")
    lab.page.click("#copy-link")
    lab.page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
    return str(lab.page.evaluate("() => navigator.clipboard.readText()"))


@pytest.fixture(scope="module")
def shared(browser, server, tmp_path_factory):
    """A trace of one's own, edited and handed on: {link, trace (its file), iteration}."""
    folder = tmp_path_factory.mktemp("shared")
    with opened(browser, permissions=CLIPBOARD) as lab:
        lab.open(server.url)
        editor = EditorPage(lab).open()
        editor.cell("arrival", 3).fill("7")
        editor.cell("output_tokens", 8).fill("33")
        editor.cell("id", 2).fill("bé & <b>")
        lab.set("Pages", "15")
        lab.wait_metric("continuous", "peak_pages", 15)
        trace = editor.saved(folder)
        lab.seek(31)
        lab.page.wait_for_timeout(500)
        link = copied(lab)
        assert lab.page.url == link  # the address follows, so that a reload keeps the trace
        assert lab.troubles == []
    return {"link": link, "trace": trace}


@pytest.fixture(scope="module")
def page(browser, server):
    """A page that is offered links and files that are not in order."""
    with opened(browser) as lab:
        lab.open(server.url)
        lab.reveal()
        yield lab


def test_a_link_opens_the_same_replay_in_a_fresh_profile(browser, shared, capsys):
    assert len(shared["link"]) < 1000
    with opened(browser) as lab:
        lab.open(shared["link"], ready=False)
        lab.page.click("#edit-trace")  # before Python has read the trace that is to be edited
        expect(lab.page.locator("#notice-editor")).to_contain_text("as soon as Python is ready")
        lab.wait_ready()
        expect(lab.page.locator("#notice-trace")).to_contain_text("9 requests")
        expect(lab.page.locator("#editor .ed-tools")).to_be_visible()
        assert lab.page.locator("#notice-editor").count() == 0
        expect(lab.page.get_by_text("Guess before you play")).to_be_visible()  # a link does not guess for its reader
        taught = lab.page.locator(".ed-teaches .sentence")
        expect(taught).to_be_hidden()  # nor does the editor
        lab.page.get_by_role("button", name="show the results").click()
        expect(taught).to_be_visible()
        expect(lab.page.get_by_text("Guess before you play")).to_be_hidden()
        assert_same_figures(lab, printed(capsys, shared["trace"]), wait=20)
        expect(lab.page.locator("#experiment input[type=range]").first).to_have_value("31")
        expect(lab.field("Pages")).to_have_value("15")
        editor = EditorPage(lab).open()
        assert editor.cell("id", 2).input_value() == "bé & <b>"
        assert editor.cell("arrival", 3).input_value() == "7"
        # Turned limits and a reload keep the trace; the way back is there.
        lab.set("Seats", "4")
        assert_same_figures(lab, printed(capsys, shared["trace"], "--max-num-seqs", "4"), wait=20)
        lab.page.wait_for_url("**max_num_seqs=4**")
        lab.page.reload()
        lab.wait_ready()
        assert_same_figures(lab, printed(capsys, shared["trace"], "--max-num-seqs", "4"), wait=20)
        lab.page.get_by_role("button", name="Back to the lab's trace").click()
        assert_same_figures(lab, printed(capsys, COURSE), wait=20)
        assert lab.page.locator("#notice-trace").count() == 0
        lab.page.wait_for_function("() => !location.hash.includes('trace=')")
        assert lab.troubles == []


def parts(link: str) -> tuple[str, str]:
    """A link's fragment before its trace's data, and that data."""
    before, data = link.split("#", 1)[1].split("trace=")
    return before, data


def packed(text: str) -> str:
    """`text` compressed as a link has it."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = squeezed.compress(text.encode()) + squeezed.flush()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def test_links_that_are_not_whole_are_refused_politely(page, shared, capsys):
    course = printed(capsys, COURSE)
    before, data = parts(shared["link"])
    version, sum_ = before.split("&")[0].removeprefix("own=").split(".")
    assert version == "1"
    middle = len(data) // 2
    swapped = "A" if data[middle] != "A" else "B"
    bad = [
        (f"{before}trace={data[:-1]}", "cut short"),
        (f"{before}trace={data[:middle]}", "cut short"),
        (f"{before}trace=", "cut short"),
        (before.rstrip("&"), "cut short"),
        (f"own=1.{sum_[:5]}", "damaged"),
        (f"{before}trace={data[:middle]}{swapped}{data[middle + 1 :]}", "altered"),
        (f"{before}trace={data}AAAA", "altered"),
        (f"{before}trace=%00%01", "altered"),
        (f"own=1.{'0' * 12}&trace={data}", "altered"),
        (f"trace={data}", "checked against"),
        (f"own=2.{sum_}&trace={data}", "later version"),
        (f"own=2.{sum_}.more&something=else&trace={data}", "later version"),
        (f"own=x.{sum_}&trace={data}", "damaged"),
        (f"{before}trace={data * (2_000_000 // len(data))}", "too long"),
        (f"own=1.{sum_}&trace={packed('x' * 5_000_000)}", "altered"),  # small, until it is unpacked
    ]
    for fragment, says in bad:
        page.page.evaluate("(hash) => { location.hash = hash; }", fragment)
        expect(page.page.locator("#notice-link")).to_contain_text(says)
        expect(page.page.locator("#notice-link")).to_contain_text("What was on the screen stays.")
        assert_same_figures(page, course)
        assert len(page.page.inner_text("#notice-link")) < 400
    assert page.troubles == []
    # A whole one still opens after all that.
    page.page.evaluate("(hash) => { location.hash = hash; }", shared["link"].split("#", 1)[1])
    assert_same_figures(page, printed(capsys, shared["trace"]), wait=20)
    assert page.page.locator("#notice-link").count() == 0
    page.page.get_by_role("button", name="Back to the lab's trace").click()
    assert_same_figures(page, course, wait=20)


def test_a_link_of_two_megabytes_or_cut_short_is_refused_when_it_is_what_was_opened(browser, server, shared):
    before, data = parts(shared["link"])
    with opened(browser) as lab:
        for fragment, says in (
            (f"{before}trace={data[:-3]}", "cut short"),
            (f"{before}trace={'A' * 2_000_000}", "too long"),
        ):
            lab.page.goto("about:blank")
            lab.open(f"{server.url}#{fragment}", ready=False)  # it takes no Python to see that
            expect(lab.page.locator("#notice-link")).to_contain_text(says)
            lab.reveal()
            assert lab.metrics("static")["iterations"] == 116
        assert lab.troubles == []


def test_what_python_refuses_is_told_too(page, tmp_path):
    """Files that are no trace, or none that can be replayed: the page says why, and nothing changes."""
    wrong = json.loads(COURSE.read_text())
    wrong["requests"][4]["prompt_tokens"] = 0
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    (tmp_path / "none.json").write_text("{")
    (tmp_path / "latin.json").write_bytes("é".encode("latin-1"))
    (tmp_path / "later.json").write_text('{"schema_version": 2, "lab": ""}')
    (tmp_path / "empty.json").write_text('{"schema_version": 1, "lab": 5}')
    (tmp_path / "damaged.json").write_text('{"schema_version": 1, "lab": "own=1.000000000000&trace=AAAA"}')
    (tmp_path / "big.json").write_text(" " * 9_000_000)
    bomb = json.dumps({"schema_version": 1, "lab": f"own=1.{'0' * 12}&trace={packed('x' * 100_000_000)}"})
    (tmp_path / "bomb.json").write_text(bomb)
    page.page.evaluate(
        """() => {
          const {write} = WritableStreamDefaultWriter.prototype;
          window.unpacked = 0;
          WritableStreamDefaultWriter.prototype.write = function (piece) {
            window.unpacked += piece.byteLength;
            return write.call(this, piece);
          };
        }"""
    )
    editor = EditorPage(page)
    for name, says in (
        ("wrong", "Row 5"),
        ("none", "It is not JSON"),
        ("latin", "not text in UTF-8"),
        ("later", "schema_version"),
        ("empty", "without a state"),
        ("damaged", "This file was cut short or altered"),
        ("big", "9 MB"),
        ("bomb", "This file was cut short or altered"),
    ):
        editor.load(tmp_path / f"{name}.json")
        expect(page.page.locator("#notice-file")).to_contain_text(says)
        expect(page.page.locator("#notice-file")).to_contain_text("What was on the screen stays.")
        assert page.metrics("static")["iterations"] == 116
    assert "trace=" not in page.page.url
    assert len(bomb) > 100_000 and page.page.evaluate("() => window.unpacked") < 20_000  # given up early
    assert page.troubles == []


def test_what_is_too_long_for_a_link_goes_by_file(browser, server, tmp_path, capsys):
    trace = json.loads(COURSE.read_text())
    noise = random.Random(1)
    for request in trace["requests"]:
        request["prefix"] = [noise.randrange(2**52) for _ in range(80)]
        request["id"] = request["id"] * 70
    trace["title"] = "W" * 3000
    (tmp_path / "long.json").write_text(json.dumps(trace))
    with opened(browser, permissions=CLIPBOARD) as lab:
        lab.open(server.url)
        editor = EditorPage(lab)
        editor.load(tmp_path / "long.json")
        expect(lab.page.locator("#notice-trace")).to_be_visible()
        editor.open()
        lab.set("Pages", "14")
        lab.wait_metric("continuous", "peak_pages", 14)
        lab.seek(20)
        lab.page.click("#copy-link")
        expect(lab.page.locator("#notice-copy")).to_contain_text("Hand it on as a file")
        with lab.page.expect_download() as waiting:
            lab.page.get_by_role("button", name="Save it as a file").click()
        waiting.value.save_as(tmp_path / "handed.json")
        assert waiting.value.suggested_filename == "course.lab.json"
        # A reload finds no link in the address; what was edited is not lost for that.
        editor.cell("arrival", 2).fill("1")
        lab.page.wait_for_function("() => location.hash === ''")
        editor.cell("output_tokens", 2).fill("16")
        lab.page.reload()  # at once
        lab.wait_ready()
        editor.open()
        assert editor.cell("arrival", 2).input_value() == "0"
        lab.page.get_by_role("button", name="Bring it back").click()
        assert editor.cell("arrival", 2).input_value() == "1"
        assert editor.cell("output_tokens", 2).input_value() == "16"
        assert editor.cell("prefix", 2).input_value() == json.dumps(trace["requests"][1]["prefix"])
        lab.wait_metric("continuous", "peak_pages", 14)
    with opened(browser) as lab:
        lab.open(server.url)
        editor = EditorPage(lab)
        editor.load(tmp_path / "handed.json")
        expect(lab.page.locator("#notice-trace")).to_be_visible()
        lab.reveal()
        assert_same_figures(lab, printed(capsys, tmp_path / "long.json", "--num-pages", "14"), wait=20)
        expect(lab.page.locator("#experiment input[type=range]").first).to_have_value("20")
        editor.open()
        # Nor do names without an end push anything out of the page, or out of sight.
        lab.page.set_viewport_size({"width": 360, "height": 780})
        lab.seek(2)
        assert lab.page.evaluate("() => document.documentElement.scrollWidth") == 360
        strip = lab.page.locator(".strip > div").evaluate_all("(all) => all.map((one) => one.clientWidth)")
        assert len(strip) == 8 and min(strip) > 80
        saved = read_trace(editor.saved(tmp_path))
        assert [list(request.prefix or ()) for request in saved.requests] == [r["prefix"] for r in trace["requests"]]
        assert lab.troubles == []


def test_a_learners_work_survives_the_opening_of_anothers_link(browser, server, shared):
    mine = reference(PAGES) + "\n# mine\n"
    with opened(browser) as lab:
        code = CodePage(lab.page).open(server.url)
        code.with_ace().write(mine)
        code.wait_saved(mine)
        kept = code.saved()
        lab.page.goto(shared["link"])
        lab.page.reload()
        lab.wait_ready()
        expect(lab.page.locator("#notice-trace")).to_be_visible()
        code.near()
        assert code.with_ace().text() == mine
        assert code.saved() == kept
        lab.page.get_by_role("button", name="Back to the lab's trace").click()
        assert code.text() == mine
        assert lab.troubles == []
