"""Requests that could never be served are turned away before the replay."""

from __future__ import annotations

from collections.abc import Sequence

from lab.errors import InputError
from lab.options import PLAIN, Options
from lab.paging import pages_for
from lab.policies import policy_named
from lab.records import Rejected
from lab.workload import Limits, Request, place_of


def screen(
    requests: Sequence[Request], limits: Limits, policy: str, options: Options = PLAIN
) -> tuple[list[Request], list[Rejected]]:
    """Part `requests` into those that can be served and those that never could, both in file order.

    Rejected for `pages`: pages_for(prompt + output) > num_pages. Rejected for `tokens`: prompt + output - 1,
    the longest prefill that it could need after a preemption, exceeds the budget, and prefill is not chunked.
    With slabs, for `length`: prompt + output > slab_tokens, or for `pages`: a slab is larger than the pool.
    With forks, for `seats`: samples > max_num_seqs, or for `pages`: the prompt with a page for each sample.
    The first reason in this order is told.
    """
    budget = policy_named(policy).budget(limits)
    longest_prefill = None if limits.chunked_prefill else budget
    most = limits.num_pages * limits.page_size  # what takes more tokens takes more pages
    plain = options.allocation != "slab" and not options.fork_samples
    servable: list[Request] = []
    rejected: list[Rejected] = []
    for request in requests:
        tokens = request.prompt_tokens + request.output_tokens
        if tokens > most:
            rejected.append(Rejected(request.id, "pages"))
        elif longest_prefill is not None and tokens - 1 > longest_prefill:
            rejected.append(Rejected(request.id, "tokens"))
        elif plain:
            servable.append(request)
        else:
            reason = _slab(request, limits, options) or _forks(request, limits, options)
            if reason is None:
                servable.append(request)
            else:
                rejected.append(Rejected(request.id, reason))
    return servable, rejected


def _slab(request: Request, limits: Limits, options: Options) -> str | None:
    if options.allocation != "slab" or options.slab_tokens is None:
        return None
    if request.prompt_tokens + request.output_tokens > options.slab_tokens:
        return "length"
    return "pages" if pages_for(options.slab_tokens, limits.page_size) > limits.num_pages else None


def _forks(request: Request, limits: Limits, options: Options) -> str | None:
    samples = samples_of(request, options)
    if samples > limits.max_num_seqs:
        return "seats"
    pages = pages_for(request.prompt_tokens + 1, limits.page_size) + samples - 1
    return "pages" if pages > limits.num_pages else None


def samples_of(request: Request, options: Options) -> int:
    """How many sequences `request` becomes."""
    return (request.samples or 1) if options.fork_samples else 1


def sequence_name(request_id: str, sample: int) -> str:
    """What the sequence `sample`, from 0, of a request is called: ``id``, ``id#2``, …"""
    return request_id if sample == 0 else f"{request_id}#{sample + 1}"


def check_sequence_names(requests: Sequence[Request], options: Options) -> None:
    """Raise InputError if a request's id is the name of another one's forked sequence."""
    if not options.fork_samples:
        return
    samples = {request.id: samples_of(request, options) for request in requests}
    for i, request in enumerate(requests):
        parent, mark, number = request.id.rpartition("#")
        if not mark or parent not in samples or not (number.isascii() and number.isdigit() and len(number) < 20):
            continue
        if 2 <= int(number) <= samples[parent] and str(int(number)) == number:
            raise InputError(
                f"is what a forked sequence of {parent} is called; give one of the two another id",
                field="id",
                place=place_of(i, request.id),
            )
