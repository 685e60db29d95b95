"""`serving-lab replay TRACE --backend cuda`, as far as it goes without a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from made_up import COURSE, course_job, measurement

from lab.cuda import command
from lab.cuda.command import replay_on_device
from lab.measurement.saved import parse_measurement
from lab.measurement.table import render_measurement

FAKE = [sys.executable, str(Path(__file__).with_name("fake_child.py"))]


@pytest.fixture
def child(monkeypatch):
    """Makes the command start a fake child."""

    def use(how):
        real = command.Running
        monkeypatch.setattr(command, "Running", lambda job, seconds, _: real(job, seconds, [*FAKE, how]))

    return use


def test_a_measurement_is_printed_as_tables(lab, child):
    child("result")
    status, out, err = lab("replay", COURSE, "--backend", "cuda")
    assert status == 0
    assert out == render_measurement(measurement(course_job()))
    assert err == "serving-lab replay: The GPU is in use by others.\n"


def test_as_json_and_in_a_file_it_is_the_same_measurement(lab, child, tmp_path):
    child("result")
    path = tmp_path / "measured.json"
    status, out, _ = lab("replay", COURSE, "--backend", "cuda", "--json", "--cuda-save", path)
    assert status == 0
    assert path.read_text("utf-8") == out
    assert parse_measurement(out) == measurement(course_job())


def test_limits_options_and_policies_of_the_command_line_reach_the_device(lab, child):
    child("result")
    _, out, _ = lab(
        *("replay", COURSE, "--backend", "cuda", "--json", "--policy", "continuous", "--num-pages", "14"),
        *("--cuda-layers", "2", "--cuda-dtype", "float16", "--victim", "largest"),
    )
    made = json.loads(out)
    assert list(made["policies"]) == ["continuous"]
    assert made["limits"]["num_pages"] == 14
    assert made["options"] == {"victim": "largest"}
    assert (made["shape"]["layers"], made["dtype"]) == (2, "float16")
    assert made["trace"]["sha256"] == course_job().sha256


@pytest.mark.parametrize(
    ("how", "status", "words"),
    [
        ("too-small", 2, "serving-lab replay: GPU 0 is too small.\n"),
        ("input", 2, "static: is too large to be replayed on a GPU"),
        ("signal", 3, "killed by SIGKILL"),
        ("garbage", 3, "no event"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_status(lab, child, how, status, words):
    child(how)
    code, out, err = lab("replay", COURSE, "--backend", "cuda")
    assert (code, out) == (status, "")
    assert words in err


def test_an_invalid_measurement_is_printed_and_is_no_success(capsys, monkeypatch):
    bad = measurement(course_job(), ratio=0.9)
    assert command._finish(command.Ending("done", measurement=bad), True, None) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["valid"] is False
    assert captured.err.startswith("serving-lab replay: the measurement is not valid: static: 116 iterations took less")
    assert "NOT VALID" in render_measurement(bad)


def test_a_time_limit(capsys):
    assert replay_on_device(course_job(), seconds=1, as_json=False, command=[*FAKE, "hang"]) == 2
    assert "took more than 1 s and was stopped" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--cuda-layers", "5"], "--cuda-layers: must be at most 4, not 5"),
        (["--cuda-layers", "two"], "--cuda-layers: must be a whole number, not 'two'"),
        (["--cuda-device", "-1"], "--cuda-device"),
        (["--cuda-memory-share", "1.5"], "--cuda-memory-share: must be at most 1"),
        (["--cuda-shape", "gpt"], "--cuda-shape: must be one of"),
        (["--cuda-dtype", "int8"], "--cuda-dtype: must be one of"),
        (["--cuda-time-limit", "0"], "--cuda-time-limit: must be 1 to 86400"),
        (["--events", "x.jsonl"], "--events: is written by the simulator"),
        (["--prefix-caching"], "turn prefix caching"),
    ],
)
def test_what_cannot_be_is_said_before_a_process_starts(lab, child, flags, said, tmp_path):
    trace = tmp_path / "trace.json"
    plain = json.loads(COURSE.read_text("utf-8"))
    for request in plain["requests"]:
        request["prefix"] = ["p", "q"]
    trace.write_text(json.dumps(plain), "utf-8")
    child("signal")
    status, out, err = lab("replay", trace, "--backend", "cuda", *flags)
    assert (status, out) == (2, "")
    assert said in err.splitlines()[-1]


def test_the_simulator_is_the_default_and_says_the_same_as_before(lab):
    assert lab("replay", COURSE) == lab("replay", COURSE, "--backend", "simulator")


@pytest.mark.parametrize("flag", ["device", "memory-share", "shape", "layers", "dtype", "time-limit", "save"])
def test_without_the_backend_its_flags_are_refused(lab, flag):
    status, out, err = lab("replay", COURSE, f"--cuda-{flag}", "2")
    assert (status, out) == (2, "")
    assert err.strip() == f"serving-lab replay: --cuda-{flag}: is for --backend cuda; add that, or leave it out"


def test_tables_of_a_run_that_was_not_verified_have_no_times():
    text = render_measurement(measurement(course_job(), passed=False))
    assert "static DIFFERS FROM float64 attention" in text
    assert "total ms" not in text


def test_every_table_is_there():
    text = render_measurement(measurement(course_job()))
    for word in (
        "x32 layers, extrapolated",
        "flash, a group as queries",
        "paging costs",
        "us a request",
        "Fitted: max(0.4000 ms",
        "4 layers of ",
        "What no GPU had confirmed when",
    ):
        assert word in text
