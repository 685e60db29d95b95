"""Verdicts and results: what each reply counts as, points, scripts, objects, and answers that are no answers."""

import copy
import json
from dataclasses import replace
from random import Random

import pytest
from solutions import FIRST, PAGES, STEP, check_named, verdict, verdict_of

from lab.exercises import Call, Cause, Check
from lab.grading.ask import request_for
from lab.grading.child.call import Session
from lab.grading.grade import Here, grade, grade_here
from lab.grading.judge import judge
from lab.grading.reply import Reply
from lab.grading.report import OUTCOMES, for_student, problem_of
from lab.grading.trust import is_answer

GOOD = {
    "phase": "call",
    "problem": None,
    "steps": [
        {
            "returned": [
                "dict",
                [
                    [["str", "pages"], ["int", 3]],
                    [["str", "capacity"], ["int", 48]],
                    [["str", "wastedSlots"], ["int", 15]],
                ],
            ],
            "arguments": [["int", 33], ["int", 16]],
        }
    ],
    "output": {"text": "", "bytes": 0},
    "ended": None,
}


def test_the_child_answers_in_the_form_that_the_parent_reads():
    answer = Session(PAGES.reference, PAGES.name).run(request_for(FIRST))
    assert answer == GOOD
    assert is_answer(answer)


def test_a_right_answer_passes_and_shows_the_call():
    found = judge(PAGES, FIRST, Reply(GOOD))
    assert found == {
        "name": "33 tokens on pages of 16",
        "visibility": "visible",
        "outcome": "passed",
        "points": 2,
        "max_points": 2,
        "call": "allocate_kv_pages(33, 16)",
        "expected": "{'pages': 3, 'capacity': 48, 'wastedSlots': 15}",
        "returned": "{'pages': 3, 'capacity': 48, 'wastedSlots': 15}",
        "message": "",
        "cause": "",
        "hint": FIRST.hint,
        "line": None,
        "frames": [],
        "mutated": [],
        "output": {"text": "", "bytes": 0},
    }


@pytest.mark.parametrize(
    ("reply", "outcome", "said"),
    [
        (Reply(ended="time", detail=2), "stopped", "There was no result within 2 s."),
        (Reply(ended="time", detail=0.5), "stopped", "within 0.5 s."),
        (Reply(ended="time"), "stopped", "There was no result."),
        (Reply(ended="memory"), "stopped", "It needed more memory than there is."),
        (Reply(ended="output"), "stopped", "It printed more than 10 MB, and was stopped."),
        (Reply(ended="exit", detail=0), "crashed", "The interpreter exited with status 0"),
        (Reply(ended="signal", detail=11), "crashed", "The interpreter was killed by signal 11."),
        (Reply(ended="recursion"), "failed", "It raised RecursionError: the calls went deeper"),
        (Reply(ended="lost"), "crashed", "The interpreter was lost"),
        (Reply(ended="grader", detail="no disk"), "grader_error", "A fault of the grader, not of this code: no disk."),
        (Reply(), "crashed", "The interpreter was lost"),
        (Reply(GOOD, ended="time"), "stopped", "There was no result."),
        (Reply({**GOOD, "ended": "output"}), "stopped", "It printed more than 10 MB"),
    ],
)
def test_how_a_run_ended_decides(reply, outcome, said):
    for check in (FIRST, STEP.visible[-1]):
        found = judge(PAGES if check is FIRST else STEP, check, reply)
        assert found["outcome"] == outcome
        assert said in found["message"]
        assert found["points"] == 0
    assert problem_of(PAGES, reply)["outcome"] == outcome
    assert said in problem_of(PAGES, reply)["message"]


def test_a_host_can_only_say_what_is_known():
    with pytest.raises(ValueError, match="ended must be one of time, memory"):
        Reply(ended="passed")


def spoiled(random, value):
    """`value` with something in it that does not belong there."""
    junk = [None, True, -1, 10**400, 1.5, "x", [], {}, ["int", "x"], [["str", "a"]], "passed", ["none"], float("nan")]
    value = copy.deepcopy(value)
    holder, key = None, None
    node = value
    for _ in range(random.randrange(1, 9)):
        if isinstance(node, dict) and node:
            holder, key = node, random.choice(sorted(node))
        elif isinstance(node, list) and node:
            holder, key = node, random.randrange(len(node))
        else:
            break
        node = holder[key]
    if random.random() < 0.3 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = random.choice(junk)
    return value


