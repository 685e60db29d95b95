"""Exercises: folders with a statement, starter, reference, saved checks and known mistakes.

``<id>/exercise.json``, ``starter.py``, ``reference.py``, ``checks.json`` (visible checks), ``hidden.json`` (hidden
ones; a built site does not have it), ``wrong/*.py`` with ``wrong/expected.json``. Their JSON Schemas lie beside the
exercises. Everything is checked as it is read; whether the solutions behave as they should is for the tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from lab.errors import InputError
from lab.exercise_values import Fields, exact, plain_value
from lab.formats.json_text import parse_json
from lab.metrics import Tally
from lab.values import check_choice, check_flag, check_integer, check_text, shown
from lab.workload import Limits, Request, check_requests

SCHEMA_VERSION = 1
VISIBLE, HIDDEN = "visible", "hidden"
KINDS = ("function", "class")


@dataclass(frozen=True, slots=True)
class Field:
    """One input, or one part of what is returned: its name, its type in words, and what it is."""

    name: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A call and what it returns, with a sentence on why."""

    arguments: tuple[Any, ...]
    expected: Any
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a check. `method` is that of an object; `raises` the exception expected instead of a value."""

    arguments: tuple[Any, ...]
    expected: Any
    method: str | None = None
    raises: str | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """If the value at the place `at` in what was returned is `value`, then `because` is the likely cause."""

    at: tuple[str | int, ...]
    value: Any
    because: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A workload that the learner's function drives: `count` requests from `seed`, or requests and limits.

    expected: metrics and their values (``utilization_percent`` is rounded), or None for the engine's every step
    """

    seed: int | None
    count: int
    requests: tuple[Request, ...]
    limits: Limits | None
    expected: tuple[tuple[str, int], ...] | None


@dataclass(frozen=True, slots=True)
class Check:
    """One saved check: `calls` (of an object made by `construct`, if that is given), or a `replay`.

    unchanged: the arguments have to be as they were after each call
    """

    name: str
    visibility: str
    points: int
    hint: str
    calls: tuple[Call, ...] = ()
    construct: tuple[Any, ...] | None = None
    replay: Replay | None = None
    unchanged: bool = False
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """A solution with a mistake that people make.

    mistake:   what is wrong, in one sentence
    caught_by: names of checks that it has to fail
    says:      words that the feedback of the first of these must have
    """

    file: str
    code: str
    mistake: str
    caught_by: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """Everything about one exercise.

    kind:           ``function`` or ``class``: what `name` has to be
    statement:      paragraphs
    hints:          to be opened one by one
    approach:       one line above the reference solution
    visible_points, hidden_points, hidden_count: as announced, also where the hidden checks are not at hand
    tuples:         whether a tuple passes for a list
    hidden:         empty where `hidden.json` is not at hand
    reference:      None where `reference.py` is not at hand
    """

    id: str
    title: str
    name: str
    kind: str
    statement: tuple[str, ...]
    signature: str
    inputs: tuple[Field, ...]
    returns: tuple[Field, ...]
    rule: str
    example: Example
    hints: tuple[str, ...]
    approach: str
    visible_points: int
    hidden_points: int
    hidden_count: int
    tuples: bool
    starter: str
    reference: str | None
    visible: tuple[Check, ...]
    hidden: tuple[Check, ...]
    wrong: tuple[Wrong, ...]
    visible_sha256: str
    all_sha256: str

    def checks(self, *, hidden: bool) -> tuple[Check, ...]:
        """The visible checks, and the hidden ones after them if asked for."""
        return self.visible + self.hidden if hidden else self.visible

    def checks_sha256(self, *, hidden: bool) -> str:
        """SHA-256, in hex, of these checks: of their content, whatever the spacing of their files."""
        return self.all_sha256 if hidden else self.visible_sha256


def shipped() -> Traversable:
    """The folder with the exercises that come with the lab."""
    return files("checks")


def load_all(folder: Traversable | None = None) -> dict[str, Exercise]:
    """Every exercise in `folder` (the shipped ones, if None), by id, in order of id.

    Raises InputError for the first file, place or field that is not as it should be.
    """
    root = shipped() if folder is None else folder
    found = [entry for entry in root.iterdir() if entry.is_dir() and entry.joinpath("exercise.json").is_file()]
    return {entry.name: load(entry) for entry in sorted(found, key=lambda entry: entry.name)}


def load(folder: Traversable) -> Exercise:
    """The exercise in `folder`, whose name is its id. Raises InputError, naming file, place and field."""
    exercise_id = folder.name
    document = _read(folder, "exercise.json", lambda value: _document(value))
    visible_value, visible = _read(folder, "checks.json", lambda value: _checks(value, exercise_id, VISIBLE))
    hidden_value: Any = None
    hidden: tuple[Check, ...] = ()
    if folder.joinpath("hidden.json").is_file():
        hidden_value, hidden = _read(folder, "hidden.json", lambda value: _checks(value, exercise_id, HIDDEN))
    exercise = Exercise(
        id=exercise_id,
        **document,
        starter=_text(folder, "starter.py"),
        reference=_text(folder, "reference.py") if folder.joinpath("reference.py").is_file() else None,
        visible=visible,
        hidden=hidden,
        wrong=_wrong(folder, {check.name for check in visible + hidden}, bool(hidden)),
        visible_sha256=_sha256(visible_value),
        all_sha256=_sha256([visible_value, hidden_value]),
    )
    _agree(exercise, f"{exercise_id}/exercise.json")
    return exercise


