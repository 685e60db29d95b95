"""Where a learner's step departs from the engine, and what the engine's reason was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.grading.child.drive import State, Step, pages_for, tokens_text
from lab.records import Iteration
from lab.workload import Limits, Request


def right_result(record: Iteration, requests: Mapping[str, Request], limits: Limits) -> dict[str, Any]:
    """What a right step returns for the iteration that the engine's `record` tells of."""
    running = [
        {
            "id": name,
            "tokens": record.kv[name],
            "remaining": requests[name].prompt_tokens + requests[name].output_tokens - record.kv[name],
            "pages": len(table),
        }
        for name, table in record.pages.items()
        if name not in record.released
    ]
    waiting = [
        {
            "id": name,
            "prompt_tokens": requests[name].prompt_tokens,
            "output_tokens": requests[name].output_tokens,
        }
        for name in record.waiting
    ]
    held = sum(len(table) for name, table in record.pages.items() if name not in record.released)
    return {
        "running": running,
        "waiting": waiting,
        "completed": list(record.completed),
        "free_pages": limits.num_pages - held,
    }


def reason(step: Step, right: Mapping[str, Any], record: Iteration, limits: Limits) -> str:
    """Why the engine does otherwise than `step`: one sentence on the decision that differs first.

    `step` came back with a state, accepted or not; if with none, only the engine's side is told.
    """
    after = step.offered
    if after is None:
        return _what_the_engine_does(record)
    before = step.before
    for judge in (_admission, _growth, _completion, _pool):
        said = judge(before, after, right, record, limits)
        if said:
            return said
    return _what_the_engine_does(record)


def _admission(before: State, after: State, right: Mapping[str, Any], record: Iteration, limits: Limits) -> str:
    waited = {row["id"]: row for row in before.waiting}
    entered = [row["id"] for row in after.running if row["id"] in waited]
    entered += [name for name in after.completed if name in waited]
    place = {name: i for i, name in enumerate(waited)}
    size = limits.page_size
    for name in entered:
        if name in record.admitted:
            continue
        longer = [other for other in waited if other not in entered and place[other] < place[name]]
        if longer:
            return f"{name} overtook {longer[0]}: the first that does not fit ends admission."
        if record.gate == "seats":
            done = f"; {_names(record.completed)} only leaves at the end" if record.completed else ""
            return f"{name} has to wait: all {limits.max_num_seqs} seats are taken in this iteration{done}."
        need = pages_for(waited[name]["prompt_tokens"] + 1, size)
        free = limits.num_pages - record.pages_used
        return f"{name} has to wait: its prompt and first token need {need} pages, and {free} are free."
    for name in record.admitted:
        if name not in entered:
            pages = pages_for(waited[name]["prompt_tokens"] + 1, size)
            return f"The engine admits {name}: a seat is free, and so are {pages} pages for its prompt and first token."
    order = [name for name in entered if name in [row["id"] for row in after.running]]
    expected = [row["id"] for row in right["running"] if row["id"] in entered]
    if order != expected:
        return "Requests join the running ones in the order in which they waited."
    return ""


def _growth(before: State, after: State, right: Mapping[str, Any], record: Iteration, limits: Limits) -> str:
    rows = {row["id"]: row for row in after.running}
    for row in right["running"]:
        name = row["id"]
        mine = rows.get(name)
        if mine is None or mine == row:
            continue
        if name in record.admitted and (mine["tokens"], mine["remaining"]) != (row["tokens"], row["remaining"]):
            return f"{name} emits its first token as it is admitted, and no second one in the same iteration."
        if mine["tokens"] != row["tokens"]:
            return f"{name} decodes one token: it then stores {row['tokens']}."
        if mine["remaining"] != row["remaining"]:
            return f"{name} decodes one token, with {tokens_text(row['remaining'])} still to come."
        if mine["pages"] != row["pages"]:
            return f"{name} stores {row['tokens']} tokens, and they need {row['pages']} pages of {limits.page_size}."
    return ""


def _completion(before: State, after: State, right: Mapping[str, Any], record: Iteration, limits: Limits) -> str:
    for name in right["completed"]:
        if name not in after.completed:
            return f"{name} has all its tokens after this iteration, so it completes in it."
    for row in right["running"]:
        if row["id"] in after.completed:
            return f"{row['id']} goes on, with {tokens_text(row['remaining'])} still to come."
    for mine, theirs, said in (
        (
            after.completed,
            right["completed"],
            "Requests that complete together are listed in the order in which they run.",
        ),
        (_ids(after.waiting), _ids(right["waiting"]), "Those who go on waiting keep their order."),
        (_ids(after.running), _ids(right["running"]), "Running requests keep the order in which they were admitted."),
    ):
        if mine != theirs and sorted(mine) == sorted(theirs):
            return said
    return ""


def _ids(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def _pool(before: State, after: State, right: Mapping[str, Any], record: Iteration, limits: Limits) -> str:
    held = limits.num_pages - right["free_pages"]
    if after.free_pages == right["free_pages"]:
        return ""
    return (
        f"Of {limits.num_pages} pages, {held} are held by the requests that go on running, which leaves "
        f"{right['free_pages']} free."
    )


def _what_the_engine_does(record: Iteration) -> str:
    parts = [f"{_names(record.running)} run" + ("s" if len(record.running) == 1 else "")]
    if record.admitted:
        parts.append(f"{_names(record.admitted)} admitted")
    if record.completed:
        parts.append(f"{_names(record.completed)} completed")
    return "In the engine: " + ", ".join(parts) + "."


def _names(names: Any) -> str:
    return ", ".join(names)
