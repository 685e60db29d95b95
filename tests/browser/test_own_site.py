"""A site with an instructor's own trace and exercise, as a student uses it; and the preview, as its author does."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from code_page import SLOW, CodePage
from lab_page import opened
from lab_server import LabServer
from playwright.sync_api import expect

from app.build.compress import QUICK
from app.build.content import AFTER_PASS, read_content
from app.build.out import write_site
from app.build.paths import cache_folder
from app.build.site import make_site
from app.build.store import Store
from lab.formats.trace_json import read_trace
from lab.replay import run
from lab.staff.new_exercise import new_exercise

ID = "reference_counts"  # a name that must not be taken for a reference solution
ROWS = [("p", 0, 9, 4), ("q", 0, 17, 12), ("r", 1, 8, 6), ("s", 2, 20, 3), ("t", 3, 5, 9)]
SHOWN = ("iterations", "utilization", "peak_pages", "wait_p95")


def write_trace(path, title, seats):
    keys = ("id", "arrival", "prompt_tokens", "output_tokens")
    document = {
        "schema_version": 1,
        "name": path.stem,
        "title": title,
        "limits": {"max_num_seqs": seats, "page_size": 8, "num_pages": 16},
        "requests": [dict(zip(keys, row, strict=True)) for row in ROWS],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def figures(path, **limits):
    """What the command line says of a trace."""
    trace = read_trace(path)
    policies = run(trace, replace(trace.limits, **limits)).policies
    return {(name, key): one.metrics[key] for name, one in policies.items() for key in SHOWN}


def shown(lab):
    return {(name, key): lab.metrics(name)[key] for name in ("static", "continuous") for key in SHOWN}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A folder with one trace and one exercise, and the site that was built with them."""
    folder = tmp_path_factory.mktemp("own")
    write_trace(folder / "traces" / "week-4.json", "Five requests on two seats", 2)
    new_exercise(ID, folder / "checks")
    content = read_content(str(folder / "traces"), str(folder / "checks"), "CS 123, week 4", AFTER_PASS)
    write_site(make_site(Store(cache_folder()), QUICK, content=content), folder / "site")
    return folder


def test_a_student_uses_a_site_with_one_trace_and_one_exercise(browser, own, tmp_path):
    with LabServer(own / "site") as server, opened(browser) as lab:
        page = lab.page
        lab.open(server.url, ready=False)
        assert page.title() == "CS 123, week 4"
        expect(page.locator("h1")).to_have_text("Two ways to fill two seats")
        expect(page.locator("#trace-choice")).to_have_count(0)
        lab.reveal()
        expected = figures(own / "traces" / "week-4.json")
        assert shown(lab) == pytest.approx(expected)  # drawn before Python has started
        figure = expected["continuous", "iterations"]
        expect(page.locator(".lesson")).to_contain_text(
            f"{figure} iterations against {expected['static', 'iterations']}"
        )
        lab.wait_ready()
        lab.set("Seats", "3")
        third = figures(own / "traces" / "week-4.json", max_num_seqs=3)["static", "peak_pages"]
        assert third != expected["static", "peak_pages"]
        lab.wait_metric("static", "peak_pages", third)
        page.get_by_role("button", name="Reset limits").click()
        lab.wait_metric("static", "peak_pages", expected["static", "peak_pages"])
        assert shown(lab) == pytest.approx(expected)

        code = CodePage(page, ID)
        code.near()
        expect(page.get_by_role("tab")).to_have_count(1)
        expect(code.button("Experiment with your code")).to_have_count(0)
        reference = code.panel.locator("details.reference")
        expect(reference).to_be_hidden()
        expect(code.panel).to_contain_text("can be opened here once your code has passed all checks")
        code.plain().write(f"def {ID}(waiting, free_seats):\n    return waiting - free_seats\n").check()
        assert page.locator(f"#panel-{ID} .verdict").evaluate_all(
            "(found) => found.map((one) => one.dataset.outcome)"
        ) == ["passed", "failed", "passed"]
        expect(code.verdict(1)).to_contain_text("a count never is")  # the likely cause, by its author
        expect(reference).to_be_hidden()
        right = f"def {ID}(waiting, free_seats):\n    return waiting - min(waiting, free_seats)\n"
        code.write(right).check()
        expect(code.said).to_contain_text("3 of 3")
        expect(code.results).to_have_count(1)
        expect(code.progress("code")).to_have_text("✓")
        expect(reference).to_be_visible()
        page.reload()
        lab.wait_ready()
        code.near()
        assert code.text() == right
        expect(code.panel.locator("details.reference")).to_be_visible()
        reference.locator("summary").click()
        expect(reference).to_contain_text("max(0, waiting - free_seats)")
        code.export(tmp_path / "work.json")
        assert lab.troubles == []
    command = [sys.executable, "-m", "lab", "grade", str(tmp_path / "work.json"), "--checks", str(own / "checks")]
    done = subprocess.run(
        [*command, "--student", "ann", "--out", str(tmp_path / "grades")],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "5" in (tmp_path / "grades" / "grades.csv").read_text("utf-8").splitlines()[2].split(",")


def driving_exercise(parent):
    """The lab's scheduler step under another name, with one known mistake."""
    folder = parent / "my_step"
    shutil.copytree(Path(__file__).parents[2] / "checks" / "scheduler_step", folder)
    for name in ("checks.json", "hidden.json"):
        change(folder / name, exercise="my_step")
    kept = "newest_first.py"
    for path in (folder / "wrong").glob("*.py"):
        if path.name != kept:
            path.unlink()
    wrong = json.loads((folder / "wrong" / "expected.json").read_text("utf-8"))["wrong"]
    change(folder / "wrong" / "expected.json", wrong={kept: wrong[kept]})
    return folder


def change(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), encoding="utf-8")


