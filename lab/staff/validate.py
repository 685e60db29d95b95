"""Checks exercises for those who write them: every problem is one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.exercise_values import Fields
from lab.exercises import PARTS, Exercise, Wrong, faults, load, shipped
from lab.formats.json_text import parse_json, read_bytes
from lab.grading.ask import request_for
from lab.grading.judge import judge
from lab.grading.report import Result, problem_of
from lab.staff import pool
from lab.staff.attribution import Submission
from lab.staff.grading import grade_submission
from lab.staff.mutants import Mutant, mutants
from lab.staff.plan import Plan
from lab.staff.runner import Boxed

EQUIVALENT = "reference_mutants.json"
"""The file beside a reference that lists changes to it which change nothing, each with the reason."""

REFERENCE, STARTER = "reference.py", "starter.py"


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to say of one exercise. problems: one line each; text: what was looked at"""

    exercise: str
    problems: Sequence[str]
    text: str


def folders(folder: str | None) -> list[Path]:
    """The folders of exercises in `folder` (the shipped ones, if None); `folder` itself, if it is one.

    A folder counts that has any part of an exercise, so that one without its exercise.json is not passed over.
    """
    root = Path(str(shipped())) if folder is None else Path(folder)
    if (root / "exercise.json").is_file():
        return [root.resolve()]
    found = sorted(
        entry
        for entry in root.glob("*")
        if entry.is_dir() and entry.name[0] not in "._" and any((entry / part).exists() for part in PARTS)
    )
    if not found:
        raise InputError(
            "holds no exercise, itself or in a folder of it; name a folder of exercises, or make one with "
            "serving-lab checks new",
            source=str(root),
        )
    return found


def validate(folder: Path, plan: Plan, jobs: int, *, quick: bool = False) -> Found:
    """Look at the exercise in `folder` in every way. Solutions and mutants run like learners' code.

    quick: without the mutants, of which there are many
    """
    name = folder.name
    problems = [str(error) for error in [*faults(folder), *_faults_of_listed(folder)]]
    if problems:
        return Found(name, problems, "could not be read")
    exercise = load(folder)
    problems = [f"{name}: {problem}" for problem in _as_written(exercise)]
    if exercise.reference is None:
        return Found(name, [*problems, f"{name}/{REFERENCE}: is missing; add it"], "has no reference")
    problems += [f"{name}/{place}: {problem}" for place, problem in _solutions(exercise, plan, jobs)]
    checks = exercise.checks(hidden=True)
    text = f"{len(checks)} checks, {sum(check.points for check in checks)} points, {len(exercise.wrong)} known mistakes"
    if quick:
        return Found(name, problems, text)
    if any(problem.startswith(f"{name}/{REFERENCE}: ") for problem in problems):
        return Found(name, problems, "its mutants were not tried, since the reference does not pass")
    listed = _equivalent(folder)
    made = list(mutants(exercise.reference))
    alive = _alive(exercise, made, plan, jobs)
    problems += [f"{name}/{REFERENCE}: {problem}" for problem in _mutation(made, alive, listed)]
    tried = (
        f"{len(made)} mutants of the reference ({len(made) - len(alive)} caught, {len(listed)} listed as equivalent)"
    )
    return Found(name, problems, f"{text}, {tried}")


def _faults_of_listed(folder: Path) -> Iterator[InputError]:
    try:
        _equivalent(folder)
    except InputError as error:
        yield error


def _as_written(exercise: Exercise) -> Iterator[str]:
    """What reading it has not refused and is wrong all the same."""
    for check in exercise.checks(hidden=True):
        if check.points < 1:
            yield f"check {check.name!r} gives no points; give it 1 or more"
    if not exercise.visible:
        yield "has no visible check; write one in checks.json"
    if not exercise.wrong:
        yield "has no known mistakes; write some in wrong/, with expected.json"
    if len(set(exercise.hints)) < len(exercise.hints):
        yield "gives the same hint twice; write each once"


