"""`serving-lab replay` and its neighbours, run in this process."""

import json
import sys
import types

import pytest
from drive import COURSE, said_of_the_core, trace_of

from lab import __version__, core
from lab.cli import main
from lab.formats.trace_json import dump_trace, read_trace, trace_sha256
from lab.replay import run
from lab.table import render_table


def written(tmp_path, trace, name="trace.json"):
    path = tmp_path / name
    path.write_text(dump_trace(trace), "utf-8")
    return path


def test_the_table_is_what_is_printed(lab):
    assert lab("replay", COURSE) == (0, render_table(run(read_trace(COURSE))), said_of_the_core())


def test_json_is_one_object_as_the_design_has_it(lab):
    status, out, err = lab("replay", COURSE, "--json")
    assert (status, err) == (0, said_of_the_core())
    data = json.loads(out)
    trace = read_trace(COURSE)
    assert list(data) == ["schema_version", "trace", "limits", "policies"]
    assert data["schema_version"] == 1
    assert data["trace"] == {"name": "course", "sha256": trace_sha256(trace), "requests": 9}
    assert data["limits"]["num_pages"] == 32
    assert list(data["policies"]) == ["static", "continuous"]
    document = run(trace).to_document()["policies"]
    for policy, figures in data["policies"].items():
        assert figures.pop("requests") == document[policy]["requests"]
        assert figures == document[policy]["metrics"]


def test_policies_can_be_chosen_and_ordered(lab):
    for asked, expected in [("continuous", ["continuous"]), ("continuous, static", ["continuous", "static"])]:
        _, out, _ = lab("replay", COURSE, "--json", "--policy", asked)
        assert list(json.loads(out)["policies"]) == expected


def test_limits_on_the_command_line_replace_those_of_the_trace(lab):
    _, out, _ = lab(
        "replay",
        COURSE,
        "--json",
        *("--max-num-seqs", 2, "--num-pages", 64, "--page-size", 8),
        *("--max-num-batched-tokens", 50, "--chunked-prefill"),
    )
    assert json.loads(out)["limits"] == {
        "max_num_seqs": 2,
        "num_pages": 64,
        "page_size": 8,
        "max_num_batched_tokens": 50,
        "chunked_prefill": True,
    }


def test_options_of_the_trace_can_be_taken_away(lab, tmp_path):
    path = written(
        tmp_path,
        trace_of(
            ("a", 0, 5, 3),
            max_num_seqs=2,
            num_pages=6,
            page_size=4,
            max_num_batched_tokens=3,
            chunked_prefill=True,
        ),
    )
    _, out, _ = lab("replay", path, "--json", "--max-num-batched-tokens", "none", "--no-chunked-prefill")
    limits = json.loads(out)["limits"]
    assert (limits["max_num_batched_tokens"], limits["chunked_prefill"]) == (None, False)


def test_events_and_perfetto_files(lab, tmp_path):
    events, perfetto = tmp_path / "e.jsonl", tmp_path / "p.json"
    status, out, err = lab("replay", COURSE, "--events", events, "--perfetto", perfetto)
    assert (status, err) == (0, said_of_the_core("each iteration is asked for"))
    assert out.startswith("course: ")
    rows = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
    assert len(rows) == 116 + 82 + 1
    assert rows[0]["policy"] == "static"
    assert json.loads(perfetto.read_text("utf-8"))["otherData"]["iteration_us"] == 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.jsonl", "p.json"]


def test_events_on_stdout_take_the_place_of_the_table(lab):
    status, out, _ = lab("replay", COURSE, "--events", "-", "--policy", "static")
    assert status == 0
    assert [json.loads(line)["iteration"] for line in out.splitlines()] == list(range(1, 117))


def test_a_trace_of_milliseconds_says_how_it_was_converted(lab, tmp_path):
    path = tmp_path / "ms.json"
    path.write_text(
        '{"schema_version": 1, "name": "ms", "time_unit": "ms",'
        ' "limits": {"max_num_seqs": 1, "page_size": 4, "num_pages": 4},'
        ' "requests": [{"id": "a", "arrival": 30.5, "prompt_tokens": 1, "output_tokens": 1}]}',
        "utf-8",
    )
    status, out, err = lab("replay", path, "--json")
    converted = f"{path}: arrivals in ms brought to iterations of 20 ms, rounded up\n"
    assert (status, err) == (0, converted + said_of_the_core())
    data = json.loads(out)
    assert data["policies"]["static"]["requests"]["a"]["start"] == 3
    assert data["trace"]["sha256"] == trace_sha256(read_trace(path))
    _, out, err = lab("replay", path, "--json", "--iteration-ms", "12.5")
    assert "of 12.5 ms" in err
    assert json.loads(out)["policies"]["static"]["requests"]["a"]["start"] == 4


