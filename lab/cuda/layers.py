"""Decoder layers with random weights: RMSNorm, QKV, append, paged attention, output projection, gated MLP.

Rotary embedding is left out: it moves next to nothing. The embedding and the output layer of a model are left out too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from lab.cuda import attention
from lab.cuda.attention import PagedOps, Workspace
from lab.cuda.pool import KVPool
from lab.cuda.shapes import LayerShape

Look = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], None]
"""Is shown (layer, q, k, v, attention output) as they are computed: [tokens, heads, head_dim]."""


@dataclass
class Batch:
    """One step's addressing, on the device. Tokens are ordered: every decode's one, then each chunk's.

    slots:     [tokens] int64
    tables:    [decodes, width] int32, lengths: [decodes] int32; None without decodes
    workspace: the room that the ops need for the decodes; None without decodes
    chunks:    (first token in the batch, tokens, position, block table int64) of each prefill chunk
    """

    slots: torch.Tensor
    tables: torch.Tensor | None
    lengths: torch.Tensor | None
    workspace: Workspace | None
    chunks: list[tuple[int, int, int, torch.Tensor]]


class Layers:
    """`count` layers of `shape`, on `device` in `dtype`. The same `seed` gives the same weights."""

    def __init__(
        self, shape: LayerShape, count: int, dtype: torch.dtype, device: torch.device, seed: int, ops: PagedOps
    ) -> None:
        self.shape, self.count, self.dtype, self.device, self.ops = shape, count, dtype, device, ops
        chance = torch.Generator(device=device).manual_seed(seed)

        def matrix(rows: int, columns: int) -> torch.Tensor:
            weights = torch.empty(rows, columns, dtype=dtype, device=device)
            return weights.normal_(0, rows**-0.5, generator=chance)

        attended = shape.heads * shape.head_dim
        self.qkv = [matrix(shape.hidden, shape.qkv) for _ in range(count)]
        self.out = [matrix(attended, shape.hidden) for _ in range(count)]
        self.gate_up = [matrix(shape.hidden, 2 * shape.ff) for _ in range(count)]
        self.down = [matrix(shape.ff, shape.hidden) for _ in range(count)]

    def forward(self, x: torch.Tensor, batch: Batch, pool: KVPool, look: Look | None = None) -> torch.Tensor:
        """One step: x [tokens, hidden] through all layers, with K and V appended to `pool` and attended from it."""
        shape, tokens = self.shape, x.shape[0]
        for layer in range(self.count):
            joint = F.rms_norm(x, (shape.hidden,)) @ self.qkv[layer]
            # The kernels go by raw pointers, so each part of the joint projection gets memory of its own.
            q, k, v = (
                part.reshape(tokens, -1, shape.head_dim).contiguous()
                for part in joint.split([shape.heads * shape.head_dim, *[shape.kv_heads * shape.head_dim] * 2], dim=1)
            )
            mixed = self._attend(layer, q, k, v, batch, pool)
            if look is not None:
                look(layer, q, k, v, mixed)
            x = x + mixed.view(tokens, -1) @ self.out[layer]
            gate, up = (F.rms_norm(x, (shape.hidden,)) @ self.gate_up[layer]).chunk(2, dim=1)
            x = x + (F.silu(gate) * up) @ self.down[layer]
        return x

    def _attend(
        self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, batch: Batch, pool: KVPool
    ) -> torch.Tensor:
        k_pool, v_pool = pool.k[layer], pool.v[layer]
        self.ops.append(k, v, k_pool, v_pool, batch.slots)
        mixed = torch.empty_like(q)
        decodes = 0
        if batch.tables is not None and batch.lengths is not None and batch.workspace is not None:
            decodes = batch.tables.shape[0]
            self.ops.decode(
                q[:decodes],
                k_pool,
                v_pool,
                batch.tables,
                batch.lengths,
                mixed[:decodes],
                batch.workspace,
            )
        for first, count, position, table in batch.chunks:
            rows = slice(first, first + count)
            if position == 0:
                mixed[rows] = attention.prefill(q[rows], k[rows], v[rows])
            else:
                mixed[rows] = attention.prefill(q[rows], *attention.gather(k_pool, v_pool, table, position + count))
        return mixed
