"""Measurements: judged, written, read anywhere, refused when they are not what they say, and compared."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from made_up import COURSE, course_job, measurement

from lab.cuda.job import Settings, make_job
from lab.errors import InputError
from lab.formats.trace_json import read_trace
from lab.measurement.judge import UNCONFIRMED, reasons
from lab.measurement.saved import compare, dump_measurement, measurement_schema, parse_measurement
from lab.measurement.schema import check

SAMPLE = Path(__file__).parents[1] / "core" / "golden" / "measurement.json"


@pytest.fixture(scope="module")
def made():
    return measurement(course_job())


def test_a_good_run_is_valid_and_holds_what_the_page_shows(made):
    assert made["valid"] and made["invalid_because"] == []
    static, continuous = made["policies"]["static"], made["policies"]["continuous"]
    assert (len(static["iterations"]), len(continuous["iterations"])) == (116, 82)
    assert static["ratio"] == pytest.approx(1.25, rel=1e-3)
    assert static["total_ms"]["p10"] < static["total_ms"]["median"] < static["total_ms"]["p90"]
    assert static["extrapolated"] == {"layers": 32, "total_ms": pytest.approx(8 * static["total_ms"]["median"])}
    first, second = static["iterations"][:2]
    assert (first["mode"], first["prefill_tokens"], first["decodes"]) == ("eager", 145, 0)
    assert (second["mode"], second["prefill_tokens"], second["decodes"]) == ("graph", 0, 3)
    assert made["batch"]["fit"]["floor_ms"] == pytest.approx(0.4, rel=1e-3)
    assert "nearly flat" in made["notes"][0]
    assert made["shape"]["weight_bytes"] == 4 * 436_207_616


def test_a_shape_of_no_model_is_not_extrapolated_and_its_kv_is_not_called_small():
    made = measurement(course_job(shape="tiny", layers=1))
    assert made["policies"]["static"]["extrapolated"] is None
    assert "nearly flat" not in made["notes"][0]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"ratio": 0.99}, "static: 116 iterations took less than moving their bytes must take"),
        ({"passed": False}, "static differs from float64 attention"),
        ({"kind": "cpu"}, "It ran on a CPU"),
        ({"batch_ratio": 0.9}, "A step of 1 requests took less"),
    ],
)
def test_what_is_not_to_be_believed_is_invalid_and_says_why(how, why):
    made = measurement(course_job(), **how)
    assert not made["valid"]
    assert any(why in reason for reason in made["invalid_because"])
    assert parse_measurement(dump_measurement(made)) == made


def test_a_ratio_of_exactly_one_is_possible(made):
    bound = copy.deepcopy(made)
    bound["policies"]["static"]["iterations"][5]["ratio"] = 1.0
    assert reasons(bound, ["static"]) == []
    bound["policies"]["static"]["iterations"][5]["ratio"] = 0.999
    assert "iteration 6" in reasons(bound, ["static"])[0]


def test_a_kernel_may_beat_the_floor_only_from_the_cache(made):
    fast = copy.deepcopy(made)
    fast["kernel"][0]["paged_ms"]["median"] = fast["kernel"][0]["floor_ms"] / 2
    assert reasons(fast, ["static"]) == []
    fast["kernel"][0]["in_cache"] = False
    assert reasons(fast, ["static"]) == ["The kernel beat its floor for 3 x 128 tokens."]
    fast["kernel"][0]["verified"] = False
    assert "differs from float64" in reasons(fast, ["static"])[0]


def test_a_policy_without_verification_is_a_reason(made):
    assert reasons({**made, "verification": {}}, ["static"]) == ["static was not verified."]


def test_written_and_read_is_the_same_and_the_same_bytes(made):
    text = dump_measurement(made)
    assert json.loads(text) == made
    assert parse_measurement(text) == made
    assert dump_measurement(parse_measurement(text)) == text
    assert max(map(len, text.splitlines())) < 400  # an iteration a line


def test_the_small_validator_and_a_complete_one_agree(made):
    schema = measurement_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    complete = jsonschema.Draft202012Validator(schema)

    def verdicts(value):
        try:
            check(value, schema)
            ours = True
        except InputError:
            ours = False
        return ours, complete.is_valid(value)

    assert verdicts(made) == (True, True)
    for damaged in damages(made):
        assert verdicts(damaged) == (False, False)


def damages(made):
    """The measurement with one thing wrong: each key missing or of another type, a key too many, a bound crossed."""

    def changed(path, value=None, remove=False):
        other = copy.deepcopy(made)
        at = other
        for key in path[:-1]:
            at = at[key]
        if remove:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        return other

    for key in made:
        yield changed([key], remove=True)
        yield changed([key], 3.5)
    yield changed(["more"], 1)
    row = ["policies", "static", "iterations", 0]
    yield changed([*row, "more"], 1)
    yield changed([*row, "mode"], "slow")
    yield changed([*row, "iteration"], 0)
    yield changed([*row, "iteration"], True)
    yield changed([*row, "decodes"], -1)
    yield changed([*row, "floor_ms"], "1")
    yield changed([*row, "ms", "median"], -0.1)
    yield changed([*row, "ms", "p10"], remove=True)
    yield changed(["bandwidth", "bytes_per_s"], 0)
    yield changed(["trace", "sha256"], "abc")
    yield changed(["batch", "fit", "token_ms"], "no")
    yield changed(["kernel", 0, "verified"], 1)
    yield changed(["schema_version"], 2)
    yield changed(["schema_version"], True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update(schema_version=2), "schema_version: must be 1, not 2"),
        (lambda m: m["policies"]["static"]["iterations"][7].pop("ms"), "policies.static.iterations[7].ms: is missing"),
        (lambda m: m.update(valid=False), "invalid_because: is empty"),
        (lambda m: m.update(policies={}), "valid: says true, and yet: It holds no policy."),
        (lambda m: m["policies"]["static"]["iterations"][7].update(ratio=0.5), "valid: says true, and yet: static"),
        (lambda m: m["batch"]["fit"].update(token_ms="x"), "batch.fit.token_ms: must be of type"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_line_with_the_place(made, change, said):
    other = copy.deepcopy(made)
    change(other)
    with pytest.raises(InputError) as caught:
        parse_measurement(json.dumps(other), "a.json")
    assert str(caught.value).startswith(f"a.json: {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "NaN", '{"kind": "trace"}'])
def test_what_is_no_measurement_at_all_is_refused(text):
    with pytest.raises(InputError):
        parse_measurement(text)


def test_two_measurements_are_laid_side_by_side(made):
    slower = measurement(course_job(), ratio=2.5)
    both = compare(made, slower)
    assert both["differences"] == []
    figures = {row["figure"]: row for row in both["figures"]}
    assert figures["static, total ms"]["second_over_first"] == pytest.approx(2, rel=1e-3)
    assert figures["bandwidth, GB/s"]["first"] == 4000
    assert figures["a step of 512, ms"]["second_over_first"] == 1


def test_what_keeps_two_from_being_compared_is_said(made):
    other = measurement(course_job(shape="small", layers=1, dtype="float16", compare=False), kind="cpu")
    both = compare(made, other)
    words = " ".join(both["differences"])
    assert "layer shape differs: 4 layers of llama-3.1-8b and 1 layers of small" in words
    assert "format of numbers differs" in words
    assert "The second is not valid: It ran on a CPU" in words
    figures = {row["figure"]: row for row in both["figures"]}
    assert figures["a step of 1, ms"]["second"] is None
    assert figures["a step of 1, ms"]["second_over_first"] is None


def test_the_sample_that_other_tests_read_is_made_by_this_code():
    job = make_job(read_trace(COURSE), ["continuous"], Settings())
    assert SAMPLE.read_text("utf-8") == dump_measurement(measurement(job)), "write it again: see this test"


def test_what_no_gpu_has_confirmed_is_said_in_sentences():
    assert all(line.endswith(".") for line in UNCONFIRMED)
