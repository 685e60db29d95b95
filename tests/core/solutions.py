"""Short ways to try learner code: one check in this interpreter, or a whole exercise."""

import json
from textwrap import dedent

from lab.exercises import load_all
from lab.grading.child.call import Session
from lab.grading.child.wire import encode
from lab.grading.grade import Here, grade_here
from lab.grading.judge import judge
from lab.grading.reply import Reply
from lab.grading.report import problem_of

EXERCISES = load_all()
_dumps, _loads = json.dumps, json.loads  # bound before any learner code runs
PAGES = EXERCISES["allocate_kv_pages"]
STEP = EXERCISES["scheduler_step"]
RIGHT = "return {'pages': 3, 'capacity': 48, 'wastedSlots': 15}"
"""What `allocate_kv_pages(33, 16)` has to return."""


def check_named(exercise, name):
    """The check of `exercise` that is called `name`."""
    return next(check for check in exercise.checks(hidden=True) if check.name == name)


FIRST = check_named(PAGES, "33 tokens on pages of 16")


def call(source, *arguments, name="f"):
    """The answer of the child to one call of `name` in `source`, after a trip through JSON."""
    request = {"steps": [{"arguments": [encode(argument) for argument in arguments]}]}
    return through_json(Session(dedent(source), name).run(through_json(request)))


def through_json(value):
    """`value` as it is on the other side of a pipe or a channel."""
    return _loads(_dumps(value))


def verdict(body, exercise=PAGES, check=FIRST):
    """The verdict on `def allocate_kv_pages(tokens, page_size=16):` with `body`, which is indented here."""
    lines = dedent(body).strip("\n").split("\n")
    source = f"def {exercise.signature}:\n" + "\n".join("    " + line for line in lines) + "\n"
    return verdict_of(source, exercise, check)


def verdict_of(source, exercise=PAGES, check=FIRST):
    """The verdict on a whole source for one check."""
    from lab.grading.ask import request_for

    reply = Here(exercise, source).run(through_json(request_for(check)))
    return judge(exercise, check, Reply(through_json(reply.answer)))


def problem(source, exercise=PAGES):
    """Why `source` cannot be checked at all, or None."""
    return problem_of(exercise, Reply(through_json(Here(exercise, source).prepare().answer)))


def outcomes(source, exercise=PAGES):
    """The outcome of each check, by its name."""
    return {entry["name"]: entry["outcome"] for entry in grade_here(exercise, source)["checks"]}
