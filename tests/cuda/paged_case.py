"""A paged pool filled through the ops, with tables in no order, and the same K and V contiguous."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lab.cuda.attention import PagedOps, Workspace
from lab.cuda.pool import KVPool

BOUND = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}


@dataclass
class PagedCase:
    """Requests of several lengths; a length of 0 is a padded slot."""

    ops: PagedOps
    pool: KVPool
    q: torch.Tensor
    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    tables: torch.Tensor
    lengths: torch.Tensor

    def decode(self, parts: int = 1) -> torch.Tensor:
        """What the ops give: [requests, heads, head_dim]."""
        requests, heads, head_dim = self.q.shape
        workspace = Workspace.of(requests, heads, head_dim, parts, self.q.device)
        out = torch.full_like(self.q, float("nan"))
        return self.ops.decode(self.q, self.pool.k[0], self.pool.v[0], self.tables, self.lengths, out, workspace)


def paged_case(
    ops: PagedOps,
    device: torch.device,
    lengths: list[int],
    dtype: torch.dtype = torch.float32,
    page_size: int = 16,
    heads: int = 4,
    kv_heads: int = 2,
    head_dim: int = 16,
    seed: int = 0,
) -> PagedCase:
    chance = torch.Generator().manual_seed(seed)
    each = [-(-length // page_size) for length in lengths]
    pool = KVPool(1, sum(each) + 2, page_size, kv_heads, head_dim, dtype, device)
    order = torch.randperm(sum(each) + 2, generator=chance).tolist()
    # What lies beyond a request's own pages in its row of the table must not be looked at: pages that nobody wrote.
    tables = torch.full((len(lengths), max(each) + 1), order[-1], dtype=torch.int32)

    def random(*sizes: int) -> torch.Tensor:
        return torch.randn(*sizes, generator=chance).to(device, dtype)

    keys, values = [], []
    for request, length in enumerate(lengths):
        pages = [order.pop(0) for _ in range(each[request])]
        tables[request, : len(pages)] = torch.tensor(pages, dtype=torch.int32)
        k, v = random(length, kv_heads, head_dim), random(length, kv_heads, head_dim)
        slots = [pages[at // page_size] * page_size + at % page_size for at in range(length)]
        if length:
            ops.append(k, v, pool.k[0], pool.v[0], torch.tensor(slots, dtype=torch.int64, device=device))
        keys.append(k)
        values.append(v)
    return PagedCase(
        ops,
        pool,
        random(len(lengths), heads, head_dim),
        keys,
        values,
        tables.to(device),
        torch.tensor(lengths, dtype=torch.int32, device=device),
    )
