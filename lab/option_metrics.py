"""The figures that options add: memory and its waste, sharing, preemption, cancellation, clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lab.distribution import percentile
from lab.options import Options
from lab.records import Iteration
from lab.workload import Limits, Request


class Memory:
    """How KV memory was used. Slots hold one token each; shares are of the slots held, over all busy iterations.

    peak_kv_bytes: of the KV tokens stored at one time, a shared one once
    """

    def __init__(self, limits: Limits, options: Options) -> None:
        self._page_size = limits.page_size
        self._kv_bytes = options.kv_bytes
        self._pool_slots = limits.num_pages * limits.page_size
        self._stored_peak = self._running_peak = 0
        self._reserved_peak = self._internal_peak = self._external_peak = 0
        self._held = self._stored = self._reserved = self._internal = 0
        self._fragmented = 0

    def add(self, record: Iteration) -> None:
        """Count one record."""
        assert record.options is not None
        waste = record.options.waste
        held = record.pages_used * self._page_size
        stored = held - record.wasted_slots
        self._held += held
        self._stored += stored
        self._reserved += waste.reserved_slots
        self._internal += waste.internal_slots
        self._stored_peak = max(self._stored_peak, stored)
        self._running_peak = max(self._running_peak, len(record.running))
        self._reserved_peak = max(self._reserved_peak, waste.reserved_slots)
        self._internal_peak = max(self._internal_peak, waste.internal_slots)
        self._external_peak = max(self._external_peak, waste.external_slots)
        self._fragmented += waste.fragmented

    def figures(self) -> dict[str, Any]:
        """The group ``memory``."""
        held = self._held or 1
        return {
            "kv_bytes_per_token": self._kv_bytes,
            "pool_bytes": self._pool_slots * self._kv_bytes,
            "peak_kv_bytes": self._stored_peak * self._kv_bytes,
            "peak_running": self._running_peak,
            "reserved_slots_peak": self._reserved_peak,
            "internal_slots_peak": self._internal_peak,
            "external_slots_peak": self._external_peak,
            "used_share": self._stored / held,
            "reserved_share": self._reserved / held,
            "internal_share": self._internal / held,
            "fragmented_iterations": self._fragmented,
        }


class Shared:
    """What prefix caching and forks saved."""

    def __init__(self) -> None:
        self._prefill = self._cached = self._copied = self._forks = self._peak = 0

    def add(self, record: Iteration) -> None:
        """Count one record."""
        assert record.options is not None
        sharing = record.options.sharing
        assert sharing is not None
        prefilling = {seat[0] for seat in record.seats if seat is not None and seat[1] == "prefill"}
        self._prefill += sum([count for name, count in record.tokens.items() if name in prefilling])
        self._cached += sum(sharing.cached.values())
        self._copied += sharing.copied_pages
        self._forks += len(sharing.forked)
        self._peak = max(self._peak, sharing.shared_pages)

    def figures(self) -> dict[str, Any]:
        """The group ``sharing``."""
        return {
            "prefill_tokens": self._prefill,
            "cached_tokens": self._cached,
            "copied_pages": self._copied,
            "forks": self._forks,
            "shared_pages_peak": self._peak,
        }


class Preempted:
    """What preemption cost."""

    def __init__(self) -> None:
        self._lost = self._out = self._in = self._host_peak = self._recomputed = 0

    def add(self, record: Iteration) -> None:
        """Count one record."""
        options = record.options
        assert options is not None
        self._lost += options.waste.lost_tokens
        self._recomputed += options.recomputed
        if options.swapping is not None:
            self._out += sum(options.swapping.swapped_out.values())
            self._in += sum(options.swapping.swapped_in.values())
            self._host_peak = max(self._host_peak, options.swapping.host_pages)

    def figures(self) -> dict[str, Any]:
        """The group ``preemption``."""
        return {
            "lost_tokens": self._lost,
            "swapped_out_pages": self._out,
            "swapped_in_pages": self._in,
            "host_pages_peak": self._host_peak,
            "recomputed": self._recomputed,
        }


class Cancelled:
    """What clients that left cost."""

    def __init__(self, options: Options) -> None:
        self._kv_bytes = options.kv_bytes
        self._cancelled = self._left = self._tokens = self._kv_peak = 0

    def add(self, record: Iteration) -> None:
        """Count one record."""
        options = record.options
        assert options is not None
        assert options.leaving is not None
        self._cancelled += len(options.leaving.cancelled)
        self._left += len(options.leaving.left)
        self._tokens += options.wasted_tokens
        self._kv_peak = max(self._kv_peak, options.wasted_kv)

    def figures(self) -> dict[str, Any]:
        """The group ``cancellation``."""
        return {
            "cancelled": self._cancelled,
            "left": self._left,
            "wasted_tokens": self._tokens,
            "wasted_kv_tokens_peak": self._kv_peak,
            "wasted_kv_bytes_peak": self._kv_peak * self._kv_bytes,
        }


class Clients:
    """What each client got. Waits are in iterations, of its completed requests."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._client = {request.id: request.client or "" for request in requests}
        self._tokens: dict[str, int] = dict.fromkeys(self._client.values(), 0)
        self._refused: dict[str, int] = dict.fromkeys(self._client.values(), 0)

    def add(self, record: Iteration, owner: Mapping[str, str]) -> None:
        """Count one record; `owner` is the request of each forked sequence."""
        assert record.options is not None
        for name in record.emitted:
            self._tokens[self._client[owner.get(name, name)]] += 1
        if record.options.queueing is not None:
            for name in record.options.queueing.refused:
                self._refused[self._client[name]] += 1

    def figures(self, finished: Mapping[str, Mapping[str, Any]], timed: bool) -> dict[str, Any]:
        """The group ``clients``, from the figures of the requests that finished."""
        requests: dict[str, int] = dict.fromkeys(self._tokens, 0)
        served: dict[str, list[Mapping[str, Any]]] = {client: [] for client in self._tokens}
        for name, client in self._client.items():
            requests[client] += 1
            if name in finished:
                served[client].append(finished[name])
        figures: dict[str, Any] = {}
        for client, entries in served.items():
            waits = sorted(entry["wait"] for entry in entries)
            figures[client] = {
                "requests": requests[client],
                "completed": len(entries),
                "refused": self._refused[client],
                "tokens": self._tokens[client],
                "wait_mean": sum(waits) / len(waits) if waits else 0.0,
                "wait_p95": percentile(waits, 950),
                "wait_max": waits[-1] if waits else 0,
            }
            if timed:
                figures[client] |= _first_tokens(entry["ttft_ms"] for entry in entries)
        return figures


def _first_tokens(values: Iterable[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "ttft_mean_ms": sum(ordered) / len(ordered) if ordered else 0.0,
        "ttft_p99_ms": percentile(ordered, 990) if ordered else 0.0,
        "ttft_max_ms": ordered[-1] if ordered else 0.0,
    }
