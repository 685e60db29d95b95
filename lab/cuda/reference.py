"""What everything is compared with: attention in float64 over contiguous K and V, without pages, written plainly."""

from __future__ import annotations

import torch

TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2}
"""The largest relative error that rounding explains: a few units in the last place of each format.

A wrong page or a stale one is an error of the order of 1, or NaN. So is a token too few or too many, as long as each
counts: among thousands of alike, the lack of one is no more than rounding.
"""


def attention64(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention in float64: q [chunk, heads, head_dim] are the last of k's, v's [tokens, kv_heads, head_dim]."""
    chunk, heads, head_dim = q.shape
    tokens, kv_heads, _ = k.shape
    q, k, v = q.double().view(chunk, kv_heads, heads // kv_heads, head_dim), k.double(), v.double()
    score = torch.einsum("chgd,thd->hgct", q, k) / head_dim**0.5
    at = torch.arange(tokens, device=q.device)
    later = at[None] > at[tokens - chunk :, None]
    weight = score.masked_fill(later, float("-inf")).softmax(-1)
    return torch.einsum("hgct,thd->chgd", weight, v).reshape(chunk, heads, head_dim)


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest error of a row [head_dim], relative to the largest row's norm; inf if anything is not finite."""
    if not bool(torch.isfinite(got).all()):
        return float("inf")
    off = (got.double() - expected).norm(dim=-1).max()
    return float(off / expected.norm(dim=-1).max().clamp_min(1e-30))
