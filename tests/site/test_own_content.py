"""Sites with an instructor's own content: what is taken, what stops a build, and what learners then get."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from own import BREAKS, TRACE, exercise, write_trace

from app.build import command, content
from app.build.content import AFTER_PASS, NEVER, Content, ContentErrors, read_content, read_parts, read_traces
from app.build.out import NAME, SITE_FILE
from app.build.page import make_page
from app.build.python_folder import INDEX, packages_apart, with_content
from app.build.site import Site
from app.page.experiments import experiments
from lab.formats.trace_json import parse_trace
from lab.replay import run

EVERYWHERE = {"vendor": "vendor-0/", "runtime": "runtime-0/", "python": "python-0/", "lab": "lab-0/"}


def spec(own: Content) -> dict[str, Any]:
    """What the page is made from, with folders that nobody looks into."""
    rest = {"version": "1", "folders": EVERYWHERE, "scripts": [], "start": {}, "preview": None}
    return {**rest, "solutions": own.solutions}


# What stops a build


def test_every_broken_exercise_and_trace_is_told_by_name_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "make_site", lambda *_: pytest.fail("a broken site was made"))
    expected = []
    for name, break_it in BREAKS.items():
        expected.append(break_it(exercise(tmp_path / "checks", f"broken_{name}")))
    exercise(tmp_path / "checks", "fine")
    write_trace(tmp_path / "traces" / "bad.json", requests=[{**TRACE["requests"][0], "output_tokens": 0}], limits={})
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = ["--traces", str(tmp_path / "traces"), "--checks", str(tmp_path / "checks"), "--title", "x" * 81]
    status = command.run(parser.parse_args(["--out", str(tmp_path / "out"), *options]))
    lines = capsys.readouterr().err.splitlines()
    assert status == 2 and not (tmp_path / "out").exists()
    told = lines[1:]
    assert lines[0] == f"serving-lab build: {len(told)} errors, and nothing was built:"
    bad = str(tmp_path / "traces" / "bad.json")
    expected += [f"{bad}: limits", f"{bad}: max_num_seqs: is missing", f'{bad}: requests[0] (id "p"), output_tokens']
    for words in [expected[0], *expected[1:4], expected[-1], "--title: must be one line of at most 80 characters"]:
        assert any(words in line for line in told), words
    assert not any("fine/" in line for line in told)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"requests": []}, "requests: must not be empty"),
        ({"requests": [{**TRACE["requests"][0], "id": str(i)} for i in range(101)]}, "101"),
        ({"limits": {**TRACE["limits"], "max_num_seqs": 65}}, "max_num_seqs"),
        ({"limits": {**TRACE["limits"], "num_pages": 4097}}, "num_pages"),
        ({"requests": [{**TRACE["requests"][0], "arrival": 30_000}]}, "20,000 iterations"),
    ],
)
def test_what_the_page_does_not_draw(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = write_trace(tmp_path / "t.json", **changes)
    files, (problem,) = read_traces(tmp_path)
    assert files == {} and problem.startswith(f"{path}: ") and words in problem


def test_the_most_that_the_page_draws(tmp_path: Path) -> None:
    rows = [{**TRACE["requests"][0], "id": str(i)} for i in range(100)]
    write_trace(
        tmp_path / "t.json",
        requests=rows,
        limits={"max_num_seqs": 64, "page_size": 8, "num_pages": 4096},
        time_unit="ms",
    )
    assert read_traces(tmp_path)[1] == []


def test_traces_are_taken_in_order_of_their_names_and_told_apart(tmp_path: Path) -> None:
    write_trace(tmp_path / "b.json", title="Second")
    write_trace(tmp_path / "a.json", title="First")
    (tmp_path / "trace.schema.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("x")
    files, problems = read_traces(tmp_path)
    assert problems == []
    assert [json.loads(data)["title"] for _, data in sorted(files.items())] == ["First", "Second"]
    assert read_traces(tmp_path / "b.json")[0] == {"traces/000.json": files["traces/001.json"]}
    write_trace(tmp_path / "c.json", title="First")
    _, (problem,) = read_traces(tmp_path)
    assert str(tmp_path / "c.json") in problem and str(tmp_path / "a.json") in problem


@pytest.mark.parametrize("count", [content.MOST_TRACES, content.MOST_TRACES + 1])
def test_as_many_traces_as_can_be_chosen_from(tmp_path: Path, count: int) -> None:
    for i in range(count):
        write_trace(tmp_path / f"{i}.json", title=f"Trace {i}")
    files, problems = read_traces(tmp_path)
    assert (len(files), len(problems)) == ((count, 0) if count == content.MOST_TRACES else (0, 1))


def test_folders_without_anything(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "half" / "wrong").mkdir(parents=True)
    nowhere, empty = str(tmp_path / "nowhere"), str(tmp_path / "empty")
    for traces, checks in ((nowhere, nowhere), (empty, empty)):
        with pytest.raises(ContentErrors) as caught:
            read_content(traces, checks)
        assert len(caught.value.problems) == 2
    assert "is no exercise" in read_parts(None, str(tmp_path), "")[1][0]


@pytest.mark.parametrize(("title", "fine"), [("x" * 80, True), ("", True), ("x" * 81, False), ("a\nb", False)])
def test_titles(title: str, fine: bool) -> None:
    assert (content.title_problems(title) == []) == fine


# What is made


def test_the_options_reach_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Content] = []

    def make(_store: object, _quality: int, _origins: object, own: Content) -> Site:
        asked.append(own)
        return Site("1", {SITE_FILE: f'{{"site": "{NAME}"}}'.encode()}, {})

    monkeypatch.setattr(command, "make_site", make)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    write_trace(tmp_path / "t.json")
    out = ["--out", str(tmp_path / "out")]
    assert (
        command.run(parser.parse_args([*out, "--traces", str(tmp_path / "t.json"), "--solutions", "after-pass"])) == 0
    )
    assert (asked[0].solutions, set(asked[0].files)) == (AFTER_PASS, {"traces/000.json"})
    assert command.run(parser.parse_args(out)) == 0
    assert asked[1] == Content()
    with pytest.raises(SystemExit):
        parser.parse_args([*out, "--solutions", "sometimes"])


def test_only_what_learners_may_see_takes_the_place_of_the_labs_own(tmp_path: Path) -> None:
    folder = exercise(tmp_path / "checks")
    (folder / "answers.json").write_text("{}")
    own, problems = read_parts(None, str(tmp_path / "checks"), "")
    assert problems == []
    ours = {"lab/engine.pyc": b"1", "traces/course.json": b"2", "checks/allocate_kv_pages/checks.json": b"3"}
    ours |= {"checks/__init__.py": b"", "checks/checks.schema.json": b"4"}
    packed = with_content(ours, own)
    assert set(packed) == {
        *("lab/engine.pyc", "traces/course.json", "checks/__init__.py"),
        *(f"checks/reference_counts/{name}" for name in ("exercise.json", "checks.json", "starter.py")),
    }
    assert with_content(ours, Content()) == ours
    packages = {"panel/io.pyc": b"5", "panel/late.pyc": b"6", "panel/package.json": b"7"}
    parts = packages_apart({**ours, **packages}, {"panel/io.pyc", "panel/package.json", "traces/course.json"})
    assert {name: set(files) for name, files in parts.items()} == {
        "start.zip": {"panel/io.pyc"},
        "data.zip": {"panel/package.json", INDEX},
        "rest.zip": {"panel/late.pyc"},
    }


def test_the_page_speaks_of_the_first_trace_and_of_these_exercises(tmp_path: Path) -> None:
    write_trace(tmp_path / "traces" / "1.json", license="CC0 </script>")
    write_trace(tmp_path / "traces" / "2.json", title="Another", limits={**TRACE["limits"], "max_num_seqs": 1})
    exercise(tmp_path / "checks")
    own, problems = read_parts(str(tmp_path / "traces"), str(tmp_path / "checks"), "CS <123>")
    assert problems == []
    files = make_page(spec(own), own)
    page = files["index.html"].decode()
    assert "<title>CS &lt;123&gt;</title>" in page and "<h1>Two ways to fill two seats</h1>" in page
    for words in ("Four requests on two seats", "Made for CS 123", "CC0 &lt;/script&gt;", "prompts of 8 to 20 tokens"):
        assert words in page
    figures = {name: one.metrics["iterations"] for name, one in run(parse_trace(json.dumps(TRACE))).policies.items()}
    assert f"{figures['continuous']} iterations against {figures['static']}" in page
    for words in ("nine requests", "9 requests", "fourth seat", "Course-authored", "Build the page accounting"):
        assert words not in page
    (known,) = [json.loads(data)["exercises"] for name, data in files.items() if name.endswith("/exercises.json")]
    assert [(one["id"], one["drives"], one["hidden"]) for one in known] == [("reference_counts", False, 2)]
    (traces,) = [json.loads(data)["traces"] for name, data in files.items() if name.endswith("/traces.json")]
    assert [one["title"] for one in traces] == ["Four requests on two seats", "Another"]
    assert parse_trace(traces[1]["text"]).limits.max_num_seqs == 1
    assert [name in page for name in ('id="trace-choice"', "own-site.css")] == [True, True]

    never = dataclasses.replace(own, solutions=NEVER, files={k: v for k, v in own.files.items() if k[:6] == "checks"})
    files = make_page(spec(never), never)
    everything = b"".join(files.values())
    assert own.files["checks/reference_counts/reference.py"].splitlines()[2].strip() not in everything
    assert b"No seat is free" not in everything  # a hidden check
    assert b"traces.json" not in files["index.html"] and not any(name.endswith("/traces.json") for name in files)
    assert "nine requests" in files["index.html"].decode()


def test_experiments_make_a_difference_or_are_not_offered() -> None:
    trace = parse_trace(json.dumps(TRACE))
    found = dict(experiments(trace))
    assert set(found) == {"a pool that runs dry", "one more seat", "prefill in chunks"}
    pages = int(found["a pool that runs dry"].removeprefix("num_pages="))
    dry = run(trace, dataclasses.replace(trace.limits, num_pages=pages)).policies["continuous"].metrics
    assert dry["preemptions"] > 0 and dry["rejected"] == []
    one = parse_trace(json.dumps({**TRACE, "requests": TRACE["requests"][:1]}))
    assert "one more seat" not in dict(experiments(one))  # it would only stand empty
    assert experiments(dataclasses.replace(trace, time_unit="s"))[-1][0] == "prefill in chunks"
