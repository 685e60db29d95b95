"""The paged KV pool of one replay: one K and one V tensor a layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class KVPool:
    """`num_pages` pages and one more, the scratch page, which is never handed out and takes what padding writes.

    k[layer], v[layer]: [num_pages + 1, page_size, kv_heads, head_dim], contiguous. All of it is NaN at first: what is
    read without having been written shows in the result.
    """

    def __init__(
        self,
        layers: int,
        num_pages: int,
        page_size: int,
        kv_heads: int,
        head_dim: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        self.num_pages = num_pages
        self.page_size = page_size
        shape = (num_pages + 1, page_size, kv_heads, head_dim)
        self.k = [torch.full(shape, float("nan"), dtype=dtype, device=device) for _ in range(layers)]
        self.v = [torch.full(shape, float("nan"), dtype=dtype, device=device) for _ in range(layers)]

    @property
    def scratch_page(self) -> int:
        """The id of the scratch page."""
        return self.num_pages

    @property
    def scratch_slot(self) -> int:
        """A slot of the scratch page, where padding tokens are appended."""
        return self.num_pages * self.page_size

    def poison(self, pages: Sequence[int]) -> None:
        """Fill `pages` with NaN, as when nobody had written them yet."""
        if pages:
            chosen = torch.tensor(list(pages), device=self.k[0].device)
            for tensor in (*self.k, *self.v):
                tensor[chosen] = float("nan")
