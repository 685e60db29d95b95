"""A scheduler step drives a replay: the loop around the learner's function.

The loop knows the trace and what a step may hand back; it knows no right answer. It runs twice: in the learner's
interpreter, where each call is a call of the learner's function, and in the parent, where each call is read from
what came back, so that the parent believes nothing that it has not checked itself.

A plan is plain data:

``{"requests": [{"id", "arrival", "prompt_tokens", "output_tokens"}, ...], "num_pages", "max_num_seqs", "page_size"}``

with the requests in order of arrival, each of them servable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .pristine import BUILTINS
from .wire import MAX_SAFE, NotPlain, Wire, decode

globals()["__builtins__"] = BUILTINS

Plan = dict[str, Any]
Row = dict[str, Any]

RUNNING_KEYS = ("id", "tokens", "remaining", "pages")
WAITING_KEYS = ("id", "prompt_tokens", "output_tokens")
RETURNED_KEYS = ("running", "waiting", "completed", "free_pages")


class State:
    """What a step is given, or hands back. `completed` is empty in what it is given."""

    __slots__ = ("completed", "free_pages", "running", "waiting")

    def __init__(self, running: list[Row], waiting: list[Row], completed: list[str], free_pages: int) -> None:
        self.running = running
        self.waiting = waiting
        self.completed = completed
        self.free_pages = free_pages


class Step:
    """One turn of the loop.

    An idle span has `idle` = (first, last). A busy iteration has its number, who arrived, and the state before;
    then either the state `after` it, or `stopped`, ``{"reason", "text"}``, with which the replay ends (`text`: one
    sentence without its full stop). `offered` is the state that came back, accepted or not.

    dry:       growth needs more pages than are free; the step was not called
    no_answer: the step was called and nothing came back
    not_usable: what came back cannot be gone on with
    """

    __slots__ = ("after", "arrived", "before", "idle", "iteration", "offered", "returned", "stopped")

    def __init__(self, iteration: int, arrived: list[str], before: State) -> None:
        self.iteration = iteration
        self.arrived = arrived
        self.before = before
        self.after: State | None = None
        self.offered: State | None = None
        self.returned: Wire | None = None
        self.stopped: dict[str, str] | None = None
        self.idle: tuple[int, int] | None = None


Call = Callable[[list[Any]], Wire | None]


def drive(plan: Plan, call: Call) -> Iterator[Step]:
    """Replay `plan`, asking `call(arguments)` for each busy iteration; it gives the wire form of what came back.

    Ends when every request has completed, or with a step that is `stopped`.
    """
    coming = list(plan["requests"])
    next_one = 0
    state = State([], [], [], plan["num_pages"])
    t = 0
    while next_one < len(coming) or state.waiting or state.running:
        t += 1
        if not state.waiting and not state.running and coming[next_one]["arrival"] >= t:
            span = Step(t, [], state)
            span.idle = (t, coming[next_one]["arrival"])
            yield span
            t = coming[next_one]["arrival"] + 1
        arrived = []
        waiting = list(state.waiting)
        while next_one < len(coming) and coming[next_one]["arrival"] < t:
            waiting.append({key: coming[next_one][key] for key in WAITING_KEYS})
            arrived.append(coming[next_one]["id"])
            next_one += 1
        step = Step(t, arrived, State(state.running, waiting, [], state.free_pages))
        _take(step, plan, call)
        yield step
        if step.after is None:
            return
        state = step.after


def _take(step: Step, plan: Plan, call: Call) -> None:
    """Ask for one iteration, and set `after` or `stopped`."""
    before = step.before
    size = plan["page_size"]
    needed = 0
    for request in before.running:
        needed += max(0, pages_for(request["tokens"] + 1, size) - request["pages"])
    if needed > before.free_pages:
        step.stopped = {
            "reason": "dry",
            "text": (
                f"the pool ran dry: the running requests need {_pages(needed)} more to decode, and "
                f"{before.free_pages} {'is' if before.free_pages == 1 else 'are'} free. "
                "A serving engine preempts here: it takes the newest request's pages and lets it start again later"
            ),
        }
        return
    arguments = [
        [dict(row) for row in before.running],
        [dict(row) for row in before.waiting],
        before.free_pages,
        plan["max_num_seqs"],
        size,
    ]
    step.returned = call(arguments)
    if step.returned is None:
        step.stopped = {"reason": "no_answer", "text": "your step did not come back with a result"}
        return
    try:
        step.offered = _state_of(step.returned)
        _accept(before, step.offered, plan)
    except Refused as refusal:
        step.stopped = {"reason": "not_usable", "text": refusal.text}
        return
    step.after = step.offered


def pages_for(tokens: int, page_size: int) -> int:
    """ceil(tokens / page_size), as in `lab.paging`, which the learner's interpreter does not have."""
    return -(-tokens // page_size)


class Refused(Exception):
    """What came back cannot be gone on with; `text` says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _state_of(returned: Wire) -> State:
    """`returned` if it has the documented shape."""
    try:
        value = decode(returned)
    except NotPlain:
        raise Refused("your step returned something that is not plain dicts, lists, text and ints") from None
    if type(value) is not dict:
        raise Refused(f"your step returned {_a(value)} instead of a dict")
    _check_keys(value, RETURNED_KEYS, "the result")
    for name in ("running", "waiting", "completed"):
        if type(value[name]) is tuple:
            value[name] = list(value[name])
        if type(value[name]) is not list:
            raise Refused(f"{name} is {_a(value[name])} instead of a list")
    for name, keys in (("running", RUNNING_KEYS), ("waiting", WAITING_KEYS)):
        for i, row in enumerate(value[name]):
            place = f"{name}[{i}]"
            if type(row) is not dict:
                raise Refused(f"{place} is {_a(row)} instead of a dict")
            _check_keys(row, keys, place)
            if type(row["id"]) is not str:
                raise Refused(f"{place}['id'] is {_a(row['id'])} instead of text")
            for key in keys[1:]:
                _check_count(row[key], f"{place}['{key}']")
    for i, name in enumerate(value["completed"]):
        if type(name) is not str:
            raise Refused(f"completed[{i}] is {_a(name)} instead of an id")
    _check_count(value["free_pages"], "free_pages")
    return State(value["running"], value["waiting"], value["completed"], value["free_pages"])


def _check_keys(row: dict[Any, Any], keys: tuple[str, ...], place: str) -> None:
    for key in keys:
        if key not in row:
            raise Refused(f"{place} has no {key!r}")
    for key in row:
        if key not in keys:
            raise Refused(f"{place} has a key that nobody asked for: {_short(key)}")


def _check_count(value: object, place: str) -> None:
    if type(value) is not int:
        raise Refused(f"{place} is {_a(value)} instead of an int")
    if value < 0:
        raise Refused(f"{place} is {_short(value)}, and nothing here can be below 0")
    if value > MAX_SAFE:
        raise Refused(f"{place} is {_short(value)}, far beyond anything in this replay")


def _a(value: object) -> str:
    names = {"NoneType": "None", "int": "an int", "str": "text"}
    name = type(value).__name__
    return names.get(name, f"a {name}")


def _short(value: object) -> str:
    if type(value) is int and value.bit_length() > 64:
        return "a huge int"
    return repr(value)[:60]


def tokens_text(count: int) -> str:
    """``1 token``, ``2 tokens``."""
    return "1 token" if count == 1 else f"{count} tokens"


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _accept(before: State, after: State, plan: Plan) -> None:
    """Refuse what no engine could go on from. A wrong decision is not refused: the replay shows it."""
    ran = {row["id"]: row for row in before.running}
    waited = {row["id"]: row for row in before.waiting}
    _account_for_everybody(ran, waited, after)
    seats = plan["max_num_seqs"]
    members = len(after.running) + len(after.completed)
    if members > seats:
        hint = ""
        if after.completed:
            hint = f" ({_list(after.completed)} finished now, and a seat is free only for the next iteration)"
        raise Refused(f"{members} requests ran on {seats} seat{'s' if seats != 1 else ''}{hint}")
    size = plan["page_size"]
    held = 0
    moved = bool(after.completed)
    for row in after.running:
        name = row["id"]
        held += row["pages"]
        if row["tokens"] > row["pages"] * size:
            raise Refused(
                f"request {name} stores {row['tokens']} tokens in {_pages(row['pages'])} of {size}: "
                f"there is no room for {row['tokens'] - row['pages'] * size} of them"
            )
        left = ran[name]["remaining"] if name in ran else waited[name]["output_tokens"]
        if row["remaining"] not in (left, left - 1):
            raise Refused(
                f"request {name} had {left} tokens to come and now has {row['remaining']}: "
                "one token a request is all that an iteration gives"
            )
        moved = moved or name in waited or row["remaining"] != left
    for name in after.completed:
        left = ran[name]["remaining"] if name in ran else waited[name]["output_tokens"]
        if left > 1:
            raise Refused(f"request {name} is completed with {tokens_text(left - 1)} still to come")
        held += held_when_done(ran, waited, name, size)
    if held > plan["num_pages"]:
        raise Refused(f"the requests that ran hold {_pages(held)}, and the pool has {plan['num_pages']}")
    if after.free_pages > plan["num_pages"]:
        raise Refused(f"free_pages is {_short(after.free_pages)}, and the pool has {plan['num_pages']}")
    if not moved:
        raise Refused("nothing ran: nobody decoded, was admitted or completed, so this would go on for ever")


def held_when_done(ran: dict[str, Row], waited: dict[str, Row], name: str, page_size: int) -> int:
    """Pages that a request held while it ran for the last time; the step's result no longer lists it."""
    if name in waited:
        return pages_for(waited[name]["prompt_tokens"] + 1, page_size)
    row = ran[name]
    decoded = 1 if row["remaining"] > 0 else 0
    return max(int(row["pages"]), pages_for(row["tokens"] + decoded, page_size))


def _account_for_everybody(ran: dict[str, Row], waited: dict[str, Row], after: State) -> None:
    """Everybody who was there is in exactly one list, and those who wait are as they were."""
    seen: set[str] = set()
    for name in [row["id"] for row in after.running] + [row["id"] for row in after.waiting] + after.completed:
        if name not in ran and name not in waited:
            raise Refused(f"there is no request {_short(name)}")
        if name in seen:
            raise Refused(f"request {name} is there twice")
        seen.add(name)
    for row in after.waiting:
        name = row["id"]
        if name in ran:
            raise Refused(f"request {name} was running and waits again: preemption is no part of this exercise")
        if row != waited[name]:
            raise Refused(f"request {name} waits with other numbers than it came with")
    lost = [name for name in [*ran, *waited] if name not in seen]
    if lost:
        who = f"request{'' if len(lost) == 1 else 's'} {_list(lost)}"
        raise Refused(f"{who} left no trace: neither running, waiting nor completed")


def _list(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} others"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