def test_iteration_ms_without_effect_is_said(lab):
    status, _, err = lab("replay", COURSE, "--iteration-ms", "5")
    assert status == 0
    without_effect = f"{COURSE}: iteration_ms changes nothing for a trace in iterations unless admission is limit\n"
    assert err == without_effect + said_of_the_core("iteration_ms is 5")


def test_options_that_are_not_used_are_named_in_one_line(lab, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(
        '{"schema_version": 1, "name": "t", "limits": {"max_num_seqs": 1, "page_size": 4, "num_pages": 4},'
        ' "requests": [{"id": "a", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1, "samples": 2},'
        ' {"id": "b", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1, "client": "me"}]}',
        "utf-8",
    )
    status, _, err = lab("replay", path)
    line = f"{path}: no option uses client, samples (see --admission, --fork-samples); replayed without\n"
    assert (status, err) == (0, line + said_of_the_core())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "serving-lab: the following arguments are required: COMMAND; see serving-lab --help"),
        (["replay"], "serving-lab replay: the following arguments are required: TRACE; see serving-lab replay --help"),
        (
            ["replay", COURSE, "--polic", "static"],
            "serving-lab: unrecognized arguments: --polic static; see serving-lab --help",
        ),
        (
            ["replay", COURSE, "--policy", "fifo"],
            'serving-lab replay: --policy: must be one of "static", "continuous", not "fifo"; write one of these',
        ),
        (
            ["replay", COURSE, "--policy", "static,static"],
            "serving-lab replay: --policy: names a policy twice; name each once",
        ),
        (
            ["replay", COURSE, "--num-pages", "3.0"],
            'serving-lab replay: argument --num-pages: must be an integer, not "3.0"; write 3; '
            "see serving-lab replay --help",
        ),
        (
            ["replay", COURSE, "--page-size", "x"],
            'serving-lab replay: argument --page-size: must be an integer, not "x"; write a whole number; '
            "see serving-lab replay --help",
        ),
        (
            ["replay", COURSE, "--page-size", "-4"],
            "serving-lab replay: --page-size: must be at least 1, not -4; write 1 or more",
        ),
        (
            ["replay", COURSE, "--num-pages", "9" * 20],
            "serving-lab replay: --num-pages: must be at most 9007199254740991 (2**53 - 1), "
            "not 99999999999999999999; write a smaller number",
        ),
        (
            ["replay", COURSE, "--max-num-batched-tokens", "2"],
            "serving-lab replay: --max-num-batched-tokens: must be at least max_num_seqs (3), one token a seat, "
            "not 2; write 3 or more, or lower max_num_seqs",
        ),
        (
            ["replay", COURSE, "--max-num-batched-tokens", "0"],
            "serving-lab replay: argument --max-num-batched-tokens: must be at least 1, not 0; "
            "write 1 or more, or none; see serving-lab replay --help",
        ),
        (
            ["replay", COURSE, "--iteration-ms", "0.0"],
            "serving-lab replay: argument --iteration-ms: must be a number above 0, not 0.0; write 20 or 12.5; "
            "see serving-lab replay --help",
        ),
        (
            ["replay", COURSE, "--iteration-ms", "nan"],
            'serving-lab replay: argument --iteration-ms: must be a number above 0, not "nan"; write 20 or 12.5; '
            "see serving-lab replay --help",
        ),
        (
            ["replay", COURSE, "--json", "--events", "-"],
            "serving-lab replay: --events and --json cannot both go to stdout; give one a file",
        ),
        (
            ["replay", COURSE, "--events", "x", "--perfetto", "./x"],
            "serving-lab replay: --events and --perfetto name the same file; name two",
        ),
        (
            ["replay", COURSE, "--events", COURSE],
            "serving-lab replay: --events: is the trace itself; choose another file",
        ),
        (
            ["replay", COURSE, "--max-num-seqs", "70000", "--events", "-"],
            "serving-lab: max_num_seqs: is too large to list every seat (70000); write 65536 or less, "
            "or ask for the figures only",
        ),
        (["replay", "none.json"], "none.json: there is no such file; check the path"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(lab, arguments, line):
    assert lab(*arguments) == (2, "", line + "\n")


def test_a_bad_trace_is_one_line_and_status_2(lab, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(COURSE.read_text("utf-8").replace('"prompt_tokens": 48,', '"prompt_tokens": 48.0,'), "utf-8")
    status, out, err = lab("replay", path)
    assert (status, out) == (2, "")
    assert err == f'{path}: requests[3] (id "d"), prompt_tokens: must be an integer, not 48.0; write 48\n'


def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing(lab, tmp_path):
    for flag in ("--events", "--perfetto"):
        for path in (tmp_path / "none" / "x", tmp_path):
            status, out, err = lab("replay", COURSE, flag, path)
            assert (status, out) == (2, "")
            assert err.startswith(f"{path}: cannot be written (")
            assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_replay_that_fails_leaves_the_old_file(lab, tmp_path):
    path = tmp_path / "e.jsonl"
    path.write_text("before", "utf-8")
    status, _, err = lab("replay", COURSE, "--max-num-seqs", 70_000, "--events", path)
    assert (status, err.count("\n")) == (2, 1)
    assert path.read_text("utf-8") == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.jsonl"]


def test_validate_says_which_files_are_good(lab, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{", "utf-8")
    one = written(tmp_path, trace_of(("a", 0, 1, 1), max_num_seqs=1, num_pages=1, page_size=4))
    status, out, err = lab("trace", "validate", COURSE, bad, one)
    assert status == 2
    assert out == f"{COURSE}: ok, 9 requests, time in iteration\n{one}: ok, 1 request, time in iteration\n"
    assert err.startswith(f"{bad}: line 1, column 2: is not JSON (")
    assert err.count("\n") == 1
    assert lab("trace", "validate", COURSE)[0] == 0


def test_validate_tells_all_that_is_wrong(lab, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text(COURSE.read_text("utf-8").replace('"id": "b"', '"id": "a"').replace(": 128,", ": 0,"), "utf-8")
    status, out, err = lab("trace", "validate", bad, COURSE)
    assert status == 2 and out.startswith(f"{COURSE}: ok")
    assert [line.split(": ")[1] for line in err.splitlines()] == [
        'requests[7] (id "h"), prompt_tokens',
        'requests[1] (id "a"), id',
    ]


def test_version_and_help(lab):
    assert lab("--version") == (0, f"serving-lab {__version__}, {core.why()}\n", "")
    for arguments in (["--help"], ["replay", "--help"], ["trace", "validate", "-h"]):
        status, out, err = lab(*arguments)
        assert (status, err) == (0, "")
        assert out.startswith("usage: serving-lab")
    assert "build" in lab("--help")[1]


def test_app_commands_are_imported_only_when_named(lab, monkeypatch):
    seen = []
    module = types.ModuleType("app.build.command")
    module.add_arguments = lambda parser: parser.add_argument("--out", required=True)
    module.run = lambda options: seen.append(options.out) or 7
    for name in ("app", "app.build"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "app.build.command", module)
    assert lab("build", "--out", "folder")[0] == 7
    assert seen == ["folder"]
    assert lab("build")[0] == 2
    monkeypatch.setitem(sys.modules, "app.build.command", None)  # an import of it now fails
    status, _, err = lab("build", "--out", "folder")
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("serving-lab build: needs app.build.command, which is not installed")
    assert lab("replay", COURSE)[0] == 0


def test_statuses_of_what_a_command_runs_into(capsys, monkeypatch):
    for problem, status in [
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
        (MemoryError(), 2),
        (OSError(28, "No space left on device"), 2),
        (RuntimeError("a fault"), 3),
    ]:

        def fail(*_, problem=problem, **__):
            raise problem

        monkeypatch.setattr("lab.cli_replay.run", fail)
        monkeypatch.setattr("lab.cli._forget_stdout", lambda: None)
        assert main(["replay", str(COURSE)]) == status
        err = capsys.readouterr().err
        assert ("Traceback" in err) == (status == 3)
        assert len(err.splitlines()) == {130: 0, 141: 0, 2: 1}.get(status, len(err.splitlines()))
