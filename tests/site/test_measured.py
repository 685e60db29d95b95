"""What the page asks about measurements: read, compared, and what a server is sent. The sample's times are made up."""

import json
from dataclasses import replace
from pathlib import Path

from app.build.page import SAMPLE as SAMPLE_NAME
from app.page.main import Lab
from app.page.measured import compare_measurements, read_measurement, replay_request
from lab.cuda.job import Settings, job_from_request
from lab.formats.trace_json import parse_trace, read_trace, trace_sha256
from lab.options import Options

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (ROOT / "tests" / "core" / "golden" / "measurement.json").read_text("utf-8")
COURSE = read_trace(ROOT / "traces" / "course.json")


def read(text):
    answer = read_measurement({"text": text, "name": "a.json", "serial": 7})
    assert answer["serial"] == 7
    return answer


def test_a_file_and_a_servers_answer_are_read_alike():
    of_file = read(SAMPLE)
    assert of_file["text"] == SAMPLE and of_file["measurement"] == json.loads(SAMPLE)
    assert read(json.dumps({"id": "x", "state": "done", "measurement": json.loads(SAMPLE)})) == of_file
    assert trace_sha256(COURSE) in of_file["sha256s"] and parse_trace(of_file["trace"]) == COURSE


def test_one_without_its_trace_is_read_as_well():
    plain = json.loads(SAMPLE)
    del plain["trace"]["file"]
    answer = read(json.dumps(plain))
    assert answer["trace"] is None and answer["sha256s"] == [plain["trace"]["sha256"]]


def test_what_is_no_measurement_is_told_in_one_line():
    for text in (
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"measurement": 3}',
        '{"measurement": {}}',
        SAMPLE.replace("graph", "x"),
    ):
        why = read(text)["why"]
        assert why.startswith("a.json: ") and "\n" not in why


def test_two_are_compared():
    answer = compare_measurements({"first": SAMPLE, "second": SAMPLE.replace("bfloat16", "float16"), "serial": 3})
    assert answer["serial"] == 3
    assert answer["differences"] == ["The format of numbers differs: bfloat16 and float16."]
    assert {row["second_over_first"] for row in answer["figures"]} == {1}


def test_a_server_is_sent_what_is_on_the_screen():
    trace = replace(COURSE, options=Options(victim="largest"))
    limits, options = replace(trace.limits, num_pages=14), Options(prefill_first=True)
    job = job_from_request(json.loads(replay_request(trace, limits, options)), Settings(), 100)
    assert (job.trace.limits, job.trace.options) == (limits, options)  # what the trace had on was turned off
    assert job.sha256 == trace_sha256(trace) and job.trace.requests == trace.requests
    lab = Lab(COURSE, lambda name, data: None)
    lab.open_state({"limits": {"num_pages": 15}})
    sent = lab.replay_request({"serial": 1})
    assert sent["serial"] == 1 and json.loads(sent["body"])["limits"]["num_pages"] == 15


def test_a_sample_that_comes_with_the_site_is_a_real_and_valid_one():
    path = ROOT / "app" / "site" / SAMPLE_NAME
    if path.exists():
        sample = read(path.read_text("utf-8"))["measurement"]
        assert sample["valid"] and sample["device"]["kind"] == "cuda" and "made" not in sample["device"]["name"]
        assert "file" in sample["trace"]
