"""What the engine's options add to the record of an iteration: a group of keys an option that is on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class StepTimes:
    """With a model of time, in nanoseconds. gpu_ns has the swapping in it; duration_ns the scheduler too."""

    start_ns: int
    duration_ns: int
    gpu_ns: int


@dataclass(frozen=True, slots=True)
class Waste:
    """With any option on. Slots are of one token each, while the iteration runs.

    reserved_slots: of held capacity, what will be filled later
    internal_slots: what never will be
    external_slots: free slots outside the longest free run, under slabs
    fragmented:     whether the head waits for pages although as many are free
    lost_tokens:    KV tokens thrown away in this iteration
    """

    reserved_slots: int
    internal_slots: int
    external_slots: int
    fragmented: bool
    lost_tokens: int


@dataclass(frozen=True, slots=True)
class Sharing:
    """With prefix caching or forks.

    cached:       tokens found in the cache by those admitted now; who found none is left out
    copied_pages: pages copied before they were written to
    shared_pages: pages with more than one owner
    cached_free:  free pages that can still be found
    forked:       the sequences that came to be, by the one that forked
    """

    cached: Mapping[str, int]
    copied_pages: int
    shared_pages: int
    cached_free: int
    forked: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Swapping:
    """With preemption by swap: pages moved now, by sequence, and pages in host memory after the iteration."""

    swapped_out: Mapping[str, int]
    swapped_in: Mapping[str, int]
    host_pages: int


@dataclass(frozen=True, slots=True)
class Leaving:
    """With cancellation honoured or ignored, in ids of requests.

    cancelled: ended now, since their client left
    left:      whose client left now, at the start or the end of the iteration
    """

    cancelled: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Queueing:
    """With admission by limit or vtc.

    refused:  requests that the limit rejected now
    head:     the sequence that is asked next
    counters: each client's counter after the iteration (vtc)
    """

    refused: tuple[str, ...]
    head: str | None
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OptionRecord:
    """The groups of one iteration, None for those whose option is off; and what only the figures need.

    recomputed:    victims that lose what they have stored
    wasted_tokens: emitted for clients that had left (ignored)
    wasted_kv:     KV tokens stored for them
    """

    waste: Waste
    time: StepTimes | None = None
    sharing: Sharing | None = None
    swapping: Swapping | None = None
    leaving: Leaving | None = None
    queueing: Queueing | None = None
    recomputed: int = 0
    wasted_tokens: int = 0
    wasted_kv: int = 0

    def to_row(self) -> dict[str, Any]:
        """The groups' keys, as plain JSON data."""
        row: dict[str, Any] = {}
        for group in (self.time, self.waste, self.sharing, self.swapping, self.leaving, self.queueing):
            if group is not None:
                row.update({field.name: _plain(getattr(group, field.name)) for field in fields(group)})
        return row


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return value
