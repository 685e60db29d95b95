"""The shipped exercises behave as they say; a folder that is not as it should be is refused, with the place."""

import ast
import json
from pathlib import Path

import pytest
from smallest import CHECK, EXERCISE
from solutions import EXERCISES, PAGES, STEP

from lab.errors import InputError
from lab.exercises import load, load_all, shipped
from lab.grading.grade import grade_here
from lab.paging import pages_for

BOTH = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
EVERY_WRONG = pytest.mark.parametrize(
    ("exercise", "wrong"),
    [(exercise, wrong) for exercise in EXERCISES.values() for wrong in exercise.wrong],
    ids=lambda value: value.file if hasattr(value, "file") else value.id,
)


def test_the_lesson_has_its_two_exercises():
    assert list(EXERCISES) == ["allocate_kv_pages", "scheduler_step"]
    assert PAGES.signature == "allocate_kv_pages(tokens, page_size=16)"
    assert STEP.signature == "scheduler_step(running, waiting, free_pages, max_num_seqs=3, page_size=16)"


@BOTH
def test_the_reference_passes_every_check(exercise):
    found = grade_here(exercise, exercise.reference)
    assert [check for check in found["checks"] if check["outcome"] != "passed"] == []
    assert (found["outcome"], found["points"]) == ("passed", found["max_points"])
    assert len(found["checks"]) == len(exercise.visible) + len(exercise.hidden)
    assert [check["mutated"] for check in found["checks"] if check["mutated"]] == []


@BOTH
def test_the_starter_runs_and_earns_nothing(exercise):
    found = grade_here(exercise, exercise.starter)
    assert (found["outcome"], found["points"], found["problem"]) == ("failed", 0, None)
    assert {check["cause"] for check in found["checks"]} == {"This part is still to be written."}


@EVERY_WRONG
def test_a_known_mistake_is_caught_for_the_reason_that_it_names(exercise, wrong):
    found = grade_here(exercise, wrong.code)
    assert found["problem"] is None
    verdicts = {check["name"]: check for check in found["checks"]}
    caught = [name for name, verdict in verdicts.items() if verdict["outcome"] == "failed"]
    assert set(wrong.caught_by) <= set(caught)
    first = verdicts[wrong.caught_by[0]]
    assert wrong.says in f"{first['message']} {first['cause']}"
    assert found["points"] < found["max_points"]


@EVERY_WRONG
def test_a_known_mistake_fails_a_visible_check_too(exercise, wrong):
    assert grade_here(exercise, wrong.code, hidden=False)["outcome"] == "failed"


@BOTH
def test_there_are_many_known_mistakes_and_each_is_named(exercise):
    assert len(exercise.wrong) >= 8
    for wrong in exercise.wrong:
        assert wrong.mistake.endswith(".")
        assert len(wrong.says) >= 8


@BOTH
def test_every_check_catches_somebody_who_makes_a_known_mistake(exercise):
    """A check that no known mistake fails may be there for nothing."""
    failing = set()
    for wrong in exercise.wrong:
        failing |= {
            check["name"] for check in grade_here(exercise, wrong.code)["checks"] if check["outcome"] != "passed"
        }
    assert failing == {check.name for check in exercise.checks(hidden=True)}


@BOTH
def test_the_example_is_true(exercise):
    space = {}
    exec(exercise.reference, space)
    assert space[exercise.name](*exercise.example.arguments) == exercise.example.expected


@BOTH
def test_the_signature_is_that_of_starter_and_reference(exercise):
    for source in (exercise.starter, exercise.reference):
        (function,) = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        assert f"{function.name}({ast.unparse(function.args)})" == exercise.signature
        assert [argument.arg for argument in function.args.args] == [field.name for field in exercise.inputs]
        assert ast.get_docstring(function)


@BOTH
def test_what_is_returned_is_described(exercise):
    assert list(exercise.example.expected) == [field.name for field in exercise.returns]


@BOTH
def test_texts_are_there_for_the_page(exercise):
    assert len(exercise.hints) >= 3
    assert all(check.hint for check in exercise.checks(hidden=True))
    assert "\n" not in exercise.approach
    assert exercise.hidden_count == len(exercise.hidden) > 0


def test_page_checks_say_what_the_engine_says():
    """Every expected value of the first exercise, against the lab's own rule."""
    for check in PAGES.checks(hidden=True):
        for call in check.calls:
            tokens, size = (*call.arguments, 16)[:2]
            pages = pages_for(tokens, size)
            expected = {"pages": pages, "capacity": pages * size, "wastedSlots": pages * size - tokens}
            assert call.expected == expected
            assert {type(value) for value in call.expected.values()} == {int}


