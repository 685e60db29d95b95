"""PyTorch's attention on contiguous K and V, in every way that it offers for a decode.

Which of its kernels PyTorch takes by itself depends on its version and on the GPU, and for one query a request it need
not be the quickest: cuDNN's comes first on Hopper. So each is asked for by name, and the quickest is compared with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

FUSED = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION)


def ways(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> dict[str, Callable[[], torch.Tensor]]:
    """What works here, by name: each gives the attention of one query a request, with requests first.

    q: [requests, heads, head_dim]; k, v: [requests, tokens, kv_heads, head_dim]. Each kernel is tried with grouped
    heads and with a group's heads as so many queries. PyTorch's plain products only count where no fused kernel works.
    """
    requests, _, head_dim = q.shape
    k, v = k.transpose(1, 2).contiguous(), v.transpose(1, 2).contiguous()
    layouts = {"grouped heads": q[:, :, None], "a group as queries": q.view(requests, k.shape[1], -1, head_dim)}

    def working(backends: tuple[SDPBackend, ...]) -> dict[str, Callable[[], torch.Tensor]]:
        found = {
            f"{backend.name.lower().removesuffix('_attention')}, {layout}": partial(_attend, backend, query, k, v)
            for backend in backends
            for layout, query in layouts.items()
        }
        return {name: way for name, way in found.items() if _works(way)}

    return working(FUSED) or working((SDPBackend.MATH,))


def _attend(backend: SDPBackend, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])


def _works(way: Callable[[], torch.Tensor]) -> bool:
    try:
        with warnings.catch_warnings():  # PyTorch warns of each reason why a kernel cannot be used
            warnings.simplefilter("ignore")
            way()
    except RuntimeError:  # also where its copies do not fit into memory
        return False
    return True
