"""Learners' code in Firefox, which hands WebAssembly from worker to worker by rules of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from learner_page import DEADLINE, ESCAPE
from nasty import ONCE, allowed, solution

from app.setup.browser import firefox
from lab.exercises import load_all
from lab.grading.grade import grade_here

PAGES = load_all()["allocate_kv_pages"]
CASES = ["loop", "recursion through partial", "a list that grows", "os._exit(0)", "import js", "None"]


def test_learners_code_in_firefox(server, node_package):
    path = firefox()
    if path is None:
        pytest.skip("no Firefox on this machine; where one is installed (or named in FIREFOX) this runs")
    source, chosen = solution(PAGES, CASES)
    job = {"deadline": DEADLINE, "checks": [[PAGES.id, source], [PAGES.id, PAGES.reference]], "run": ESCAPE}
    script = str(Path(__file__).with_name("firefox_runner.mjs"))
    done = subprocess.run(
        ["node", script, str(node_package("puppeteer-core@24.43.1")), path, server.url, json.dumps(job)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    nasty, honest = told["results"]
    for index, name in chosen.items():
        assert nasty["checks"][index]["outcome"] in allowed(ONCE[name][1]), (name, nasty["checks"][index])
    assert {check["outcome"] for i, check in enumerate(nasty["checks"]) if i not in chosen} == {"passed"}
    assert honest == json.loads(json.dumps(grade_here(PAGES, PAGES.reference or "", hidden=False)))
    assert told["run"]["outcome"] == "ran"
    assert "reached" not in told["run"]["output"] and told["run"]["output"].count("refused") == 8
