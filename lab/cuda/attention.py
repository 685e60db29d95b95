"""Paged attention on a device: the Triton kernels, and the same in PyTorch for what runs everywhere.

Shapes: q [tokens or requests, heads, head_dim]; k, v [tokens, kv_heads, head_dim]; pools [pages, page_size, kv_heads,
head_dim]; tables [requests, width] int32 page ids; lengths [requests] int32; slots [tokens] int64, where slot =
page x page_size + place in the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

TILE = 32
WARPS = 4
"""Tokens that a program of the decode kernel takes at once, and its warps.

For sm_90, Triton fetches the next tile while it works on this one, and ptxas spills no register, nor would it with
twice the tokens. How fast other sizes are, only a GPU can say.
"""

LEAST_ROWS = 16
"""The least that a matrix unit takes."""

MOST_PARTS = 64
PROGRAMS_WANTED = 512
"""Enough to keep every multiprocessor of a large GPU busy with some to spare."""

PREFILL_BY = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Not cuDNN's attention, which PyTorch takes first on Hopper: it makes a plan, in tens of ms, for each new length."""


def parts_for(requests: int, kv_heads: int, longest: int) -> int:
    """Among how many programs a context of `longest` tokens is shared out: a power of two."""
    tiles = max(1, math.ceil(longest / TILE))
    wanted = max(1, PROGRAMS_WANTED // max(1, requests * kv_heads))
    return min(MOST_PARTS, 1 << (min(tiles, wanted).bit_length() - 1))


@dataclass
class Workspace:
    """What the parts of a decode are written to; allocated once, so that a CUDA graph can hold it."""

    parts: int
    part: torch.Tensor
    highest: torch.Tensor
    total: torch.Tensor

    @staticmethod
    def of(requests: int, heads: int, head_dim: int, parts: int, device: torch.device | str) -> Workspace:
        """Room for `parts` parts; a placeholder for one part, which writes its result at once."""
        rows = requests * heads * parts if parts > 1 else 1
        return Workspace(
            parts,
            torch.empty(rows, head_dim, device=device),
            torch.empty(rows, device=device),
            torch.empty(rows, device=device),
        )


def _contiguous(**tensors: torch.Tensor) -> None:
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(f"{name} is not contiguous, and the kernels go by raw pointers")


class PagedOps:
    """Append to a paged pool and decode from it, in PyTorch: the same on a CPU and on a GPU."""

    name = "pytorch"

    def parts(self, requests: int, kv_heads: int, longest: int) -> int:
        """Among how many programs a context of `longest` tokens is shared out."""
        return 1

    def append(
        self, k: torch.Tensor, v: torch.Tensor, k_pool: torch.Tensor, v_pool: torch.Tensor, slots: torch.Tensor
    ) -> None:
        """Write k[t], v[t] into slots[t] of the pools."""
        k_pool.flatten(0, 1).index_copy_(0, slots, k)
        v_pool.flatten(0, 1).index_copy_(0, slots, v)

    def decode(
        self,
        q: torch.Tensor,
        k_pool: torch.Tensor,
        v_pool: torch.Tensor,
        tables: torch.Tensor,
        lengths: torch.Tensor,
        out: torch.Tensor,
        workspace: Workspace,
    ) -> torch.Tensor:
        """out[r] = attention of request r's one query over its `lengths[r]` tokens; 0 where that is 0."""
        requests, heads, head_dim = q.shape
        page_size, kv_heads = k_pool.shape[1], k_pool.shape[2]
        tokens = tables.shape[1] * page_size
        live = torch.arange(tokens, device=q.device)[None] < lengths[:, None]
        k, v = (
            # 0 x NaN of an unwritten slot would be NaN, so those are made 0 and not only masked.
            pool[tables.long()]
            .view(requests, tokens, kv_heads, head_dim)
            .float()
            .masked_fill(~live[..., None, None], 0)
            for pool in (k_pool, v_pool)
        )
        grouped = q.view(requests, kv_heads, -1, head_dim).float() * head_dim**-0.5
        score = torch.einsum("rhgd,rthd->rhgt", grouped, k).masked_fill(~live[:, None, None], float("-inf"))
        weight = score.softmax(-1).nan_to_num(0)  # a padded slot has no token at all
        out.copy_(torch.einsum("rhgt,rthd->rhgd", weight, v).reshape(requests, heads, head_dim))
        return out


class TritonOps(PagedOps):
    """The same by the kernels of `kernels`, the module `lab.cuda.kernels` (or, in tests, a copy with a mistake)."""

    name = "triton"

    def __init__(self, kernels: ModuleType) -> None:
        self.kernels = kernels

    def parts(self, requests: int, kv_heads: int, longest: int) -> int:
        return parts_for(requests, kv_heads, longest)

    def append(
        self, k: torch.Tensor, v: torch.Tensor, k_pool: torch.Tensor, v_pool: torch.Tensor, slots: torch.Tensor
    ) -> None:
        """As `PagedOps.append`. ValueError if a tensor is not contiguous."""
        _contiguous(k=k, v=v, k_pool=k_pool, v_pool=v_pool, slots=slots)
        row = k.shape[1] * k.shape[2]
        block = 1 << (row - 1).bit_length()
        self.kernels.append_kernel[(k.shape[0],)](k, v, k_pool, v_pool, slots, ROW=row, BLOCK=block)

    def decode(
        self,
        q: torch.Tensor,
        k_pool: torch.Tensor,
        v_pool: torch.Tensor,
        tables: torch.Tensor,
        lengths: torch.Tensor,
        out: torch.Tensor,
        workspace: Workspace,
    ) -> torch.Tensor:
        """As `PagedOps.decode`. ValueError if a tensor is not contiguous, or head_dim no power of two from 16."""
        _contiguous(q=q, k_pool=k_pool, v_pool=v_pool, tables=tables, lengths=lengths, out=out)
        requests, heads, head_dim = q.shape
        page_size, kv_heads = k_pool.shape[1], k_pool.shape[2]
        if head_dim < LEAST_ROWS or head_dim & (head_dim - 1):
            raise ValueError(f"head_dim must be a power of two from {LEAST_ROWS}, not {head_dim}")
        group = heads // kv_heads
        self.kernels.decode_kernel[(requests, kv_heads, workspace.parts)](
            q,
            k_pool,
            v_pool,
            tables,
            lengths,
            out,
            workspace.part,
            workspace.highest,
            workspace.total,
            head_dim**-0.5,
            tables.shape[1],
            KV_HEADS=kv_heads,
            GROUP=group,
            ROWS=max(LEAST_ROWS, 1 << (group - 1).bit_length()),
            HEAD_DIM=head_dim,
            PAGE_SIZE=page_size,
            TILE=TILE,
            PARTS=workspace.parts,
            # The interpreter multiplies bfloat16 as if its bits were integers: there it is brought to float32 first.
            EXACT=q.dtype == torch.float32 or (self.kernels.INTERPRETED and q.dtype == torch.bfloat16),
            num_warps=WARPS,
        )
        if workspace.parts > 1:
            self.kernels.combine_kernel[(requests * heads,)](
                workspace.part,
                workspace.highest,
                workspace.total,
                out,
                HEAD_DIM=head_dim,
                PARTS=workspace.parts,
                SLOTS=1 << (workspace.parts - 1).bit_length(),
                num_warps=4,
            )
        return out


def gather(k_pool: torch.Tensor, v_pool: torch.Tensor, table: torch.Tensor, length: int) -> tuple[torch.Tensor, ...]:
    """The first `length` tokens of one request, contiguous: k, v [length, kv_heads, head_dim]. table: int64."""
    pages = table[: -(-length // k_pool.shape[1])]
    k, v = (pool.index_select(0, pages).flatten(0, 1)[:length] for pool in (k_pool, v_pool))
    return k, v


def prefill(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of one request's chunk: q [chunk, heads, head_dim] are the last of the tokens of k and v.

    A fresh prompt attends to itself; a later chunk to what earlier chunks stored as well, `gather`ed.
    """
    chunk, tokens = q.shape[0], k.shape[0]
    q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
    seen = None
    if 1 < chunk < tokens:
        at = torch.arange(tokens, device=q.device)
        seen = at[None] <= at[tokens - chunk :, None]
    with sdpa_kernel(PREFILL_BY):
        out = F.scaled_dot_product_attention(
            q, k, v, attn_mask=seen, is_causal=chunk == tokens, enable_gqa=q.shape[1] != k.shape[1]
        )
    return out[0].transpose(0, 1)
