"""How much of a device's memory a replay takes, reckoned before anything is put there."""

from __future__ import annotations

from collections.abc import Sequence

from lab.cuda.plan import Plan, batch_sizes
from lab.cuda.shapes import DTYPE_BYTES, LayerShape

BANDWIDTH_BUFFER = 2**30
"""Bytes of the buffer that the bandwidth is measured with, of which there are two."""

OVERHEAD = 2**30
"""Bytes allowed for what the driver, PyTorch and its libraries take for themselves."""


GRAPH_LEAST = 2**25
"""Bytes allowed for a CUDA graph itself, whose memory is taken in blocks of up to 20 MB."""


def replay_bytes(plans: Sequence[Plan], shape: LayerShape, layers: int, dtype: str) -> int:
    """Bytes that a replay of `plans`, one after the other, needs at its peak, with everything around it."""
    size = DTYPE_BYTES[dtype]
    weights = layers * shape.weights * size
    each = [plan_bytes(plan, shape, layers, size) + graph_bytes(plan, shape, layers, size) for plan in plans]
    return weights + max([2 * BANDWIDTH_BUFFER, *each]) + OVERHEAD


def graph_bytes(plan: Plan, shape: LayerShape, layers: int, size: int) -> int:
    """Bytes that the CUDA graphs of `plan` hold, one for each batch size; `size`: bytes a number."""
    activations = 2 * shape.hidden + 2 * shape.qkv + 3 * shape.ff
    looked_at = layers * (shape.qkv + shape.heads * shape.head_dim)  # what verification reads: q, k, v and the output
    return sum(GRAPH_LEAST + requests * (activations + looked_at) * size for requests in batch_sizes([plan]))


def plan_bytes(plan: Plan, shape: LayerShape, layers: int, size: int) -> int:
    """Bytes that a replay of `plan` needs beside the weights; `size`: bytes a number."""
    pool = layers * (plan.num_pages + 1) * plan.page_size * shape.kv_token * size
    # Of one step: inputs, joint projection, both halves of the MLP, each with a copy.
    activations = 2 * plan.most_tokens * (2 * shape.hidden + 2 * shape.qkv + 3 * shape.ff) * size
    # Verification keeps K and V of everybody, and attends in float64, one request at a time.
    longest = max(plan.longest_decode, plan.longest_chunk, 1)
    chunk = max((work.tokens for step in plan.steps for work in step.prefills), default=1)
    kept = layers * plan.num_pages * plan.page_size * shape.kv_token * size
    float64 = 8 * (longest * shape.kv_token + 3 * shape.heads * chunk * longest)
    return pool + activations + kept + float64


MOST_ON_CPU = 4 * 2**30
"""Bytes that a replay on a CPU may need beside the weights."""


def shown_bytes(count: float) -> str:
    """`count` bytes in words: ``1.7 GB``."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} bytes"