def test_page_checks_cover_what_goes_wrong():
    calls = [(*call.arguments, None)[:2] for check in PAGES.checks(hidden=True) for call in check.calls]
    sizes = {size for _, size in calls}
    assert {1, 8, 256, None} <= sizes
    assert 10**30 in {tokens for tokens, _ in calls}
    kinds = set()
    for tokens, size in calls:
        kinds.add(
            "zero" if tokens == 0 else (tokens % (size or 16)) in (0, 1, (size or 16) - 1) and tokens % (size or 16)
        )
    assert "zero" in kinds


def test_step_checks_leave_every_page_accounted_for():
    """Pages held and pages free add up to the same before and after every call of every check."""
    for check in STEP.checks(hidden=True):
        for call in check.calls:
            running, _, free = call.arguments[:3]
            after = call.expected
            before = free + sum(request["pages"] for request in running)
            assert after["free_pages"] + sum(request["pages"] for request in after["running"]) == before
            size = (*call.arguments, 3, 16)[4] if len(call.arguments) > 4 else 16
            assert all(row["pages"] == pages_for(row["tokens"], size) for row in (*running, *after["running"]))


def test_the_checks_hash_is_of_the_content():
    assert PAGES.checks_sha256(hidden=True) != PAGES.checks_sha256(hidden=False)
    assert len({exercise.checks_sha256(hidden=hidden) for exercise in EXERCISES.values() for hidden in (0, 1)}) == 4


# Folders

CHECKS = {"schema_version": 1, "exercise": "double", "checks": [CHECK]}
TRACE = {
    "limits": {"max_num_seqs": 1, "num_pages": 4, "page_size": 4},
    "requests": [{"id": "a", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1}],
}


def folder_of(tmp_path, exercise=EXERCISE, checks=CHECKS, **files):
    folder = tmp_path / "double"
    folder.mkdir()
    written = {
        "exercise.json": exercise,
        "checks.json": checks,
        "starter.py": "def double(x):\n    raise NotImplementedError\n",
        "reference.py": "def double(x):\n    return x + x\n",
        **files,
    }
    for name, content in written.items():
        if content is None:
            continue
        path = folder / name.replace("wrong_", "wrong/")
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return folder


def with_check(**changes):
    check = {key: value for key, value in {**CHECK, **changes}.items() if value is not ...}
    return {**CHECKS, "checks": [check]}


def test_a_folder_is_read(tmp_path):
    exercise = load(folder_of(tmp_path))
    assert (exercise.id, exercise.name, exercise.visible_points, exercise.tuples) == ("double", "double", 2, True)
    assert grade_here(exercise, exercise.reference)["outcome"] == "passed"
    assert load_all(tmp_path) == {"double": exercise}


def test_a_site_may_leave_out_the_reference_and_the_hidden_checks(tmp_path):
    announced = {**EXERCISE, "points": {"visible": 2, "hidden": 7}, "hidden_checks": 3}
    exercise = load(folder_of(tmp_path, announced, **{"reference.py": None}))
    assert (exercise.reference, exercise.hidden, exercise.hidden_points, exercise.hidden_count) == (None, (), 7, 3)


