"""Measurements are read and compared wherever the lab runs, also in the page. The sample's times are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import InputError
from lab.measurement.saved import compare, dump_measurement, parse_measurement
from lab.measurement.table import render_measurement

SAMPLE = Path(__file__).parent / "golden" / "measurement.json"


@pytest.fixture(scope="module")
def sample():
    return parse_measurement(SAMPLE.read_bytes(), "measurement.json")


def test_a_measurement_is_read_and_written_back_to_the_byte(sample):
    assert sample["device"]["name"] == "made up for tests"
    assert dump_measurement(sample) == SAMPLE.read_text("utf-8")


def test_it_is_shown_and_compared(sample):
    assert "made up for tests" in render_measurement(sample)
    both = compare(sample, {**sample, "dtype": "float16"})
    assert both["differences"] == ["The format of numbers differs: bfloat16 and float16."]
    assert all(row["second_over_first"] == 1 for row in both["figures"])


def test_a_damaged_one_names_file_and_field():
    damaged = SAMPLE.read_text("utf-8").replace('"mode": "graph"', '"mode": "fast"', 1)
    with pytest.raises(InputError) as caught:
        parse_measurement(damaged, "measurement.json")
    assert str(caught.value).startswith("measurement.json: policies.continuous.iterations[1].mode: must be one of")


def test_the_trace_that_comes_with_it_is_one_and_the_one_that_was_measured():
    text = SAMPLE.read_text("utf-8")
    for old, new, said in (
        (
            '{"id": "b", "arrival": 0',
            '{"id": "b", "arrival": -1',
            'measurement.json, trace.file: requests[1] (id "b"), arrival: ',
        ),
        ('{"id": "b"', '{"id": "a"', "measurement.json, trace.file: requests[1]"),
        ('"num_pages": 32,', '"num_pages": 31,', "measurement.json: trace.file: has other limits"),
    ):
        with pytest.raises(InputError) as caught:
            parse_measurement(text.replace(old, new, 1), "measurement.json")
        assert str(caught.value).startswith(said), caught.value


def test_one_without_its_trace_is_read_as_well(sample):
    without = {**sample, "trace": {key: sample["trace"][key] for key in ("name", "sha256", "requests")}}
    assert parse_measurement(dump_measurement(without)) == without
