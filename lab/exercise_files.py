"""Reads the values of an exercise's files. Each reader hands what is wrong to `refuse`, and then looks at the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lab.errors import InputError
from lab.exercise_parts import Call, Cause, Check, Example, Field, Replay, Wrong
from lab.exercise_values import Fields, exact, plain_value
from lab.metrics import Tally
from lab.values import check_choice, check_flag, check_integer, check_text, shown
from lab.workload import Limits, Request, check_requests

SCHEMA_VERSION = 1
KINDS = ("function", "class")

Refuse = Callable[[InputError], None]
"""Told of each error; whoever wants the first only raises it."""


def read_document(value: Any, refuse: Refuse) -> dict[str, Any]:
    """exercise.json as keywords of `Exercise`, without what was refused. Raises InputError if it is no object."""
    top = Fields(value, "the file")
    found: dict[str, Any] = {}

    def take(key: str, read: Callable[[], Any]) -> None:
        try:
            found[key] = read()
        except InputError as error:
            refuse(error)

    take("schema_version", lambda: check_version(top))
    take("entry", lambda: _entry(top.object("entry")))
    take("points", lambda: _points(top.object("points")))
    take("title", lambda: top.text("title"))
    take("statement", lambda: top.texts("statement"))
    take("signature", lambda: top.text("signature"))
    for key in ("inputs", "returns"):
        take(key, lambda key=key: tuple(_field(row) for row in top.objects(key)))  # type: ignore[misc]
    take("rule", lambda: top.text("rule"))
    take("example", lambda: _example(top.object("example")))
    take("hints", lambda: top.texts("hints"))
    take("approach", lambda: _line(top.text("approach"), "approach"))
    take("hidden_count", lambda: check_integer(top.take("hidden_checks"), "hidden_checks", 0))
    tuples = ("allowed", "refused")
    take("tuples", lambda: check_choice(top.take("tuples", "allowed"), "tuples", tuples) == "allowed")
    take("known", top.finish)
    for key in ("schema_version", "known"):
        found.pop(key, None)
    for key in ("entry", "points"):
        found |= found.pop(key, {})
    return found


def _entry(entry: Fields) -> dict[str, str]:
    name = entry.text("name")
    if not (name.isidentifier() and name.isascii()):
        raise InputError(f"must be a name in Python, not {shown(name)}; write one", field="name", place="entry")
    kind = check_choice(entry.take("kind"), "kind", KINDS)
    entry.finish()
    return {"name": name, "kind": kind}


def _points(points: Fields) -> dict[str, int]:
    try:
        visible = check_integer(points.take("visible"), "visible", 1)
        hidden = check_integer(points.take("hidden"), "hidden", 0)
    except InputError as error:
        raise error.at(place=points.place) from None
    points.finish()
    return {"visible_points": visible, "hidden_points": hidden}


def _example(example: Fields) -> Example:
    arguments = _arguments(example.take("arguments"), "example, arguments")
    expected = plain_value(example.take("expected"), "example, expected")
    text = example.text("text")
    example.finish()
    return Example(arguments, expected, text)


def _line(text: str, field: str) -> str:
    if "\n" in text:
        raise InputError("must be one line; take the line break out", field=field)
    return text


def _field(row: Fields) -> Field:
    field = Field(row.text("name"), row.text("type"), row.text("text"))
    row.finish()
    return field


def check_version(top: Fields) -> None:
    """Raise InputError unless the file's version is the one that this lab reads."""
    version = top.take("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise InputError(
            f"must be {SCHEMA_VERSION}, not {shown(version)}; this lab reads {SCHEMA_VERSION}", field="schema_version"
        )


def read_checks(value: Any, exercise_id: str, visibility: str, refuse: Refuse) -> tuple[Any, tuple[Check, ...]]:
    """The file's plain value, and its checks without those that were refused. Raises InputError if it is no object."""
    top = Fields(value, "the file")
    checks: list[Check] = []
    try:
        check_version(top)
        if top.take("exercise") != exercise_id:
            raise InputError(f"must be {shown(exercise_id)}, the name of the folder; correct it", field="exercise")
    except InputError as error:
        refuse(error)
    for row in top.objects("checks"):
        try:
            checks.append(_check(row, visibility))
        except InputError as error:
            refuse(error)
    try:
        top.finish()
    except InputError as error:
        refuse(error)
    return exact(value), tuple(checks)


def _check(row: Fields, visibility: str) -> Check:
    name = row.text("name")
    row.rename(f"check {shown(name)}")
    try:
        return _named_check(row, name, visibility)
    except InputError as error:
        raise error.at(place=row.place) from None