@pytest.mark.parametrize("check", [FIRST, check_named(STEP, "The course trace, in numbers")], ids=["call", "replay"])
def test_an_answer_that_was_tampered_with_never_passes_and_never_breaks_the_judge(check):
    exercise = PAGES if check is FIRST else STEP
    good = Session(exercise.reference, exercise.name).run(request_for(check))
    raised = Session("def f(x): return g(x)\ndef g(x): return 1 / 0", "f").run({"steps": [{"arguments": [["int", 1]]}]})
    random = Random(3)
    for original in (good, raised):
        for _ in range(400 if check is FIRST else 100):
            answer = spoiled(random, original)
            found = judge(exercise, check, Reply(answer))
            json.dumps(found)
            assert found["outcome"] in OUTCOMES and found["outcome"] != "grader_error"
            if found["outcome"] == "passed":  # what was spoiled said nothing about the result
                same = {key: answer.get(key) for key in ("phase", "problem", "ended")}
                assert same == {"phase": answer["phase"], "problem": None, "ended": None}
                if check is FIRST:
                    assert answer["steps"][0]["returned"] == original["steps"][0]["returned"]


@pytest.mark.parametrize("answer", [5, "passed", [], {"outcome": "passed"}, {"ended": "grader"}, {**GOOD, "steps": []}])
def test_what_is_no_answer_counts_as_a_crash(answer):
    found = judge(PAGES, FIRST, Reply(answer))
    assert found["outcome"] == "crashed"
    assert found["cause"] == "The code interfered with the interpreter that runs it."


# Scripts and objects

QUEUE = """
class Queue:
    def __init__(self, size):
        self.size, self.items = size, []
    def put(self, item):
        if len(self.items) == self.size:
            raise OverflowError("full")
        self.items.append(item)
        return list(self.items)
    def shown(self):
        return self.items
"""


def script(*calls, construct=(2,), **options):
    return Check("s", "visible", 3, "h", tuple(calls), construct, **options)


def on_object(source, *calls, **options):
    exercise = replace(PAGES, name="Queue", kind="class", signature="Queue(size)")
    return verdict_of(source, exercise, script(*calls, **options))


PUT_TWICE = (Call((5,), [5], "put"), Call((6,), [5, 6], "put"), Call((7,), None, "put", "OverflowError"))


def test_a_script_of_calls_on_an_object():
    assert on_object(QUEUE, *PUT_TWICE)["outcome"] == "passed"
    assert on_object(QUEUE, *PUT_TWICE, Call((), [5, 6], "shown"))["outcome"] == "passed"
    assert on_object(QUEUE, Call((7,), None, "put", "ArithmeticError"), construct=(0,))["outcome"] == "passed"


@pytest.mark.parametrize(
    ("old", "new", "said", "call"),
    [
        ("list(self.items)", "self.items[:1]", "result has 1 entry, expected 2.", "Queue(2).put(6)"),
        ("if len", "if False and len", "It returned [5, 6, 7]; expected is OverflowError.", "Queue(2).put(7)"),
        ("OverflowError", "ValueError", "It raised ValueError: full", "Queue(2).put(7)"),
        ("def put", "def push", "It raised AttributeError", "Queue(2).put(5)"),
        ("self, size", "self", "The call does not fit the function", "Queue(2).put(5)"),
        ("self.size, self", "1 / 0; self.size, self", "It raised ZeroDivisionError", "Queue(2).put(5)"),
    ],
)
def test_a_script_fails_at_its_first_wrong_call(old, new, said, call):
    found = on_object(QUEUE.replace(old, new), *PUT_TWICE)
    assert found["outcome"] == "failed"
    assert said in found["message"]
    assert found["call"] == call


def test_each_object_is_new():
    shared = QUEUE.replace("self.items = size, []", "self.items = size, SHARED").replace(
        "class", "SHARED = []\nclass", 1
    )
    assert on_object(shared, *PUT_TWICE)["outcome"] == "passed"


def test_a_script_of_calls_shares_one_module():
    source = "SEEN = []\ndef allocate_kv_pages(x):\n    SEEN.append(x)\n    return SEEN"
    check = Check("s", "visible", 1, "h", (Call((1,), [1]), Call((2,), [1, 2])))
    assert verdict_of(source, PAGES, check)["outcome"] == "passed"


def test_a_returned_value_counts_as_it_was_when_it_came_back():
    source = "SEEN = []\ndef allocate_kv_pages(x):\n    SEEN.append(x)\n    return SEEN"
    check = Check("s", "visible", 1, "h", (Call((1,), [1, 2]), Call((2,), [1, 2])))
    assert verdict_of(source, PAGES, check)["message"] == "result has 1 entry, expected 2."


def test_a_script_ends_where_the_learner_leaves():
    source = "def allocate_kv_pages(x):\n    if x == 2: raise SystemExit\n    return x"
    check = Check("s", "visible", 1, "h", (Call((1,), 1), Call((2,), 2), Call((3,), 3)))
    found = verdict_of(source, PAGES, check)
    assert (found["outcome"], found["call"]) == ("crashed", "allocate_kv_pages(2)")