def test_the_visible_hash_is_the_same_where_the_hidden_checks_are_missing():
    for exercise in EXERCISES.values():
        folder = Path(str(shipped())) / exercise.id
        visible = json.loads((folder / "checks.json").read_text("utf-8"))
        text = json.dumps(visible, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        import hashlib

        assert exercise.checks_sha256(hidden=False) == hashlib.sha256(text.encode()).hexdigest()


def test_exact_numbers_in_files(tmp_path):
    huge = {"$int": "1" + "0" * 30}
    checks = with_check(arguments=[huge], expected={"a": [{"$int": "-5"}, {"$float": "3.0"}, 0.5, True, None]})
    (check,) = load(folder_of(tmp_path, checks=checks)).visible
    assert check.calls[0].arguments == (10**30,)
    assert repr(check.calls[0].expected) == "{'a': [-5, 3.0, 0.5, True, None]}"


def test_a_script_on_an_object_is_read(tmp_path):
    calls = [
        {"method": "put", "arguments": [1], "expected": [1]},
        {"method": "put", "arguments": [2], "raises": "ValueError"},
    ]
    checks = with_check(arguments=..., expected=..., construct=[1], calls=calls, unchanged=True)
    (check,) = load(folder_of(tmp_path, checks=checks)).visible
    assert (check.construct, check.unchanged) == ((1,), True)
    assert [(call.method, call.expected, call.raises) for call in check.calls] == [
        ("put", [1], None),
        ("put", None, "ValueError"),
    ]


def test_replays_are_read(tmp_path):
    checks = with_check(arguments=..., replay=TRACE, expected={"iterations": 1})
    (check,) = load(folder_of(tmp_path, checks=checks)).visible
    assert check.replay.expected == (("iterations", 1),)
    assert check.replay.requests[0].id == "a"


BAD_CHECKS = {
    "unknown key": (with_check(colour="red"), 'check "one": unknown key "colour"'),
    "missing key": (with_check(hint=...), 'check "one": lacks the key "hint"'),
    "no form": (with_check(arguments=...), 'check "one": must have one of arguments, calls and replay'),
    "two forms": (with_check(replay=TRACE), "must have one of arguments, calls and replay"),
    "points as float": (with_check(points=1.0), 'check "one", points: must be an integer, not 1.0; write 1'),
    "points below zero": (with_check(points=-1), "must be at least 0"),
    "arguments no list": (with_check(arguments=5), 'check "one", arguments: must be a list'),
    "float for an int": (
        with_check(expected=[2.0]),
        "expected[0]: must not be 2.0, which JavaScript reads as an integer",
    ),
    "too large": (with_check(arguments=[2**53]), 'write {"$int": "..."} with the digits'),
    "odd tag": (with_check(arguments=[{"$int": 5}]), "is no value; write"),
    "odd digits": (with_check(arguments=[{"$int": "0x10"}]), "is no value; write"),
    "tag and more": (with_check(arguments=[{"$int": "5", "a": 1}]), "is no value; write"),
    "unknown tag": (with_check(arguments=[{"$set": []}]), "is no value; write"),
    "nan tag": (with_check(arguments=[{"$float": "nan"}]), "is no value; write"),
    "visibility": (with_check(visibility="hidden"), 'must be "visible" in this file'),
    "unchanged": (with_check(unchanged=1), "must be true or false"),
    "empty name": (with_check(name=""), "must not be empty"),
    "no calls": (with_check(arguments=..., expected=..., calls=[]), "must not be empty; write a call"),
    "method of nothing": (
        with_check(arguments=..., expected=..., calls=[{"method": "m", "arguments": [], "expected": 1}]),
        "calls a method, and there is no object",
    ),
    "call without expected": (
        with_check(arguments=..., expected=..., calls=[{"arguments": []}]),
        'check "one", calls[0]: lacks the key "expected"',
    ),
    "cause": (with_check(causes=[{"at": "x", "is": 1, "because": "b"}]), "must be a list of keys and indexes"),
    "cause without reason": (with_check(causes=[{"at": [], "is": 1}]), 'causes[0]: lacks the key "because"'),
    "replay without expected": (with_check(arguments=..., expected=..., replay=TRACE), 'lacks the key "expected"'),
    "replay with unknown metric": (
        with_check(arguments=..., replay=TRACE, expected={"speed": 1}),
        'unknown key "speed"',
    ),
    "replay with nothing": (with_check(arguments=..., replay=TRACE, expected={}), "must name metrics"),
    "replay with a float": (with_check(arguments=..., replay=TRACE, expected={"iterations": 1.0}), "write 1"),
    "replay of repeated ids": (
        with_check(arguments=..., expected="engine", replay={**TRACE, "requests": TRACE["requests"] * 2}),
        "repeats the id of requests[0]",
    ),
    "replay of nothing": (
        with_check(arguments=..., expected="engine", replay={"seed": 1, "requests": 0}),
        "must be at least 1",
    ),
    "other exercise": ({**CHECKS, "exercise": "triple"}, 'exercise: must be "double", the name of the folder'),
    "version": ({**CHECKS, "schema_version": 2}, "schema_version: must be 1, not 2"),
    "no object": ([], "must be an object, not a list"),
    "twice": (
        {**CHECKS, "checks": [{**CHECK, "points": 1}, {**CHECK, "points": 1}]},
        'two checks are called "one"',
    ),
    "sum": (with_check(points=3), "points, visible: must be 3, the sum of the checks' points, not 2"),
}


@pytest.mark.parametrize("name", BAD_CHECKS)
def test_checks_that_are_not_as_they_should_be(tmp_path, name):
    checks, said = BAD_CHECKS[name]
    with pytest.raises(InputError) as caught:
        load(folder_of(tmp_path, checks=checks))
    file = "exercise.json" if name in ("twice", "sum") else "checks.json"
    assert str(caught.value).startswith(f"double/{file}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_EXERCISES = {
    "unknown key": ({"colour": 1}, 'unknown key "colour"'),
    "missing key": ({"rule": ...}, 'lacks the key "rule"'),
    "empty": ({"title": ""}, "title: must not be empty"),
    "no hints": ({"hints": []}, "hints: must be a list of texts, at least one"),
    "hint of another type": ({"hints": [5]}, "hints[0]: must be text"),
    "two lines": ({"approach": "a\nb"}, "approach: must be one line"),
    "kind": ({"entry": {"name": "double", "kind": "lambda"}}, "kind: must be one of"),
    "name": ({"entry": {"name": "2", "kind": "function"}}, "entry, name: must be a name in Python"),
    "points": ({"points": {"visible": 2.0, "hidden": 0}}, "points, visible: must be an integer, not 2.0; write 2"),
    "points too many": ({"points": {"visible": 2, "hidden": 0, "x": 1}}, 'points: unknown key "x"'),
    "hidden": ({"hidden_checks": True}, "hidden_checks: must be an integer, not true"),
    "tuples": ({"tuples": "no"}, "tuples: must be one of"),
    "input": ({"inputs": [{"name": "x", "type": "int"}]}, 'inputs[0]: lacks the key "text"'),
    "inputs": ({"inputs": {}}, "inputs: must be a list"),
    "example": ({"example": {"arguments": 1, "expected": 1, "text": "t"}}, "example, arguments: must be a list"),
}


@pytest.mark.parametrize("name", BAD_EXERCISES)
def test_an_exercise_that_is_not_as_it_should_be(tmp_path, name):
    changes, said = BAD_EXERCISES[name]
    exercise = {key: value for key, value in {**EXERCISE, **changes}.items() if value is not ...}
    with pytest.raises(InputError) as caught:
        load(folder_of(tmp_path, exercise))
    assert str(caught.value).startswith("double/exercise.json: ")
    assert said in str(caught.value)


WRONG = {"schema_version": 1, "wrong": {"same.py": {"mistake": "Same.", "caught_by": ["one"], "says": "expected 2"}}}
HIDDEN = {"schema_version": 1, "exercise": "double", "checks": [{**CHECK, "name": "two", "visibility": "hidden"}]}
WITH_HIDDEN = {**EXERCISE, "points": {"visible": 2, "hidden": 2}, "hidden_checks": 1}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"starter.py": None}, "double/starter.py: cannot be read (No such file or directory); add the file"),
        ({"starter.py": b"\xff"}, "double/starter.py: is not UTF-8; save it as UTF-8"),
        ({"checks.json": None, "checks": None}, "double/checks.json: cannot be read"),
        ({"checks.json": "{"}, "double/checks.json: line 1, column 2: is not JSON"),
        ({"checks.json": ""}, "double/checks.json: is empty"),
        ({"exercise.json": '{"title": 1, "title": 2}'}, 'double/exercise.json: has the key "title" twice'),
        ({"hidden.json": HIDDEN}, "double/exercise.json: hidden_checks: must be 1, as many as there are"),
        ({"wrong_same.py": "x = 1", "wrong_expected.json": {**WRONG, "wrong": {}}}, 'lacks the key "same.py"'),
        ({"wrong_expected.json": WRONG}, 'double/wrong/expected.json: wrong: unknown key "same.py"'),
        ({"wrong_same.py": "x = 1"}, "double/wrong/expected.json: cannot be read"),
    ],
)
def test_files_that_are_missing_or_damaged(tmp_path, files, said):
    files = {key: value for key, value in files.items() if key != "checks"}
    with pytest.raises(InputError) as caught:
        load(folder_of(tmp_path, **files))
    assert said in str(caught.value)


def test_a_known_mistake_names_checks_that_exist(tmp_path):
    wrong = {"schema_version": 1, "wrong": {"same.py": {"mistake": "Same.", "caught_by": ["three"], "says": "s"}}}
    files = {"hidden.json": HIDDEN, "wrong_same.py": "x = 1", "wrong_expected.json": wrong}
    with pytest.raises(InputError, match='there is no check "three"'):
        load(folder_of(tmp_path, WITH_HIDDEN, **files))


def test_known_mistakes_are_read(tmp_path):
    files = {"hidden.json": HIDDEN, "wrong_same.py": "def double(x): return x", "wrong_expected.json": WRONG}
    exercise = load(folder_of(tmp_path, WITH_HIDDEN, **files))
    assert [wrong.file for wrong in exercise.wrong] == ["same.py"]
    assert len(exercise.hidden) == 1