def _named_check(row: Fields, name: str, visibility: str) -> Check:
    if row.take("visibility") != visibility:
        raise InputError(
            f"must be {shown(visibility)} in this file; move the check or correct it",
            field="visibility",
        )
    forms = [key for key in ("arguments", "calls", "replay") if row.has(key)]
    if len(forms) != 1:
        raise InputError("must have one of arguments, calls and replay; keep one")
    calls: tuple[Call, ...] = ()
    construct = None
    replay = None
    if forms == ["arguments"]:
        calls = (_call(row, bare=False),)
    elif forms == ["calls"]:
        if row.has("construct"):
            construct = _arguments(row.take("construct"), f"{row.place}, construct")
        calls = tuple(_call(call, bare=True) for call in row.objects("calls"))
        if not calls:
            raise InputError("must not be empty; write a call", field="calls")
        if construct is None and any(call.method is not None for call in calls):
            raise InputError("calls a method, and there is no object; add construct", field="calls")
    else:
        replay = _replay(row)
    check = Check(
        name=name,
        visibility=visibility,
        points=check_integer(row.take("points"), "points", 0),
        hint=row.text("hint"),
        calls=calls,
        construct=construct,
        replay=replay,
        unchanged=check_flag(row.take("unchanged", False), "unchanged"),
        causes=tuple(_cause(cause) for cause in row.objects("causes", optional=True)),
    )
    row.finish()
    return check


def _call(row: Fields, *, bare: bool) -> Call:
    arguments = _arguments(row.take("arguments"), f"{row.place}, arguments")
    method = check_text(row.take("method"), "method") if bare and row.has("method") else None
    raises = None
    expected = None
    if bare and row.has("raises"):
        raises = check_text(row.take("raises"), "raises")
    else:
        expected = plain_value(row.take("expected"), f"{row.place}, expected")
    if bare:
        row.finish()
    return Call(arguments, expected, method, raises)


def _arguments(value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise InputError(f"must be a list, not {shown(value)}; write [...]", place=place)
    return tuple(plain_value(item, f"{place}[{i}]") for i, item in enumerate(value))


def _cause(row: Fields) -> Cause:
    at = row.take("at")
    if not isinstance(at, list) or any(type(step) not in (str, int) for step in at):
        raise InputError("must be a list of keys and indexes; write [...]", field="at", place=row.place)
    cause = Cause(tuple(at), plain_value(row.take("is"), f"{row.place}, is"), row.text("because"))
    row.finish()
    return cause


def _replay(row: Fields) -> Replay:
    spec = row.object("replay")
    expected = _metrics(row)
    if spec.has("seed"):
        seed = check_integer(spec.take("seed"), "seed", 0)
        count = check_integer(spec.take("requests"), "requests", 1)
        spec.finish()
        return Replay(seed, count, (), None, expected)
    try:
        limits_row = spec.object("limits")
        seats, pages, size = limits_row.counts("max_num_seqs", "num_pages", "page_size")
        limits = Limits(seats, pages, size)
        limits_row.finish()
        requests = []
        for entry in spec.objects("requests"):
            request_id = entry.text("id")
            arrival, prompt, output = entry.counts("arrival", "prompt_tokens", "output_tokens")
            requests.append(Request(request_id, arrival, prompt, output))
            entry.finish()
        check_requests(requests)
    except InputError as error:
        raise error.at(place=spec.place) from None
    spec.finish()
    return Replay(None, len(requests), tuple(requests), limits, expected)


_METRICS = frozenset(Tally((), Limits(1, 1, 1)).metrics()) | {"utilization_percent"}


def _metrics(row: Fields) -> tuple[tuple[str, int], ...] | None:
    value = row.take("expected")
    if value == "engine":
        return None
    expected = Fields(value, f"{row.place}, expected")
    named = {key: check_integer(expected.take(key), key, 0) for key in sorted(_METRICS) if expected.has(key)}
    expected.finish()
    if not named:
        raise InputError('must name metrics, or be "engine"; write one', field="expected", place=row.place)
    return tuple(named.items())


def read_wrong(value: Any, code: Mapping[str, str], names: set[str] | None, refuse: Refuse) -> tuple[Wrong, ...]:
    """The known mistakes that wrong/expected.json describes, without those that were refused.

    code:  file name → content of each .py file in wrong/
    names: of all checks; None if not all of them are at hand
    Raises InputError if the file is no object.
    """
    top = Fields(value, "the file")
    check_version(top)
    rows = top.object("wrong")
    found = []
    for name, text in code.items():
        try:
            row = rows.object(name)
            caught_by = row.texts("caught_by")
            for check in caught_by:
                if names is not None and check not in names:
                    raise InputError(f"there is no check {shown(check)}; correct the name", place=row.place)
            found.append(Wrong(name, text, row.text("mistake"), caught_by, row.text("says")))
            row.finish()
        except InputError as error:
            refuse(error)
    for fields in (rows, top):
        try:
            fields.finish()
        except InputError as error:
            refuse(error)
    return tuple(found)
