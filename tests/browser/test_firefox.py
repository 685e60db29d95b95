"""A shorter run in Firefox: the course replay, a start of Python, words, and limits that reach Python and back."""

import json
import subprocess
from pathlib import Path

import pytest
from lab_page import command_line

from app.setup.browser import firefox


def figures(triples: list) -> dict:
    return {(policy, metric): value for policy, metric, value in triples}


def test_the_lab_in_firefox(server, node_package, capsys, monkeypatch):
    path = firefox()
    if path is None:
        pytest.skip("no Firefox on this machine; where one is installed (or named in FIREFOX) this runs")
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    package = node_package("puppeteer-core@24.43.1")
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("firefox.mjs")), str(package), path, server.url],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert seen["python"] == "ready", seen["status"]
    for name, options in (("first", ()), ("starved", ("--num-pages", "14"))):
        shown = figures(seen[name])
        for policy, printed in command_line(capsys, *options)["policies"].items():
            for metric in ("iterations", "utilization", "wait_p95", "peak_pages"):
                assert shown[policy, metric] == pytest.approx(printed[metric], abs=1e-9)
    assert "d took seat 1" in " ".join(seen["words"].split())
    assert seen["troubles"] == []
