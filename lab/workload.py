"""What the engine is given: requests, the engine's limits and options, and a trace that holds all three."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from lab.errors import InputError
from lab.options import PLAIN, Options
from lab.values import check_choice, check_flag, check_integer, check_text, check_time, shown

TIME_UNITS = ("iteration", "ms", "s")


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Raises InputError, naming the field, if a value is not as said here.

    id:            text, not empty
    arrival:       in the trace's time unit: iterations (an integer >= 0), or ms or s (a finite number >= 0)
    prompt_tokens, output_tokens: integers >= 1

    The engine uses these only with the option that is named:
    client:              text: who sent it; `admission`
    cancel_after_tokens: integer >= 1: the client leaves after so many tokens; `cancellation`
    cancel_at:           in the trace's time unit, not before `arrival`: it leaves then; `cancellation`
    samples:             integer >= 1: completions asked for; `fork_samples`
    prefix:              hash ids (text, or integers >= 0) of the prompt's leading pages; `prefix_caching`
    """

    id: str
    arrival: int | float
    prompt_tokens: int
    output_tokens: int
    client: str | None = None
    cancel_after_tokens: int | None = None
    cancel_at: int | float | None = None
    samples: int | None = None
    prefix: tuple[str | int, ...] | None = None

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_time(self.arrival, "arrival")
        check_integer(self.prompt_tokens, "prompt_tokens", 1)
        check_integer(self.output_tokens, "output_tokens", 1)
        if self.client is not None:
            check_text(self.client, "client")
        if self.cancel_after_tokens is not None:
            check_integer(self.cancel_after_tokens, "cancel_after_tokens", 1)
        if self.cancel_at is not None:
            _check_end(self.cancel_at, self.arrival)
        if self.samples is not None:
            check_integer(self.samples, "samples", 1)
        if self.prefix is not None:
            object.__setattr__(self, "prefix", _checked_prefix(self.prefix))


def _check_end(cancel_at: object, arrival: int | float) -> None:
    if check_time(cancel_at, "cancel_at") < arrival:
        raise InputError(
            f"must not be before the arrival ({arrival}), or the request would never be there, not "
            f"{shown(cancel_at)}; write {arrival} or more",
            field="cancel_at",
        )


def _checked_prefix(value: object) -> tuple[str | int, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"must be a list of page-hash ids, not {shown(value)}; write [...]", field="prefix")
    for i, entry in enumerate(value):
        if type(entry) is str:
            check_text(entry, f"prefix[{i}]")
        else:
            check_integer(entry, f"prefix[{i}]", 0)
    return tuple(value)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the engine may use. Raises InputError, naming the field, if a value is not as said here.

    max_num_seqs: seats, an integer >= 1
    num_pages:    KV pages in the pool, an integer >= 1
    page_size:    tokens a page, an integer >= 1
    max_num_batched_tokens: tokens an iteration (prefill tokens, and one per decode),
                  an integer >= max_num_seqs, or None for no budget
    chunked_prefill: whether a prompt may be prefilled over several iterations
    """

    max_num_seqs: int
    num_pages: int
    page_size: int
    max_num_batched_tokens: int | None = None
    chunked_prefill: bool = False

    def __post_init__(self) -> None:
        check_integer(self.max_num_seqs, "max_num_seqs", 1)
        check_integer(self.num_pages, "num_pages", 1)
        check_integer(self.page_size, "page_size", 1)
        check_flag(self.chunked_prefill, "chunked_prefill")
        budget = self.max_num_batched_tokens
        if budget is None:
            return
        check_integer(budget, "max_num_batched_tokens", 1)
        if budget < self.max_num_seqs:
            raise InputError(
                f"must be at least max_num_seqs ({self.max_num_seqs}), one token a seat, not {budget}; "
                f"write {self.max_num_seqs} or more, or lower max_num_seqs",
                field="max_num_batched_tokens",
            )


@dataclass(frozen=True, slots=True)
class Trace:
    """A named list of requests, and the limits and options to replay it under.

    Raises InputError, naming place and field, for ids that repeat, times that do not fit the time unit, and options
    that do not go together with the limits.
    """

    name: str
    limits: Limits
    requests: tuple[Request, ...]
    title: str | None = None
    source: str | None = None
    license: str | None = None
    time_unit: str = "iteration"
    options: Options = PLAIN

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        for field in ("title", "source", "license"):
            value = getattr(self, field)
            if value is not None:
                check_text(value, field, empty=True)
        check_choice(self.time_unit, "time_unit", TIME_UNITS)
        if not isinstance(self.limits, Limits):
            raise InputError("must be Limits; build one first", field="limits")
        if not isinstance(self.options, Options):
            raise InputError("must be Options; build one first", field="options")
        try:
            self.options.check_with(self.limits)
        except InputError as error:
            raise error.at(place="options") from None
        object.__setattr__(self, "requests", tuple(self.requests))
        check_requests(self.requests, self.time_unit)


def place_of(index: int, request_id: object = None) -> str:
    """How errors name a request: ``requests[3] (id "d")``."""
    return f"requests[{index}]" + (f" (id {shown(request_id)})" if type(request_id) is str else "")


def check_requests(requests: Iterable[Request], time_unit: str = "iteration") -> None:
    """Raise InputError if an id repeats, or a time in iterations is no integer."""
    requests = list(requests)
    with suppress(AttributeError, TypeError):  # what is no request may have no id, or any
        if _sound(requests, time_unit):
            return
    seen: dict[str, int] = {}
    for i, request in enumerate(requests):
        if not isinstance(request, Request):
            raise InputError(f"must be a Request, not {shown(request)}; build one first", place=place_of(i))
        first = seen.setdefault(request.id, i)
        if first != i:
            raise InputError(
                f"repeats the id of requests[{first}]; give each request an id of its own",
                field="id",
                place=place_of(i, request.id),
            )
        if time_unit == "iteration":
            try:
                check_iterations(request.arrival, request.cancel_at)
            except InputError as error:
                raise error.at(place=place_of(i, request.id)) from None


def _sound(requests: list[Request], time_unit: str) -> bool:
    """Whether all is well, which is quick to say of a million; if it is not, or may not be, who is wrong is asked."""
    if len({request.id for request in requests}) < len(requests):
        return False
    kinds = {(type(request), type(request.arrival), type(request.cancel_at)) for request in requests}
    return kinds <= _WHOLE if time_unit == "iteration" else {kind for kind, _, _ in kinds} <= {Request}


_WHOLE = {(Request, int, type(None)), (Request, int, int)}


def check_iterations(arrival: object, cancel_at: object = None) -> None:
    """Raise InputError if `arrival`, or `cancel_at` where there is one, is no whole number of iterations."""
    check_integer(arrival, "arrival", 0)
    if cancel_at is not None:
        check_integer(cancel_at, "cancel_at", 0)
