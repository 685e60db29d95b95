"""The Triton kernels: append to a paged KV pool, and attend from it while decoding.

The decode kernel goes through the block table token by token of a tile, so that any page size works, and parts long
contexts among several programs that a second kernel brings together: flash decoding (Dao et al., 2023) over paged
memory (Kwon et al., 2023, "Efficient Memory Management for Large Language Model Serving with PagedAttention").

Raw pointers ignore strides. `lab.cuda.attention` calls these and asserts that everything is contiguous.
"""

from __future__ import annotations

import os

import triton
import triton.language as tl

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
"""Whether these kernels run in Triton's interpreter, on the CPU. Read once: Triton, too, decides at import."""


@triton.jit
def append_kernel(k_ptr, v_ptr, k_pool_ptr, v_pool_ptr, slots_ptr, ROW: tl.constexpr, BLOCK: tl.constexpr):
    """pool[slots[t]] = k[t], v[t]. One program a token; ROW = KV heads x head_dim."""
    token = tl.program_id(0)
    slot = tl.load(slots_ptr + token).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < ROW
    source = token.to(tl.int64) * ROW + column
    tl.store(k_pool_ptr + slot * ROW + column, tl.load(k_ptr + source, mask=inside), mask=inside)
    tl.store(v_pool_ptr + slot * ROW + column, tl.load(v_ptr + source, mask=inside), mask=inside)


@triton.jit
def decode_kernel(
    q_ptr,
    k_pool_ptr,
    v_pool_ptr,
    tables_ptr,
    lengths_ptr,
    out_ptr,
    part_ptr,
    part_max_ptr,
    part_sum_ptr,
    scale,
    table_width,
    KV_HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    PAGE_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    PARTS: tl.constexpr,
    EXACT: tl.constexpr,
):
    """One program for (request, KV head, part of its context): the GROUP query heads read each K and V once.

    q, out: [requests, KV_HEADS x GROUP, HEAD_DIM]; pools: [pages, PAGE_SIZE, KV_HEADS, HEAD_DIM]
    tables: [requests, table_width] page ids; lengths: [requests] KV tokens, 0 for a padded slot
    ROWS:   GROUP, filled up to the least that a matrix unit takes
    PARTS:  1 writes to out; more write to part*, for `combine_kernel`
    EXACT:  products in full float32, not in TF32 nor in the format of K and V
    """
    request = tl.program_id(0)
    kv_head = tl.program_id(1)
    part = tl.program_id(2)
    length = tl.load(lengths_ptr + request)
    row = tl.arange(0, ROWS)
    dim = tl.arange(0, HEAD_DIM)
    in_tile = tl.arange(0, TILE)
    head = kv_head * GROUP + row
    real = row < GROUP
    at = (request * KV_HEADS * GROUP + head)[:, None] * HEAD_DIM + dim[None, :]
    q = tl.load(q_ptr + at, mask=real[:, None], other=0.0)

    tiles = tl.cdiv(length, TILE)
    tiles_a_part = tl.cdiv(tiles, PARTS)
    first = part * tiles_a_part
    last = tl.minimum(first + tiles_a_part, tiles)
    highest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, HEAD_DIM], tl.float32)
    for tile in range(first, last):
        token = tile * TILE + in_tile
        live = token < length
        page = tl.load(tables_ptr + request * table_width + token // PAGE_SIZE, mask=live, other=0).to(tl.int64)
        slot = page * PAGE_SIZE + token % PAGE_SIZE
        stored = (slot * KV_HEADS + kv_head)[:, None] * HEAD_DIM + dim[None, :]
        k = tl.load(k_pool_ptr + stored, mask=live[:, None], other=0.0)
        if EXACT:
            score = tl.dot(q.to(tl.float32), tl.trans(k.to(tl.float32)), input_precision="ieee") * scale
        else:
            score = tl.dot(q, tl.trans(k)) * scale
        score = tl.where(live[None, :], score, float("-inf"))
        higher = tl.maximum(highest, tl.max(score, axis=1))
        shrink = tl.exp(highest - higher)
        weight = tl.exp(score - higher[:, None])
        v = tl.load(v_pool_ptr + stored, mask=live[:, None], other=0.0)
        if EXACT:  # noqa: SIM108 - the two are compiled apart
            gained = tl.dot(weight, v.to(tl.float32), input_precision="ieee")
        else:
            gained = tl.dot(weight.to(v.dtype), v)
        total = total * shrink + tl.sum(weight, axis=1)
        mixed = mixed * shrink[:, None] + gained
        highest = higher
    if PARTS == 1:
        # A padded slot has no token: its total is 0, and what it gives is 0, not 0 / 0.
        result = mixed / tl.where(total > 0.0, total, 1.0)[:, None]
        tl.store(out_ptr + at, result.to(out_ptr.dtype.element_ty), mask=real[:, None])
    else:
        place = (request * KV_HEADS * GROUP + head) * PARTS + part
        tl.store(part_max_ptr + place, highest, mask=real)
        tl.store(part_sum_ptr + place, total, mask=real)
        tl.store(part_ptr + place[:, None] * HEAD_DIM + dim[None, :], mixed, mask=real[:, None])


@triton.jit
def combine_kernel(
    part_ptr, part_max_ptr, part_sum_ptr, out_ptr, HEAD_DIM: tl.constexpr, PARTS: tl.constexpr, SLOTS: tl.constexpr
):
    """Bring the parts of one (request, query head) together. SLOTS: PARTS, rounded up to a power of two."""
    row = tl.program_id(0)
    part = tl.arange(0, SLOTS)
    dim = tl.arange(0, HEAD_DIM)
    there = part < PARTS
    highest = tl.load(part_max_ptr + row * PARTS + part, mask=there, other=float("-inf"))
    total = tl.load(part_sum_ptr + row * PARTS + part, mask=there, other=0.0)
    # A part without tokens has -inf for its highest score; so has every part of a padded slot.
    highest = tl.where(total > 0.0, highest, -1e30)
    top = tl.max(highest, axis=0)
    weight = tl.where(total > 0.0, tl.exp(highest - top), 0.0)
    mixed = tl.load(
        part_ptr + (row * PARTS + part)[:, None] * HEAD_DIM + dim[None, :],
        mask=(there & (total > 0.0))[:, None],
        other=0.0,
    )
    whole = tl.sum(weight * total, axis=0)
    result = tl.sum(weight[:, None] * mixed, axis=0) / tl.where(whole > 0.0, whole, 1.0)
    tl.store(out_ptr + row * HEAD_DIM + dim, result.to(out_ptr.dtype.element_ty))