def test_an_author_sees_what_is_saved_and_loses_nothing_typed(browser, tmp_path):
    first = write_trace(tmp_path / "traces" / "1.json", "Two seats", 2)
    second = write_trace(tmp_path / "traces" / "2.json", "Three seats", 3)
    folder = new_exercise(ID, tmp_path / "checks")
    step = driving_exercise(tmp_path / "checks")
    options = ("--traces", str(tmp_path / "traces"), "--checks", str(tmp_path / "checks"))
    with LabServer(None, *options) as server, opened(browser) as lab:
        page = lab.page
        lab.open(server.url)
        lab.reveal()
        # The choice of a trace
        choice = page.get_by_label("Trace", exact=True)
        assert choice.locator("option").all_inner_texts() == ["Two seats", "Three seats"]
        assert shown(lab) == pytest.approx(figures(first))
        choice.select_option("Three seats")
        lab.wait_metric("static", "iterations", figures(second)["static", "iterations"])
        assert shown(lab) == pytest.approx(figures(second))
        expect(page.locator("#notice-trace")).to_have_count(0)
        choice.select_option("Two seats")
        lab.wait_metric("static", "iterations", figures(first)["static", "iterations"])

        # An exercise whose code can drive the replay, whatever it is called
        code = CodePage(page, "my_step")
        code.near()
        code.plain().write((step / "reference.py").read_text("utf-8")).press("Experiment with your code")
        expect(lab.side("yours")).to_be_visible(timeout=SLOW)
        expect(page.locator(".yours")).to_contain_text("Every step is the engine's")

        # What was typed a moment before a save is there after the reload
        code.choose(ID).write("# typed, and not yet saved")
        change(folder / "exercise.json", title="Another title")
        page.keyboard.insert_text(", and more")
        expect(page.locator(f"#panel-{ID} h3").first).to_have_text("Another title", timeout=SLOW)
        assert code.text() == "# typed, and not yet saved, and more"
        expect(page.locator(f"#panel-{ID}")).to_be_in_viewport()

        # An error is told where the author looks, and what was shown stays
        change(folder / "exercise.json", hints=[])
        notice = page.locator("#notice-preview")
        expect(notice).to_contain_text(f"{ID}/exercise.json: hints", timeout=SLOW)
        expect(page.locator(f"#panel-{ID} h3").first).to_have_text("Another title")
        assert lab.troubles == []