def _solutions(exercise: Exercise, plan: Plan, jobs: int) -> Iterator[tuple[str, str]]:
    """(file, problem) for the reference, the starter and each known mistake."""
    sources = [(REFERENCE, exercise.reference or ""), (STARTER, exercise.starter)]
    sources += [(f"wrong/{wrong.file}", wrong.code) for wrong in exercise.wrong]
    results = _run([(name, code) for name, code in sources], exercise, plan, jobs, grade_submission)
    if results[0]["problem"] is not None:
        yield REFERENCE, f"does not run: {results[0]['problem']['message']}"
    for check in results[0]["checks"] if results[0]["problem"] is None else ():
        if check["outcome"] != "passed":
            yield REFERENCE, f"does not pass {check['name']!r}: {check['message']} {check['cause']}".rstrip()
        elif check["mutated"]:
            yield REFERENCE, f"changes its arguments in {check['name']!r}: {', '.join(check['mutated'])}"
    if results[1]["problem"] is not None:
        yield STARTER, f"does not run: {results[1]['problem']['message']}"
    elif results[1]["outcome"] == "passed":
        yield STARTER, "passes all checks; leave something to do"
    for wrong, result in zip(exercise.wrong, results[2:], strict=True):
        yield from ((f"wrong/{wrong.file}", problem) for problem in _known_mistake(wrong, result))


def _known_mistake(wrong: Wrong, result: Result) -> Iterator[str]:
    if result["problem"] is not None:
        yield f"does not run: {result['problem']['message']}"
        return
    verdicts = {check["name"]: check for check in result["checks"]}
    for name in wrong.caught_by:
        if name not in verdicts:
            yield f"is to be caught by {name!r}, and there is no such check"
        elif verdicts[name]["outcome"] == "passed":
            yield f"is to be caught by {name!r}, which it passes"
    first = verdicts.get(wrong.caught_by[0])
    if first is not None and first["outcome"] != "passed" and wrong.says not in f"{first['message']} {first['cause']}":
        yield f"{first['name']!r} says {first['message']!r} {first['cause']!r}, without the words {wrong.says!r}"
    if all(check["outcome"] == "passed" for check in result["checks"] if check["visibility"] == "visible"):
        yield "passes every visible check; a learner would learn of it too late"


def _mutation(made: Sequence[Mutant], alive: Sequence[str], listed: Sequence[str]) -> Iterator[str]:
    for name in alive:
        if name not in listed:
            yield f"no check catches the change in {name}; add one, or list it in {EQUIVALENT} with the reason"
    for name in listed:
        if name not in {mutant.name for mutant in made}:
            yield f"{EQUIVALENT} lists {name}, and there is no such mutant; take it out"
        elif name not in alive:
            yield f"{EQUIVALENT} lists {name}, and a check catches it; take it out"


def _alive(exercise: Exercise, made: Sequence[Mutant], plan: Plan, jobs: int) -> list[str]:
    results = _run([(mutant.name, mutant.code) for mutant in made], exercise, plan, jobs, _until_caught)
    return [mutant.name for mutant, result in zip(made, results, strict=True) if result["outcome"] == "passed"]


def _run(
    sources: Sequence[tuple[str, str]], exercise: Exercise, plan: Plan, jobs: int, work: pool.Work
) -> list[dict[str, Any]]:
    tasks = [(Submission(name, exercise.id, code, name), exercise) for name, code in sources]
    results: list[dict[str, Any]] = [{}] * len(tasks)
    for index, result, _ in pool.run(tasks, plan, jobs, work):
        results[index] = result
    return results


def _until_caught(submission: Submission, exercise: Exercise, plan: Plan, job: int) -> Result:
    """``{"outcome"}`` of the first check that is not passed: all that there is to know of a mutant."""
    boxed = Boxed.of(plan, job, exercise, submission.source)
    try:
        problem = problem_of(exercise, boxed.prepare())
        if problem is not None:
            return {"outcome": problem["outcome"]}
        for check in exercise.checks(hidden=True):
            outcome = judge(exercise, check, boxed.run(request_for(check)))["outcome"]
            if outcome != "passed":
                return {"outcome": outcome}
    finally:
        boxed.close()
    return {"outcome": "passed"}


def _equivalent(folder: Path) -> list[str]:
    """The mutants that EQUIVALENT lists. Raises InputError."""
    path = folder / EQUIVALENT
    if not path.is_file():
        return []
    source = f"{folder.name}/{EQUIVALENT}"
    try:
        top = Fields(parse_json(read_bytes(path), source), "the file")
        if top.take("schema_version") != 1:
            raise InputError("must be 1; this lab reads 1", field="schema_version")
        names = []
        for row in top.objects("equivalent"):
            names.append(row.text("mutant"))
            row.text("because")
            row.finish()
        top.finish()
    except InputError as error:
        raise error.at(source=source) from None
    return names
