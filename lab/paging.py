"""How many pages of KV memory a request needs. Where they come from is in `lab.blocks` and `lab.slabs`."""

from __future__ import annotations


def pages_for(tokens: int, page_size: int) -> int:
    """Pages that hold `tokens` tokens at `page_size` tokens a page: ceil(tokens / page_size), in integers.

    Raises ValueError if tokens < 0 or page_size < 1.
    """
    if tokens < 0 or page_size < 1:
        raise ValueError(f"pages_for needs tokens >= 0 and page_size >= 1, not {tokens} and {page_size}")
    return -(-tokens // page_size)
