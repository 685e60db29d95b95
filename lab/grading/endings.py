"""What is said when there is no value to compare: the source does not run, the code raised, ran too long or died."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from lab.exercises import Exercise
from lab.grading.reply import Reply

Said = tuple[str, str, str, int | None, list[dict[str, Any]]]
"""outcome, message, likely cause, the learner's line, the learner's frames"""


def ending(exercise: Exercise, reply: Reply) -> Said | None:
    """What to say of a `reply` that holds nothing to compare, or None if it does."""
    answer, ended = reply.read()
    if ended is not None:
        return _ended(ended, reply.detail)
    problem = answer["problem"]
    if problem is None:
        return None
    if answer["phase"] in ("compile", "find", "load"):
        return refusal(exercise, answer["phase"], problem)
    return failure(exercise, problem)


def _ended(ended: str, detail: float | str | None) -> Said:
    if ended == "time":
        after = f" within {detail:g} s" if isinstance(detail, int | float) else ""
        return "stopped", f"There was no result{after}.", "Is there a loop that never ends, or a wait?", None, []
    if ended == "memory":
        return _memory(None, [])
    if ended == "output":
        cause = "Is there a print in a loop that never ends?"
        return "stopped", "It printed more than 10 MB, and was stopped.", cause, None, []
    if ended == "files":
        cause = "Nothing here needs a file."
        return "stopped", "It wrote too much to files, and was stopped.", cause, None, []
    if ended == "exit":
        told = "" if detail is None else f" with status {detail}"
        return "crashed", f"The interpreter exited{told} before there was a result.", _NO_EXIT, None, []
    if ended == "signal":
        told = "" if detail is None else f" by signal {detail}"
        cause = "Deep recursion, or code beyond Python, can do that."
        return "crashed", f"The interpreter was killed{told}.", cause, None, []
    if ended == "recursion":
        message = "It raised RecursionError: the calls went deeper than the interpreter can."
        return "failed", message, _raised_cause("recursion", {"type": "RecursionError"}), None, []
    if ended == "grader":
        told = "" if detail is None else f": {detail}"
        return "grader_error", f"A fault of the grader, not of this code{told}.", "", None, []
    cause = "The code interfered with the interpreter that runs it."
    return "crashed", "The interpreter was lost before there was a result that can be read.", cause, None, []


_NO_EXIT = "A function hands its result back with return; nothing here needs to end Python."


def _memory(line: int | None, frames: list[dict[str, Any]]) -> Said:
    cause = "Is a list made far longer than needed, or a loop collecting without end?"
    return "stopped", "It needed more memory than there is.", cause, line, frames


def failure(exercise: Exercise, problem: dict[str, Any]) -> Said:
    """What to say of an exception out of a call."""
    kind, line, frames = problem["kind"], problem["line"], problem["frames"]
    told = problem["type"] + (f": {problem['message']}" if problem["message"] else "")
    where = f", in line {line}" if line is not None else ""
    if kind == "exit":
        return "crashed", f"It ended Python instead of returning{where}.", _NO_EXIT, line, frames
    if kind == "memory":
        return _memory(line, frames)
    if kind == "output":
        return _ended("output", None)
    if kind == "signature":
        cause = f"The check calls {exercise.signature} by position, in this order."
        return "failed", f"The call does not fit the function: {told}.", cause, line, frames
    return "failed", f"It raised {told}{where}.", _raised_cause(kind, problem), line, frames


def _raised_cause(kind: str, problem: dict[str, Any]) -> str:
    if kind == "recursion":
        return "A function calls itself without end: there is no case in which it stops."
    if kind == "interrupt":
        return "The code raised this itself: nobody pressed a key."
    name = problem["type"]
    return {
        "NotImplementedError": "This part is still to be written.",
        "EOFError": "A check passes everything as arguments; there is nobody to answer input().",
        "ZeroDivisionError": "page_size is never 0, so look at what else is divided by.",
        "ModuleNotFoundError": "Only Python's standard library is there.",
        "KeyError": "That key is in none of the documented dicts: mind the spelling, and which list it is from.",
        "IndexError": "A list may be empty: ask before taking its first entry.",
    }.get(name, "")


def refusal(exercise: Exercise, phase: str, problem: dict[str, Any]) -> Said:
    """What to say when the source gives no function to call: it does not compile, fails as it loads, or lacks it."""
    line, frames, kind = problem["line"], problem["frames"], problem["kind"]
    where = f"line {line}: " if line is not None else ""
    if phase == "compile":
        message = f"{where}{problem['message']}."
        if kind == "syntax":
            message = f"{where}{problem['type']}: {problem['message']}."
        return "did_not_run", message[0].upper() + message[1:], _syntax_cause(problem), line, frames
    if phase == "load":
        if kind == "memory":
            return _memory(line, frames)
        if kind == "output":
            return _ended("output", None)
        outcome, said, cause, line, frames = failure(exercise, problem)
        outcome = "crashed" if outcome == "crashed" else "did_not_run"
        return outcome, f"Before any check, as the code was loaded: {said}", cause, line, frames
    return "did_not_run", *_not_found(exercise, problem), line, frames


def _syntax_cause(problem: dict[str, Any]) -> str:
    if problem["type"] == "TabError":
        return "Tabs and spaces are mixed in the indentation: use spaces only."
    if problem["type"] == "IndentationError":
        return "The indentation of this line fits no block."
    if problem["kind"] == "deep":
        return "Shorten the expression, or build the value in a loop."
    if problem["kind"] == "syntax":
        return "Python cannot read this line, or the one before it: look for a missing bracket, colon or quote."
    return ""


def _not_found(exercise: Exercise, problem: dict[str, Any]) -> tuple[str, str]:
    name = exercise.name
    wanted = "class" if exercise.kind == "class" else "function"
    found = problem.get("found", [])
    if problem["kind"] == "missing":
        message = f"There is no {wanted} called {name}."
        close = get_close_matches(name.lower(), [other.lower() for other in found], n=1, cutoff=0.7)
        if close:
            spelt = next(other for other in found if other.lower() == close[0])
            return message, f"There is one called {spelt}: rename it."
        if found:
            return message, f"The code defines {', '.join(found[:5])}."
        return message, f"Begin with {'class' if wanted == 'class' else 'def'} {exercise.signature}:"
    there = found[0] if found else "something else"
    message = f"{name} is {there}, not a {wanted}."
    if there == "a generator":
        return message, "There is a yield in it: hand the result back with return."
    if there.startswith("an async"):
        return message, "Nothing has to be awaited here: leave out async."
    return message, f"Begin with {'class' if wanted == 'class' else 'def'} {exercise.signature}:"
