"""What a Chrome trace marks and counts of one iteration, beyond the seats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.records import Iteration


def marks_of(record: Iteration) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(what happened, to whom, figures) for each thing that happened to a request in the iteration."""
    for name in record.preempted:
        yield "preempt", name, {}
    groups = record.options
    if groups is None:
        return
    if groups.swapping is not None:
        for name, pages in groups.swapping.swapped_out.items():
            yield "swap out", name, {"pages": pages}
        for name, pages in groups.swapping.swapped_in.items():
            yield "swap in", name, {"pages": pages}
    if groups.sharing is not None:
        for name, tokens in groups.sharing.cached.items():
            yield "cached", name, {"tokens": tokens}
        for name, children in groups.sharing.forked.items():
            yield "fork", name, {"sequences": list(children)}
    if groups.leaving is not None:
        for name in groups.leaving.left:
            yield "leave", name, {}
        for name in groups.leaving.cancelled:
            yield "cancel", name, {}
    if groups.queueing is not None:
        for name in groups.queueing.refused:
            yield "refuse", name, {}


def counts_of(record: Iteration) -> dict[str, int]:
    """Counters by name: pages, waiting, and those of the options that are on."""
    counts = {"pages": record.pages_used, "waiting": len(record.waiting)}
    groups = record.options
    if groups is None:
        return counts
    if groups.sharing is not None:
        counts["shared pages"] = groups.sharing.shared_pages
        counts["cached free pages"] = groups.sharing.cached_free
    if groups.swapping is not None:
        counts["host pages"] = groups.swapping.host_pages
    if groups.queueing is not None:
        for client, value in groups.queueing.counters.items():
            counts[f"counter {client}" if client else "counter of no client"] = value
    return counts
