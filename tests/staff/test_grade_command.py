"""The files that `serving-lab grade` writes, and its exit statuses."""

import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import jsonschema
import pytest
from classroom import EXERCISES, PAGES, RIGHT, ROOT, STEP, WRONG, export, grade, result, saved, tree, write

from lab.grading.grade import grade_here
from lab.staff.grades_csv import as_text
from lab.staff.mutants import mutants
from lab.staff.store import file_name

pytestmark = pytest.mark.cpython_only("starts processes")

EVIL = "<script>alert(1)</script>"
SHOWS = f"""
def allocate_kv_pages(tokens, page_size=16):
    print('\\x1b[31m{EVIL}]]>\\x00\\ud800')
    if tokens == 33:
        raise ValueError('{EVIL} & "quoted"')
    return {{'pages': '{EVIL}'}}
"""
EXTRA = {
    "schema_version": 1,
    "exercise": PAGES,
    "checks": [
        {
            "name": "A check of this course alone",
            "visibility": "hidden",
            "points": 4,
            "arguments": [314159, 17],
            "expected": {"pages": 18480, "capacity": 314160, "wastedSlots": 1},
            "hint": "A course's own hint.",
        }
    ],
}
ROSTER = "Student ID,Name,Section\nalice,Alice Ä,1\n=1+1,+Formula,1\nnobody,Nobody,2\n"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class in every format: the folder written to, stdout, and the work."""
    here = tmp_path_factory.mktemp("work")
    out = here / "out"
    write(
        here,
        {
            f"class/alice/{PAGES}.py": EXERCISES[PAGES].reference,
            f"class/alice/{STEP}.py": EXERCISES[STEP].reference,
            "class/bob/work.json": export(saved(WRONG, saved_at="2026-02-01T00:00:01+00:00"), saved("1 / 0", STEP)),
            f"class/{EVIL.replace('/', '')}/{PAGES}.py": SHOWS,
            f"class/=1+1/{PAGES}.py": SHOWS,
            "extra/allocate_kv_pages.json": json.dumps(EXTRA),
            "roster.csv": ROSTER,
        },
    )
    for path in (here / "class").rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    arguments = ["--format", "json,gradescope,csv,junit", "--hidden", here / "extra", "--roster", here / "roster.csv"]
    arguments += ["--deadline", "2026-02-01T00:00:00Z", "--timeout", 3]
    status, said, err = grade(here / "class", "--out", out, *arguments)
    assert status == 1, err
    return out, said, here


def test_results_have_the_shape_that_the_page_uses(graded):
    out, *_ = graded
    schema = json.loads((ROOT / "checks" / "result.schema.json").read_text("utf-8"))
    for path in (out / "results").rglob("*.json"):
        found = json.loads(path.read_text("utf-8"))
        jsonschema.validate(found, schema)
        assert found["points"] == sum(check["points"] for check in found["checks"])
        assert found["max_points"] == sum(check["max_points"] for check in found["checks"])
        assert set(found) - {"isolation", "limits"} == set(schema["required"])


def test_an_export_of_the_page_gets_the_verdicts_of_the_page(graded):
    """The page judges with `lab.grading` as well, in an interpreter of its own."""
    for code, exercise in ((WRONG, PAGES), ("1 / 0", STEP)):
        page = grade_here(EXERCISES[exercise], code, hidden=False)
        found = result(graded[0], "bob", exercise)
        visible = [check for check in found["checks"] if check["visibility"] == "visible"]
        assert (visible, found["problem"]) == (page["checks"], page["problem"])
        assert found["code_sha256"] == page["code_sha256"]


def test_extra_checks_count_and_are_nobodys_to_see(graded):
    out, *_ = graded
    alice = result(out, "alice")
    assert (alice["points"], alice["max_points"]) == (31, 31)
    assert alice["checks"][-1]["name"] == "A check of this course alone"
    hidden = [check for one in EXERCISES.values() for check in one.hidden]
    told = "\n".join(f"{check.name} {check.hint}" for one in EXERCISES.values() for check in one.visible)
    secrets = {text for check in hidden for text in (check.name, check.hint) if text not in told}
    assert len(secrets) > 20
    secrets |= {"A check of this course alone", "A course's own hint.", "314159", "314160"}
    shown = [path.read_text("utf-8") for path in (out / "feedback").iterdir()]
    shown += [path.read_text("utf-8") for path in (out / "gradescope").rglob("*.json")]
    assert len(shown) == 10
    for text in shown:
        assert [secret for secret in secrets if secret in text or json.dumps(secret)[1:-1] in text] == []


def test_the_csv(graded):
    text = (graded[0] / "grades.csv").read_text("utf-8")
    header, most, *rows = list(csv.reader(io.StringIO(text)))
    assert header[:6] == ["student", "name", PAGES, STEP, "total", "late"]
    assert most[:5] == ["Points possible", "", "31", "55", "86"]
    by_student = {row[0]: row for row in rows}
    assert by_student["alice"][1:6] == ["Alice Ä", "31", "55", "86", ""]
    assert by_student["nobody"][1:6] == ["Nobody", "0", "0", "0", ""]
    assert by_student["bob"][5] == "late"
    assert by_student["'=1+1"][1] == "'+Formula"
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@x", "\t=1", "\r\n=1", " =cmd|' /C calc'!A0", "|x", "＝1"])
def test_no_formula_gets_into_a_spreadsheet(cell):
    assert as_text(cell).startswith("'")


def test_gradescope(graded):
    out, *_ = graded
    document = json.loads((out / "gradescope" / "alice" / "results.json").read_text("utf-8"))
    tests = document["tests"]
    assert set(document) <= {
        *("score", "execution_time", "output", "output_format", "test_output_format", "test_name_format"),
        *("visibility", "stdout_visibility", "extra_data", "tests", "leaderboard"),
    }
    for test in tests:
        assert set(test) <= {
            *("score", "max_score", "status", "name", "name_format", "number", "output", "output_format"),
            *("tags", "visibility", "extra_data"),
        }
        assert test["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
        assert test["status"] in ("passed", "failed")
    assert sum(test["score"] for test in tests) == sum(test["max_score"] for test in tests) == 86
    assert {test["visibility"] for test in tests if "Hidden check" in test["name"]} == {"after_published"}
    assert document["stdout_visibility"] == "hidden"
    missing = json.loads((out / "gradescope" / "nobody" / "results.json").read_text("utf-8"))
    assert [(test["score"], test["max_score"]) for test in missing["tests"]] == [(0, 31), (0, 55)]


def test_junit(graded):
    root = ElementTree.parse(graded[0] / "junit.xml").getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert len(suites) == 6
    assert suites[f"alice: {PAGES}"].get("failures") == "0"
    assert suites[f"bob: {STEP}"].get("errors") == suites[f"bob: {STEP}"].get("tests")
    assert int(root.get("tests")) == sum(len(suite.findall("testcase")) for suite in root)


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.policy, self.links, self.ids = [], "", [], set()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]
        if tag == "a":
            self.links.append(found["href"])
        self.ids.add(found.get("id"))
        assert not [name for name in found if name.startswith("on") or name == "style"]


def test_the_report_runs_nothing_and_needs_nothing(graded):
    text = (graded[0] / "report.html").read_text("utf-8")
    page = _Page()
    page.feed(text)
    assert "default-src 'none'" in page.policy and "unsafe" not in page.policy
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    assert EVIL not in text and "&lt;script&gt;" in text
    assert "\x1b" not in text and "\x00" not in text
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(page.links) == 5
    assert not re.search(r"(src|url)\s*[=(]", text)


def test_feedback_says_why(graded):
    text = (graded[0] / "feedback" / "bob.txt").read_text("utf-8")
    assert "saved after the deadline" in text
    assert "allocate_kv_pages(0, 16)" in text
    assert "ZeroDivisionError" in text
    assert "\x1b" not in (graded[0] / "feedback" / f"{file_name('=1+1')}.txt").read_text("utf-8")


def test_the_summary_on_the_terminal(graded):
    _, said, _ = graded
    assert "5 students, 6 solutions" in said
    assert "late: bob" in said
    assert "handed nothing in: nobody" in said
    assert "not on the roster:" in said and "bob" in said
    assert "\x1b" not in said


def test_nobody_else_can_read_what_was_written(graded):
    for path in [graded[0], *graded[0].rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0


def test_a_second_run_runs_only_what_changed_and_a_comparison_tells_whom(graded, tmp_path):
    _, _, here = graded
    work, old, new = tmp_path / "class", tmp_path / "old", tmp_path / "new"
    write(work, {f"alice/{PAGES}.py": RIGHT, f"bob/{PAGES}.py": WRONG})
    assert grade(work, "--out", old)[0] == 1
    before = tree(old)
    status, said, _ = grade(work, "--out", old)
    assert (status, tree(old)) == (1, before)
    assert "2 of them unchanged" in said
    write(work, {f"bob/{PAGES}.py": RIGHT})
    status, said, _ = grade(work, "--out", old, "--timeout", 4)
    assert "unchanged" not in said  # other limits, other results
    status, said, _ = grade(work, "--out", old, "--timeout", 4, "--force")
    assert (status, "unchanged" in said) == (0, False)
    status, said, _ = grade(work, "--out", new, "--hidden", here / "extra", "--compare", old)
    compared = json.loads((new / "compared.json").read_text("utf-8"))
    assert status == 0
    assert [(one["student"], one["code_changed"]) for one in compared["changed"]] == [("alice", False), ("bob", False)]
    assert [check["name"] for check in compared["changed"][0]["checks"]] == ["A check of this course alone"]
    assert "against the earlier run: 2 changed, 0 the same" in said


def test_everything_is_one_students(tmp_path):
    write(tmp_path, {"submission/main.py": "x = 1\n"})
    status, _, err = grade(
        tmp_path / "submission", "--out", tmp_path / "out", "--student", "me", "--format", "gradescope"
    )
    document = json.loads((tmp_path / "out" / "gradescope" / "me" / "results.json").read_text("utf-8"))
    assert status == 1, err
    assert "nothing was handed in" in document["output"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: cannot be read"),
        ([".", "--exercise", "none"], "there is no exercise 'none'"),
        ([".", "--format", "xls"], "there is no format"),
        ([".", "--jobs", "0"], "must be from 1 to 256"),
        ([".", "--memory", "5"], "at least 64"),
        ([".", "--timeout", "-1"], "--timeout"),
        ([".", "--deadline", "tomorrow"], "must be a date and time"),
        ([".", "--roster", "nowhere.csv"], "nowhere.csv"),
        ([".", "--hidden", "nowhere"], "is no folder"),
        ([".", "--compare", "nowhere"], "holds no results"),
        (["tests/staff/test_grade_command.py", "--without", "walls"], "there is no layer"),
    ],
)
def test_a_wrong_call_is_one_line(arguments, said, tmp_path):
    status, out, err = grade(*arguments, "--out", tmp_path / "out")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert "Traceback" not in err


def test_names_of_files_are_nobody_elses():
    assert file_name("alice") == "alice"
    assert len({file_name(name) for name in ("a/b", "a_b", "a b", "..", ".", "", "a\x00b", "ä" * 200)}) == 8
    assert all("/" not in file_name(name) and not file_name(name).startswith(".") for name in ("../x", ".ssh", "/etc"))


def test_mutants():
    made = list(mutants("def f(a, b=3):\n    return -(a // b) < 5 and a\n"))
    names = [mutant.name for mutant in made]
    assert "line 1: 3 → 4" in names and "line 2: a // b → a * b" in names
    assert "line 2: -(a // b) < 5 → -(a // b) <= 5" in names
    assert len({mutant.code for mutant in made}) == len(made)
