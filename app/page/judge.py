"""The judge's worker calls this: what to ask of a learner's code, and the verdict on what came back.

Runs in an interpreter of its own, where no learner code ever runs. Texts are JSON. What comes from a learner's
interpreter arrives as text that nobody has looked into, and is read here as what it is: somebody's data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lab.driver import drive_replay, plan_for, recorded, step_limits
from lab.exercises import Exercise, load_all
from lab.grading.ask import request_for
from lab.grading.endings import ending, failure
from lab.grading.judge import Verdict, judge
from lab.grading.reply import Reply, too_deep
from lab.grading.report import problem_of, result, verdict_without_run
from lab.grading.show import printable
from lab.grading.trust import is_step
from lab.workload import Limits, Request

MOST_STEPS = 20_000
"""How many steps of a replay the page takes from a learner's interpreter, in 16 MB of text at most."""

LOST = ("lost", "memory", "exit", "signal", "recursion", "time")
"""Endings after which an interpreter is not used again."""


class Judge:
    """Judges one ask after the other; `begin` starts the next."""

    def __init__(self) -> None:
        self._exercises = load_all()
        self._exercise: Exercise = next(iter(self._exercises.values()))
        self._source = ""
        self._problem: dict[str, Any] | None = None
        self._verdicts: list[Verdict] = []

    # ---- checks

    def begin(self, exercise: str, source: str) -> str:
        """``{"name", "kind", "total"}``: what to look for in `source`, and how many checks there are."""
        self._exercise = self._known(exercise)
        self._source = source
        self._problem = None
        self._verdicts = []
        found = self._exercise
        return _text({"name": found.name, "kind": found.kind, "total": len(found.visible)})

    def prepared(self, reply: str) -> str:
        """``{"problem"}``: why no check can run, or null, from the reply to preparing."""
        self._problem = problem_of(self._exercise, _reply(reply))
        return _text({"problem": self._problem})

    def request(self, index: int) -> str:
        """What to ask the learner's interpreter for check `index`."""
        return _text(request_for(self._exercise.visible[index]))

    def verdict(self, index: int, reply: str) -> str:
        """``{"verdict", "worn"}``; `worn`: the interpreter that replied is not to be used again."""
        heard = _reply(reply)
        verdict = judge(self._exercise, self._exercise.visible[index], heard)
        self._verdicts.append(verdict)
        return _text({"verdict": verdict, "worn": _worn(heard)})

    def unrun(self, index: int) -> str:
        """``{"verdict"}`` on a check that the problem of `prepared` kept from being run."""
        assert self._problem is not None
        verdict = verdict_without_run(self._exercise.visible[index], self._problem)
        self._verdicts.append(verdict)
        return _text({"verdict": verdict})

    def result(self) -> str:
        """The result of all checks."""
        return _text(result(self._exercise, self._source, self._verdicts, hidden=False, problem=self._problem))

    # ---- running

    def ran(self, reply: str, told: str) -> str:
        """What to show of a program that was executed. `told`: the output that came before the reply."""
        heard = _reply(reply)
        answer, _ = heard.read()
        output = answer["output"]
        text = printable(output["text"] or told)
        written = max(output["bytes"], len(text.encode()))
        problem = answer["problem"]
        if answer["ended"] is not None:
            said = ending(self._exercise, Reply(ended=answer["ended"]))
        elif problem is not None and answer["phase"] == "load":
            said = failure(self._exercise, {**problem, "kind": _plain(problem["kind"])})
        else:
            said = ending(self._exercise, heard)
        outcome, error = "ran", None
        if said is not None:
            outcome, message, cause, line, frames = said
            named = problem is not None and problem["type"] and outcome in ("failed", "did_not_run")
            error = {
                "type": problem["type"] if named else "",
                "message": printable(problem["message"] if named else message),
                "cause": printable(cause),
                "line": line,
                "column": problem["column"] if named else None,
                "text": printable(frames[-1]["code"] if frames else _line(self._source, line)),
                "frames": _printable(frames),
            }
        kept = len(text.encode())
        return _text(
            {"outcome": outcome, "output": text, "bytes": written, "truncated": written > kept, "error": error}
        )

    def program(self, source: str) -> str:
        """Take the source that is going to be executed."""
        self._source = source
        return "{}"

    # ---- replaying

    def plan(self, exercise: str, source: str, trace: str, limits: str) -> str:
        """``{"name", "kind", "request"}``: how a solution of `exercise` drives the replay of a trace.

        trace, limits: as in a replay document. Raises InputError if the engine would, LookupError if such a solution
        drives none.
        """
        found = self._known(exercise)
        if not found.drives:
            raise LookupError(f"A solution of {exercise!r} drives no replay.")
        self._exercise = found
        self._source = source
        self._workload = _requests(json.loads(trace)), step_limits(Limits(**json.loads(limits)))
        request = {"replay": plan_for(*self._workload)}
        return _text({"name": self._exercise.name, "kind": self._exercise.kind, "request": _text(request)})

    def replayed(self, steps: str, reply: str) -> str:
        """What the steps that came back (a list of texts) make of the trace; `reply` is how it ended.

        The loop runs again here, on the values that came back: nothing else that the learner's interpreter says of
        the replay is used.
        """
        heard = _reply(reply)
        taken = _steps(json.loads(steps))
        driven = drive_replay(*self._workload, recorded(taken))
        policy = driven.to_policy()
        problem = problem_of(self._exercise, heard)
        departure = policy["departure"]
        if departure is not None:
            departure = {**departure, "words": " ".join(filter(None, [departure["difference"], departure["reason"]]))}
        stopped = policy["stopped"]
        if stopped is not None:
            stopped = {**stopped, **self._why(stopped, taken, problem)}
        return _text(
            {
                "policy": policy,
                "departure": departure,
                "stopped": stopped,
                "problem": problem if problem is not None and not taken else None,
            }
        )

    def _why(self, stopped: Mapping[str, Any], steps: list[dict[str, Any]], problem: Any) -> dict[str, Any]:
        """``{"words", "line"}``: why the replay ended early."""
        if stopped["reason"] == "no_answer":
            if steps and "raised" in steps[-1]:
                _, message, cause, line, _ = failure(self._exercise, steps[-1]["raised"])
                return {"words": printable(f"{message} {cause}".strip()), "line": line}
            if problem is not None:
                return {"words": f"{problem['message']} {problem['cause']}".strip(), "line": problem["line"]}
            words = (
                f"So long a replay is more than this page takes from your code: {MOST_STEPS:,} iterations, or 16 MB."
            )
            return {"words": words, "line": None}
        text = printable(stopped["text"])
        return {"words": text[0].upper() + text[1:] + ".", "line": None}

    def _known(self, exercise: str) -> Exercise:
        found = self._exercises.get(exercise)
        if found is None:
            raise LookupError(f"There is no exercise {exercise!r}.")
        return found


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


