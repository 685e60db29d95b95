"""The workloads that are measured. Each is made from its name and a number of requests, and nothing else.

Arrivals are in iterations. Lengths and arrivals are drawn from `SEED`: a workload is the same in every Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.bench.lengths import CHAT_OUTPUTS, CHAT_PROMPTS, poisson
from lab.formats.trace_json import in_iterations
from lab.randomness import Random
from lab.workload import Limits, Request, Trace

SEED = 2023
ARRIVALS, PROMPTS, OUTPUTS = range(3)
"""The streams of a seed."""

CONVERSATION_REQUESTS = 19_366
HOUR_MS = 3_600_000
ITERATION_MS = 20


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests, arrivals in iterations, and the limits that they are replayed under."""

    requests: tuple[Request, ...]
    limits: Limits

    @property
    def tokens(self) -> int:
        """Tokens that are decoded when every request is served."""
        return sum(request.output_tokens for request in self.requests)

    def sha256(self) -> str:
        """A fingerprint of all requests and limits."""
        lines = [f"{r.id} {r.arrival} {r.prompt_tokens} {r.output_tokens}\n" for r in self.requests]
        return hashlib.sha256("".join([*lines, repr(self.limits)]).encode()).hexdigest()


def made(name: str, n: int) -> Workload:
    """The workload `name` of `n` requests. Raises KeyError for a name that there is not."""
    return WORKLOADS[name](n)


def _requests(arrivals: Sequence[int], prompts: Sequence[int], outputs: Sequence[int]) -> tuple[Request, ...]:
    return tuple(Request(f"r{i}", *fields) for i, fields in enumerate(zip(arrivals, prompts, outputs, strict=True), 1))


def _between(stream: int, n: int, least: int, most: int) -> list[int]:
    """`n` whole numbers from `least` to `most`."""
    random = Random(SEED, stream)
    return [least + (random.bits() * (most - least + 1) >> 64) for _ in range(n)]


def conversation_trace(n: int = CONVERSATION_REQUESTS) -> Trace:
    """An hour of chat as it reaches one server: arrivals in ms."""
    prompts, outputs = Random(SEED, PROMPTS), Random(SEED, OUTPUTS)
    requests = _requests(
        poisson(Random(SEED, ARRIVALS), n, HOUR_MS),
        [CHAT_PROMPTS.draw(prompts) for _ in range(n)],
        [CHAT_OUTPUTS.draw(outputs) for _ in range(n)],
    )
    return Trace("conversation", Limits(256, 40_000, 16), requests, time_unit="ms")


def conversation(n: int) -> Workload:
    """`conversation_trace`, one iteration 20 ms."""
    trace = in_iterations(conversation_trace(n), ITERATION_MS)
    return Workload(trace.requests, trace.limits)


def roomy(n: int) -> Workload:
    """Long answers, 256 seats that are soon full, pages for all of them."""
    return Workload(_long_answers(n), Limits(256, 60_000, 16))


def starved(n: int) -> Workload:
    """The same requests with a seventh of the pages that they want: pages run out all the time."""
    return Workload(_long_answers(n), Limits(256, 3_600, 16))


def _long_answers(n: int) -> tuple[Request, ...]:
    return _requests([4 * i for i in range(n)], _between(PROMPTS, n, 50, 550), _between(OUTPUTS, n, 1000, 3000))


def steady(n: int) -> Workload:
    """Short requests, three an iteration, which 64 seats just keep up with: however many, the load stays the same."""
    return Workload(
        _requests([i // 3 for i in range(n)], _between(PROMPTS, n, 1, 64), _between(OUTPUTS, n, 1, 32)),
        Limits(64, 1024, 16),
    )


def at_once(n: int) -> Workload:
    """All arrive at the start: the longest queue there can be."""
    return Workload(_requests([0] * n, _between(PROMPTS, n, 1, 64), _between(OUTPUTS, n, 1, 32)), Limits(64, 1024, 16))


def long_queue(n: int) -> Workload:
    """Arrivals twice as fast as they can be served: the queue grows as long as they come."""
    return Workload(
        _requests([i // 6 for i in range(n)], _between(PROMPTS, n, 1, 64), _between(OUTPUTS, n, 1, 32)),
        Limits(64, 1024, 16),
    )


def backwards(n: int) -> Workload:
    """`steady`, the last to arrive first in the file."""
    workload = steady(n)
    return Workload(workload.requests[::-1], workload.limits)


def preempting(n: int) -> Workload:
    """512 seats over a pool that holds a quarter of what they grow to: victims return to the head of a long queue."""
    return Workload(
        _requests([i // 8 for i in range(n)], _between(PROMPTS, n, 1, 15), _between(OUTPUTS, n, 32, 96)),
        Limits(512, 1024, 8),
    )


def storm(n: int) -> Workload:
    """A seat for each request and one pool shared by all, full at the start: half of them are preempted, and again."""
    return Workload(_requests([0] * n, [15] * n, _between(OUTPUTS, n, 33, 48)), Limits(n, 2 * n, 16))


def long_pages(n: int) -> Workload:
    """Pages of 300 tokens, too few of them."""
    return Workload(
        _requests(range(n), _between(PROMPTS, n, 1, 256), _between(OUTPUTS, n, 150, 450)),
        Limits(256, 256, 300),
    )


def held(n: int) -> Workload:
    """One answer of n tokens among n - 1 of a single one: a static batch holds all their seats until it ends."""
    return Workload(_requests([0] * n, [8] * n, [*([1] * (n - 1)), n]), Limits(n, 2 * n, 16))


def chunked(n: int) -> Workload:
    """Long prompts in chunks under the smallest budget, a few decodes between them."""
    return Workload(
        _requests([0] * n, _between(PROMPTS, n, 1, 2000), _between(OUTPUTS, n, 1, 16)),
        Limits(64, 4096, 16, max_num_batched_tokens=64, chunked_prefill=True),
    )


def sparse(n: int) -> Workload:
    """One request every thousand iterations: nearly all of the time is idle."""
    return Workload(_requests([1000 * i for i in range(n)], [8] * n, [4] * n), Limits(4, 64, 16))


def refused(n: int) -> Workload:
    """Every other request is too large for the pool."""
    return Workload(
        _requests([i // 8 for i in range(n)], [8 if i % 2 else 4096 for i in range(n)], [8] * n), Limits(64, 128, 16)
    )


def vast(n: int) -> Workload:
    """Seats, pages and lengths by the milliard: none of them may cost memory or time."""
    return Workload(_requests([i * 10**9 for i in range(n)], [10**9] * n, [10**9] * n), Limits(10**9, 10**12, 16))


def endless(n: int) -> Workload:
    """64 answers of n tokens each: in closed form the time does not depend on n, in a loop it is all of it."""
    return Workload(_requests([0] * 64, [8] * 64, [n] * 64), Limits(64, 64 * (n // 16 + 2), 16))


WORKLOADS: dict[str, Callable[[int], Workload]] = {
    workload.__name__: workload
    for workload in (
        *(conversation, roomy, starved, steady, at_once, long_queue, backwards, preempting, storm, long_pages, held),
        *(chunked, sparse, refused, vast, endless),
    )
}