def more_hidden(exercise: Exercise, data: bytes, source: str) -> Exercise:
    """`exercise` with further hidden checks: those in `data`, in the form of a hidden.json. Raises InputError."""
    try:
        value, more = _checks(parse_json(data, source), exercise.id, HIDDEN)
        taken = {check.name for check in exercise.checks(hidden=True)}
        for check in more:
            if check.name in taken:
                raise InputError(f"there is a check {shown(check.name)} already; give this one another name")
            taken.add(check.name)
    except InputError as error:
        raise error.at(source=source) from None
    return replace(
        exercise,
        hidden=exercise.hidden + more,
        hidden_points=exercise.hidden_points + sum(check.points for check in more),
        hidden_count=exercise.hidden_count + len(more),
        all_sha256=_sha256([exercise.all_sha256, value]),
    )


def _agree(exercise: Exercise, source: str) -> None:
    """Raise InputError if what `exercise.json` announces is not what the checks' files hold."""
    names: set[str] = set()
    for check in exercise.checks(hidden=True):
        if check.name in names:
            raise InputError(f"two checks are called {shown(check.name)}; give each a name of its own", source=source)
        names.add(check.name)
    totals = [("visible", exercise.visible_points, exercise.visible)]
    if exercise.hidden:
        totals.append(("hidden", exercise.hidden_points, exercise.hidden))
        if exercise.hidden_count != len(exercise.hidden):
            raise InputError(
                f"must be {len(exercise.hidden)}, as many as there are in hidden.json, "
                f"not {exercise.hidden_count}; correct it",
                field="hidden_checks",
                source=source,
            )
    for field, announced, checks in totals:
        total = sum(check.points for check in checks)
        if total != announced:
            raise InputError(
                f"must be {total}, the sum of the checks' points, not {announced}; correct it",
                field=field,
                place="points",
                source=source,
            )


def _read(folder: Traversable, name: str, build: Callable[[Any], Any]) -> Any:
    source = f"{folder.name}/{name}"
    try:
        value = parse_json(_bytes(folder, name), source)
        return build(value)
    except InputError as error:
        raise error.at(source=source) from None


def _bytes(folder: Traversable, name: str) -> bytes:
    try:
        return folder.joinpath(name).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read ({reason}); add the file", source=f"{folder.name}/{name}") from None


def _text(folder: Traversable, name: str) -> str:
    try:
        return _bytes(folder, name).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; save it as UTF-8", source=f"{folder.name}/{name}") from None


def _sha256(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _document(value: Any) -> dict[str, Any]:
    top = Fields(value, "the file")
    _version(top)
    entry = top.object("entry")
    points = top.object("points")
    example = top.object("example")
    name, approach = entry.text("name"), top.text("approach")
    if not (name.isidentifier() and name.isascii()):
        raise InputError(f"must be a name in Python, not {shown(name)}; write one", field="name", place="entry")
    if "\n" in approach:
        raise InputError("must be one line; take the line break out", field="approach")
    document = {
        "title": top.text("title"),
        "name": name,
        "kind": check_choice(entry.take("kind"), "kind", KINDS),
        "statement": top.texts("statement"),
        "signature": top.text("signature"),
        "inputs": tuple(_field(row) for row in top.objects("inputs")),
        "returns": tuple(_field(row) for row in top.objects("returns")),
        "rule": top.text("rule"),
        "example": Example(
            _arguments(example.take("arguments"), "example, arguments"),
            plain_value(example.take("expected"), "example, expected"),
            example.text("text"),
        ),
        "hints": top.texts("hints"),
        "approach": approach,
        "visible_points": check_integer(points.take("visible"), "visible", 1),
        "hidden_points": check_integer(points.take("hidden"), "hidden", 0),
        "hidden_count": check_integer(top.take("hidden_checks"), "hidden_checks", 0),
        "tuples": check_choice(top.take("tuples", "allowed"), "tuples", ("allowed", "refused")) == "allowed",
    }
    for fields in (top, entry, points, example):
        fields.finish()
    return document


def _field(row: Fields) -> Field:
    field = Field(row.text("name"), row.text("type"), row.text("text"))
    row.finish()
    return field


def _version(top: Fields) -> None:
    version = top.take("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise InputError(
            f"must be {SCHEMA_VERSION}, not {shown(version)}; this lab reads {SCHEMA_VERSION}", field="schema_version"
        )


def _checks(value: Any, exercise_id: str, visibility: str) -> tuple[Any, tuple[Check, ...]]:
    top = Fields(value, "the file")
    _version(top)
    if top.take("exercise") != exercise_id:
        raise InputError(f"must be {shown(exercise_id)}, the name of the folder; correct it", field="exercise")
    checks = tuple(_check(row, visibility) for row in top.objects("checks"))
    top.finish()
    return exact(value), checks


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


def _wrong(folder: Traversable, names: set[str], have_hidden: bool) -> tuple[Wrong, ...]:
    wrong_folder = folder.joinpath("wrong")
    if not wrong_folder.is_dir():
        return ()
    source = f"{folder.name}/wrong/expected.json"
    try:
        top = Fields(parse_json(_bytes(folder, "wrong/expected.json"), source), "the file")
        _version(top)
        rows = top.object("wrong")
        there = sorted(entry.name for entry in wrong_folder.iterdir() if entry.name.endswith(".py"))
        found = []
        for name in there:
            row = rows.object(name)
            caught_by = row.texts("caught_by")
            for check in caught_by:
                if have_hidden and check not in names:
                    raise InputError(f"there is no check {shown(check)}; correct the name", place=row.place)
            wrong = Wrong(name, _text(wrong_folder, name), row.text("mistake"), caught_by, row.text("says"))
            row.finish()
            found.append(wrong)
        rows.finish()
        top.finish()
    except InputError as error:
        raise error.at(source=source) from None
    return tuple(found)
