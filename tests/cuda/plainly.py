"""Attention in float64 numpy, one query at a time: independent of the backend and of its own reference."""

from __future__ import annotations

import numpy as np
import torch


def numpy64(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float64).numpy()


def attend(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """query [heads, dim]; keys, values [tokens, kv_heads, dim]."""
    heads, dim = query.shape
    group = heads // keys.shape[1]
    out = np.zeros((heads, dim))
    for head in range(heads):
        k, v = keys[:, head // group], values[:, head // group]
        score = k @ query[head] / np.sqrt(dim)
        weight = np.exp(score - score.max())
        out[head] = weight @ v / weight.sum()
    return out


def error(got: np.ndarray, expected: np.ndarray) -> float:
    """Largest error of a row, relative to the largest row; inf for anything that is not finite."""
    if not np.isfinite(got).all():
        return float("inf")
    return float(np.linalg.norm(got - expected, axis=-1).max() / np.linalg.norm(expected, axis=-1).max())
