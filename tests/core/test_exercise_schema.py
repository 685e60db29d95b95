"""The published schemas of exercise files and results say the same as the reader, as far as a schema can."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from solutions import EXERCISES, PAGES, STEP
from test_exercises import BAD_CHECKS, BAD_EXERCISES, CHECKS, EXERCISE, TRACE, WRONG, with_check

from lab.exercises import shipped
from lab.grading.grade import grade, grade_here
from lab.grading.judge import judge
from lab.grading.reply import Reply
from lab.grading.report import for_student

pytestmark = pytest.mark.cpython_only("jsonschema stands on rpds, which is native code")

FOLDER = Path(str(shipped()))
NAMES = ("exercise", "checks", "wrong", "result")
SCHEMAS = {name: json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in NAMES}
REGISTRY = Registry().with_resources(
    (f"{name}.schema.json", Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)
VALIDATORS = {name: Draft202012Validator(schema, registry=REGISTRY) for name, schema in SCHEMAS.items()}


def complaints(name, value):
    return [f"{error.json_path}: {error.message}" for error in VALIDATORS[name].iter_errors(value)]


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_are_schemas(name):
    Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("exercise.json", "exercise"),
        ("checks.json", "checks"),
        ("hidden.json", "checks"),
        ("wrong/expected.json", "wrong"),
    ],
)
def test_the_shipped_files_are_as_the_schema_says(exercise, file, schema):
    assert complaints(schema, json.loads((FOLDER / exercise / file).read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("exercise", EXERCISE),
        ("exercise", {**EXERCISE, "tuples": "refused"}),
        ("checks", CHECKS),
        ("checks", with_check(expected=[{"$int": "-12"}, {"$float": "3.0"}, {"a": {"": None}}, 0.5])),
        ("checks", with_check(unchanged=True, causes=[{"at": ["a", 0], "is": 1, "because": "b"}])),
        ("checks", with_check(arguments=..., replay=TRACE, expected={"iterations": 1})),
        ("checks", with_check(arguments=..., replay={"seed": 0, "requests": 3}, expected="engine")),
        (
            "checks",
            with_check(
                arguments=...,
                expected=...,
                construct=[],
                calls=[
                    {"method": "m", "arguments": [], "expected": None},
                    {"arguments": [1], "raises": "ValueError"},
                ],
            ),
        ),
        ("wrong", WRONG),
    ],
)
def test_what_the_reader_takes_the_schema_takes(schema, value):
    assert complaints(schema, value) == []


# What only the reader can tell, as the schemas' descriptions say.
BEYOND = {
    "points as float",
    "float for an int",
    "nan tag",
    "visibility",
    "method of nothing",
    "replay with unknown metric",
    "replay with a float",
    "replay of repeated ids",
    "other exercise",
    "twice",
    "sum",
    "points",
}


@pytest.mark.parametrize("name", [name for name in BAD_CHECKS if name not in BEYOND])
def test_checks_that_the_reader_refuses_the_schema_refuses(name):
    assert complaints("checks", BAD_CHECKS[name][0])


@pytest.mark.parametrize("name", [name for name in BAD_EXERCISES if name not in BEYOND])
def test_exercises_that_the_reader_refuses_the_schema_refuses(name):
    changes = BAD_EXERCISES[name][0]
    exercise = {key: value for key, value in {**EXERCISE, **changes}.items() if value is not ...}
    assert complaints("exercise", exercise)


def test_what_is_said_to_be_beyond_a_schema_is():
    for name in BEYOND & set(BAD_CHECKS):
        assert complaints("checks", BAD_CHECKS[name][0]) == [], name


@pytest.mark.parametrize(
    "entry",
    [
        {"mistake": "m", "caught_by": [], "says": "s"},
        {"mistake": "m", "caught_by": ["c"]},
        {"mistake": "m", "caught_by": ["c"], "says": "s", "x": 1},
        {"mistake": "", "caught_by": ["c"], "says": "s"},
    ],
)
def test_entries_of_known_mistakes_that_the_schema_refuses(entry):
    assert complaints("wrong", {"schema_version": 1, "wrong": {"a.py": entry}})


# Results


@pytest.mark.parametrize(
    "source",
    [
        PAGES.reference,
        PAGES.starter,
        "",
        "x = (",
        "def allocate_kv_pages(t, p=16):\n    print('x' * 100)\n    return helper(t)\ndef helper(t):\n    return t / 0",
        "import sys\ndef allocate_kv_pages(t, p=16): sys.exit()",
        "def allocate_kv_pages(t, p=16): return allocate_kv_pages(t)",
        b"\xff\xfe",
    ],
)
def test_results_are_as_the_schema_says(source):
    found = grade_here(PAGES, source)
    assert complaints("result", found) == []
    assert complaints("result", for_student(found)) == []


def test_results_of_known_mistakes_are_as_the_schema_says():
    for exercise in (PAGES, STEP):
        for wrong in exercise.wrong:
            assert complaints("result", grade_here(exercise, wrong.code, hidden=False)) == []


def test_results_of_runs_that_ended_otherwise_are_as_the_schema_says():
    class Ended:
        def __init__(self, prepared, ran):
            self.prepared, self.ran = prepared, ran

        def prepare(self):
            return self.prepared

        def run(self, request):
            return self.ran

    fine = Reply({"phase": "call", "problem": None, "steps": [], "output": {"text": "", "bytes": 0}, "ended": None})
    for ended in ("time", "memory", "output", "exit", "signal", "recursion", "lost", "grader"):
        for runner in (Ended(fine, Reply(ended=ended, detail=3)), Ended(Reply(ended=ended), fine)):
            assert complaints("result", grade(PAGES, "", runner)) == []


def test_the_schema_refuses_what_is_no_result():
    found = grade_here(PAGES, PAGES.reference)
    assert complaints("result", {**found, "outcome": "won"})
    assert complaints("result", {**found, "points": 1.5})
    assert complaints("result", {**found, "checks": [{**found["checks"][0], "secret": 1}]})
    assert complaints("result", {key: value for key, value in found.items() if key != "problem"})
    assert judge(PAGES, PAGES.visible[0], Reply())["outcome"] == "crashed"
