"""Beside the replay: the decode kernel against contiguous attention, and a step's cost against the batch size."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from lab.cuda import contiguous
from lab.cuda.job import CPU, Settings
from lab.cuda.layers import Batch, Layers
from lab.cuda.plan import Step, Work
from lab.cuda.pool import KVPool
from lab.cuda.reference import attention64, relative_error
from lab.cuda.replayer import DecodeGraph, workspace_for
from lab.cuda.shapes import step_bytes
from lab.cuda.statistics import Spread
from lab.cuda.stopwatch import flush, recorded, timed
from lab.cuda.verify import History, Verification, check_step

Stage = Callable[[str, int], Callable[[], None]]

PAGE_SIZE = 16
CASES = ((1, 128), (3, 128), (1, 4096), (1, 65536), (8, 4096), (32, 2048), (32, 8192), (128, 2048), (256, 1024))
"""(requests, KV tokens of each): what the course trace has, long contexts, and large batches."""

CASES_ON_CPU = ((1, 40), (3, 100))
BATCHES = (1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256, 512)
BATCHES_ON_CPU = (1, 2, 4)
BATCH_CONTEXT = 128

COPIES = 5
"""How many times a case's KV lies in memory: as made, for PyTorch, in the pool, and room to spare."""


def kernel_cases(
    layers: Layers, bytes_per_s: float, cache_bytes: int, tolerance: float, settings: Settings, stage: Stage
) -> list[dict[str, Any]]:
    """The decode kernel through shuffled block tables against PyTorch's attention on contiguous K and V, a row a case.

    Both get the same numbers, in one layer, and both are verified against float64 before they are timed. Of what
    PyTorch offers, the quickest counts. All are timed as CUDA graphs, on a GPU each time with K and V out of the cache.
    Cases that do not fit the device are left out.
    """
    before = flush(layers.device, cache_bytes)
    room = _room(layers.device, settings.memory_share)
    cases = [
        case
        for case in (CASES_ON_CPU if settings.device == CPU else CASES)
        if COPIES * _kv_bytes(layers, *case) <= room
    ]
    count = stage("kernel against contiguous", len(cases))
    rows = []
    for requests, context in cases:
        with suppress(torch.OutOfMemoryError):
            rows.append(_kernel_case(layers, requests, context, bytes_per_s, before, tolerance, settings))
        count()
    return rows


def _room(device: torch.device, memory_share: float) -> float:
    """Bytes that may still be taken."""
    if device.type != "cuda":
        return float("inf")
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(device)
    return min(free, total * memory_share - torch.cuda.memory_allocated(device))


def _kv_bytes(layers: Layers, requests: int, context: int) -> int:
    return requests * context * layers.shape.kv_token * layers.dtype.itemsize


def _kernel_case(
    layers: Layers,
    requests: int,
    context: int,
    bytes_per_s: float,
    before: Callable[[], object] | None,
    tolerance: float,
    settings: Settings,
) -> dict[str, Any]:
    shape, device = layers.shape, layers.device
    chance = torch.Generator(device=device).manual_seed(settings.seed + context)

    def random(*sizes: int) -> torch.Tensor:
        return torch.empty(sizes, dtype=layers.dtype, device=device).normal_(generator=chance)

    q = random(requests, shape.heads, shape.head_dim)
    k, v = (random(requests, context, shape.kv_heads, shape.head_dim) for _ in range(2))
    v[:, -1] *= context**0.5  # as much as all others together: among thousands alike, its lack would not show
    pool, tables = _filled_pool(layers, k, v, chance)
    lengths = torch.full((requests,), context, dtype=torch.int32, device=device)
    workspace = workspace_for(layers, requests, context)
    out = torch.empty_like(q)

    def paged() -> torch.Tensor:
        return layers.ops.decode(q, pool.k[0], pool.v[0], tables, lengths, out, workspace)

    ways = contiguous.ways(q, k, v)
    errors = dict.fromkeys(["paged", *ways], 0.0)
    results = {"paged": paged(), **{name: way() for name, way in ways.items()}}
    for request in range(requests):
        expected = attention64(q[request][None], k[request], v[request])
        for name, got in results.items():
            error = relative_error(got[request].reshape(expected.shape), expected)
            errors[name] = error if not error <= errors[name] else errors[name]
    worst = errors["paged"]

    def measured(way: Callable[[], object]) -> Spread:
        return timed(device, recorded(device, way), settings.warmup, settings.repeats, before)

    paged_ms = measured(paged)
    right = [name for name in ways if errors[name] <= tolerance]  # one that is wrong is nothing to compare with
    times = {}
    for name in right or ways:
        with suppress(RuntimeError):  # as when it cannot be recorded
            times[name] = measured(ways[name])
    if not times:
        raise RuntimeError(f"none of PyTorch's attention kernels could be timed ({'; '.join(ways)})")
    by, contiguous_ms = min(times.items(), key=lambda found: found[1].median)
    kv_bytes = _kv_bytes(layers, requests, context)
    return {
        "requests": requests,
        "context": context,
        "kv_bytes": kv_bytes,
        "in_cache": before is None,
        "verified": worst <= tolerance and bool(right),
        "worst_error": worst if worst < float("inf") else None,
        "paged_ms": paged_ms.to_dict(),
        "contiguous_ms": contiguous_ms.to_dict(),
        "contiguous_by": by,
        "paging_costs": paged_ms.median / contiguous_ms.median,
        "floor_ms": 1e3 * kv_bytes / bytes_per_s,
    }


