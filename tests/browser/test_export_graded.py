"""What the page said of a learner's work is what the command line says of the file that the page exported."""

import json
import subprocess
import sys
from pathlib import Path

from code_page import EXERCISES, PAGES, STEP, CodePage, wrong
from jsonschema import Draft202012Validator
from lab_page import opened


def test_an_export_is_graded_as_the_page_graded_it(browser, server, tmp_path):
    shown = {}
    with opened(browser) as lab:
        code = CodePage(lab.page, PAGES).open(server.url)
        for exercise in (PAGES, STEP):
            mistake = EXERCISES[exercise].wrong[0].file
            code.choose(exercise).plain().write(wrong(exercise, mistake)).check()
            names = [check.name for check in EXERCISES[exercise].visible]
            shown[exercise] = dict(zip(names, code.outcomes(), strict=True))
            assert {"passed", "failed"} <= set(shown[exercise].values())
        document = code.export(tmp_path / "work.json")
    schema = json.loads((Path(__file__).resolve().parents[2] / "checks" / "saved.schema.json").read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    # In a process of its own: when it ends, the grader ends every process below it, and here that is the browser.
    command = [sys.executable, "-m", "lab", "grade", str(tmp_path / "work.json"), "--out", str(tmp_path / "grades")]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    for exercise, outcomes in shown.items():
        (file,) = (tmp_path / "grades" / "results").rglob(f"{exercise}.json")
        result = json.loads(file.read_text(encoding="utf-8"))
        graded = {check["name"]: check["outcome"] for check in result["checks"] if check["visibility"] == "visible"}
        assert graded == outcomes