DEEP = "deep"
"""What the page says when an interpreter did not survive compiling: a browser's stack is smaller than Python thinks."""


def _reply(text: str) -> Reply:
    """The reply in ``{"answer": text}`` or ``{"ended", "detail"}``, which the page wrote."""
    told = json.loads(text)
    if told.get("ended") == DEEP:
        return too_deep()
    if told.get("ended") is not None:
        return Reply(ended=told["ended"], detail=told.get("detail"))
    return Reply(_hostile(told["answer"]))


def _hostile(text: str) -> Any:
    """The value of JSON text from a learner's interpreter; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        return None


def _steps(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The steps that were told, up to the first that is none."""
    steps: list[dict[str, Any]] = []
    for text in texts:
        step = _hostile(text)
        if not is_step(step):
            break
        steps.append(step)
    return steps


def _worn(reply: Reply) -> bool:
    answer, ended = reply.read()
    problems = [answer["problem"], *(step.get("raised") for step in answer["steps"])]
    return ended in LOST or any(problem is not None and problem["kind"] == "memory" for problem in problems)


def _requests(trace: Mapping[str, Any]) -> tuple[Request, ...]:
    keys = ("id", "arrival", "prompt_tokens", "output_tokens")
    return tuple(Request(**{key: entry[key] for key in keys}) for entry in trace["requests"])


def _plain(kind: str) -> str:
    """A program is not called, so nothing in it is a call that does not fit."""
    return "exception" if kind == "signature" else kind


def _line(source: str, number: int | None) -> str:
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[number - 1].strip()[:200] if number is not None and 1 <= number <= len(lines) else ""


def _printable(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**f, "function": printable(f["function"]), "code": printable(f["code"])} for f in frames]