def test_changed_arguments_fail_where_they_were_to_stay():
    check = Check("s", "visible", 1, "h", (Call(([1],), 1),), unchanged=True)
    found = verdict_of("def allocate_kv_pages(x): return x.pop()", PAGES, check)
    assert (found["outcome"], found["mutated"]) == ("failed", ["tokens"])
    assert found["message"] == "The call changed its arguments: tokens."
    for sly in ("x[0] = True", "x[:] = [1.0]", "x.append(x)", "x.__class__"):
        body = f"def allocate_kv_pages(x):\n    {sly}\n    return 1"
        expected = "passed" if sly == "x.__class__" else "failed"
        assert verdict_of(body, PAGES, check)["outcome"] == expected
    assert verdict_of("def allocate_kv_pages(x): return x[0]", PAGES, check)["outcome"] == "passed"


def test_a_cause_from_the_file_comes_before_a_general_one():
    cause = Cause(("pages",), 3.0, "because of this")
    found = verdict("return {'pages': 3.0, 'capacity': 48, 'wastedSlots': 15}", check=replace(FIRST, causes=(cause,)))
    assert found["cause"] == "because of this"
    other = replace(FIRST, causes=(replace(cause, value=3), Cause(("pages", 0), 3, "x"), Cause(("no",), 3, "x")))
    found = verdict("return {'pages': 3.0, 'capacity': 48, 'wastedSlots': 15}", check=other)
    assert found["cause"].startswith("3.0 is a float")


def test_tuples_are_refused_where_the_exercise_says_so():
    check = Check("s", "visible", 1, "h", (Call((), [1]),))
    source = "def allocate_kv_pages(): return (1,)"
    assert verdict_of(source, PAGES, check)["outcome"] == "passed"
    found = verdict_of(source, replace(PAGES, tuples=False), check)
    assert found["cause"] == "This exercise asks for a list; list(...) makes one of a tuple."


# Results


def test_points_add_up_exactly():
    for exercise in (PAGES, STEP):
        for source in (exercise.reference, exercise.starter, exercise.wrong[0].code):
            for hidden in (True, False):
                found = grade_here(exercise, source, hidden=hidden)
                assert found["points"] == sum(check["points"] for check in found["checks"])
                most = exercise.visible_points + (exercise.hidden_points if hidden else 0)
                assert found["max_points"] == most == sum(check["max_points"] for check in found["checks"])
                assert type(found["points"]) is int


def test_the_outcome_of_a_result_is_the_gravest_of_its_checks():
    class Script:
        def __init__(self, *endings):
            self.endings = list(endings)

        def prepare(self):
            return Reply({**GOOD, "steps": []})

        def run(self, request):
            return self.endings.pop(0) if self.endings else Here(PAGES, PAGES.reference).run(request)

    time, lost, ours = Reply(ended="time"), Reply(ended="lost"), Reply(ended="grader")
    assert grade(PAGES, "", Script())["outcome"] == "passed"
    assert grade(PAGES, "", Script(time))["outcome"] == "stopped"
    assert grade(PAGES, "", Script(time, lost))["outcome"] == "crashed"
    assert grade(PAGES, "", Script(lost, ours, time))["outcome"] == "grader_error"


def test_verdicts_are_told_one_by_one():
    told = []
    found = grade(PAGES, PAGES.reference, Here(PAGES, PAGES.reference), tell=told.append)
    assert told == found["checks"]


def test_nothing_is_run_when_the_code_does_not_get_as_far():
    class Loop:
        def prepare(self):
            return Reply(ended="time", detail=2)

        def run(self, request):
            raise AssertionError

    found = grade(PAGES, "while True: pass", Loop())
    assert found["outcome"] == "stopped"
    assert found["problem"]["message"] == "There was no result within 2 s."
    assert {check["message"] for check in found["checks"]} == {"The check was not run."}


def test_a_result_belongs_to_its_code_and_checks():
    found = grade_here(PAGES, PAGES.reference)
    fewer = grade_here(PAGES, PAGES.reference, hidden=False)
    assert found["checks_sha256"] == PAGES.checks_sha256(hidden=True) != fewer["checks_sha256"]
    assert found["code_sha256"] == fewer["code_sha256"]
    assert grade_here(PAGES, PAGES.reference + "\n")["code_sha256"] != found["code_sha256"]


def test_the_same_solution_gives_the_same_bytes():
    for wrong in STEP.wrong[:2]:
        first, again = (json.dumps(grade_here(STEP, wrong.code)) for _ in range(2))
        assert first == again


def test_a_student_sees_of_a_hidden_check_that_it_is_there():
    found = for_student(grade_here(PAGES, PAGES.wrong[0].code))
    hidden = [check for check in found["checks"] if check["visibility"] == "hidden"]
    assert hidden
    for check in hidden:
        shown = {key for key, value in check.items() if value not in ("", [], None, {"text": "", "bytes": 0})}
        assert shown <= {"name", "visibility", "outcome", "points", "max_points"}
    visible = [check for check in found["checks"] if check["visibility"] == "visible"]
    assert any(check["message"] for check in visible)


def test_a_source_of_bytes_is_graded_like_the_same_text():
    text = grade_here(PAGES, PAGES.reference)
    assert grade_here(PAGES, PAGES.reference.encode()) == text