def _filled_pool(
    layers: Layers, k: torch.Tensor, v: torch.Tensor, chance: torch.Generator
) -> tuple[KVPool, torch.Tensor]:
    """A pool of one layer with k and v [requests, context, kv_heads, dim] in pages in no order, and the tables."""
    requests, context = k.shape[:2]
    device, shape = layers.device, layers.shape
    each = -(-context // PAGE_SIZE)
    pool = KVPool(1, requests * each, PAGE_SIZE, shape.kv_heads, shape.head_dim, layers.dtype, device)
    tables = torch.randperm(requests * each, generator=chance, device=device).view(requests, each)
    at = torch.arange(context, device=device)
    for request in range(requests):
        slots = tables[request][at // PAGE_SIZE] * PAGE_SIZE + at % PAGE_SIZE
        layers.ops.append(k[request], v[request], pool.k[0], pool.v[0], slots)
    return pool, tables.to(torch.int32)


def batch_cases(
    layers: Layers, bytes_per_s: float, tolerance: float, settings: Settings, stage: Stage
) -> dict[str, Any]:
    """A pure decode step, all layers, of 1, 2, ... requests at one context length, a row a batch size."""
    context = 24 if settings.device == CPU else BATCH_CONTEXT
    room = _room(layers.device, settings.memory_share)
    sizes = [
        size
        for size in (BATCHES_ON_CPU if settings.device == CPU else BATCHES)
        if COPIES * layers.count * _kv_bytes(layers, size, context) <= room
    ]
    count = stage("step cost by batch size", len(sizes))
    rows = []
    for size in sizes:
        rows.append(_batch_case(layers, size, context, bytes_per_s, tolerance, settings))
        count()
    return {"context": context, "rows": rows}


def _batch_case(
    layers: Layers, size: int, context: int, bytes_per_s: float, tolerance: float, settings: Settings
) -> dict[str, Any]:
    shape, device = layers.shape, layers.device
    chance = torch.Generator(device=device).manual_seed(settings.seed + size)
    each = -(-context // PAGE_SIZE)
    pool = KVPool(layers.count, size * each, PAGE_SIZE, shape.kv_heads, shape.head_dim, layers.dtype, device)
    tables = torch.randperm(size * each, generator=chance, device=device).view(size, each)
    works = tuple(Work(f"r{i}", context - 1, 1, tuple(table)) for i, table in enumerate(tables.tolist()))
    step = Step(1, works, (), ())
    history = _prefilled(layers, pool, works, chance)
    slots = torch.tensor([slot for work in works for slot in work.slots(PAGE_SIZE)], dtype=torch.int64, device=device)
    lengths = torch.full((size,), context, dtype=torch.int32, device=device)
    x = torch.empty(size, shape.hidden, dtype=layers.dtype, device=device).normal_(generator=chance)
    graph = DecodeGraph(layers, pool, size, each, context)
    graph.load(x, Batch(slots, tables.to(torch.int32), lengths, workspace_for(layers, size, context), []))
    graph.run()
    found = Verification(tolerance)
    check_step(step, graph.captured, history, found, f"batch of {size}")
    took = timed(device, graph.run, settings.warmup, settings.repeats)
    floor = 1e3 * step_bytes(shape, layers.count, settings.dtype, size, [context] * size, []) / bytes_per_s
    return {
        "requests": size,
        "verified": found.passed,
        "worst_error": found.worst_error if found.worst_error < float("inf") else None,
        "ms": took.to_dict(),
        "floor_ms": floor,
        "ratio": took.median / floor,
    }


def _prefilled(layers: Layers, pool: KVPool, works: tuple[Work, ...], chance: torch.Generator) -> History:
    """Random K and V for all tokens but each request's last, in the pool and in the returned history."""
    shape = layers.shape
    history = History(layers.count)
    for work in works:
        before = Work(work.id, 0, work.position, work.table)
        slots = torch.tensor(before.slots(PAGE_SIZE), dtype=torch.int64, device=layers.device)
        for layer in range(layers.count):
            k, v = (
                torch.empty(
                    before.tokens, shape.kv_heads, shape.head_dim, dtype=layers.dtype, device=layers.device
                ).normal_(generator=chance)
                for _ in range(2)
            )
            layers.ops.append(k, v, pool.k[layer], pool.v[layer], slots)
            history.add(before, layer, k, v)
    return history
