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
