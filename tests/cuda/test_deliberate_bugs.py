"""Kernels with one mistake each: the comparison that passes for the right kernel must fail for each of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch
from paged_case import BOUND, paged_case
from test_kernels import worst

from lab.cuda import kernels
from lab.cuda.attention import TritonOps

PAGE = "page = tl.load("
BUGS = {
    "ignores the block table": (
        "        slot = page * PAGE_SIZE",
        "        page = (token // PAGE_SIZE).to(tl.int64)\n        slot = page * PAGE_SIZE",
    ),
    "one token too few": (
        "    length = tl.load(lengths_ptr + request)",
        "    length = tl.load(lengths_ptr + request) - 1",
    ),
    "one token too many": (
        "    length = tl.load(lengths_ptr + request)",
        "    length = tl.load(lengths_ptr + request) + 1",
    ),
    "the page of the token before": ("+ token // PAGE_SIZE", "+ tl.maximum(token - 1, 0) // PAGE_SIZE"),
    "the next request's table": ("tables_ptr + request * table_width", "tables_ptr + (request ^ 1) * table_width"),
    "a stale last page": (
        "+ token // PAGE_SIZE",
        "+ tl.minimum(token // PAGE_SIZE, tl.maximum((length - 1) // PAGE_SIZE - 1, 0))",
    ),
    "no scale": (
        'tl.trans(k.to(tl.float32)), input_precision="ieee") * scale',
        'tl.trans(k.to(tl.float32)), input_precision="ieee")',
    ),
    "the wrong KV head": ("(slot * KV_HEADS + kv_head)", "(slot * KV_HEADS + (kv_head + 1) % KV_HEADS)"),
    "sums not rescaled": ("total = total * shrink +", "total = total +"),
    "a part left out": ("whole = tl.sum(weight * total", "whole = tl.sum(tl.where(part == 1, 0.0, weight) * total"),
    "append to the slot before": (
        "slot = tl.load(slots_ptr + token).to(tl.int64)",
        "slot = tl.maximum(tl.load(slots_ptr + token).to(tl.int64) - 1, 0)",
    ),
    "append K twice": ("tl.load(v_ptr + source", "tl.load(k_ptr + source"),
    "half a row appended": ("inside = column < ROW", "inside = column < ROW // 2"),
}
LENGTHS = [16, 15, 1, 17, 130, 33]


def kernels_with(bug: str, folder: Path):
    right, wrong = BUGS[bug]
    source = Path(kernels.__file__).read_text("utf-8")
    assert source.count(right) >= 1, f"the kernel no longer has {right!r}"
    path = folder / "kernels_with_a_bug.py"
    path.write_text(source.replace(right, wrong), "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("bug", BUGS)
def test_a_kernel_that(bug, tmp_path, device):
    case = paged_case(TritonOps(kernels_with(bug, tmp_path)), device, LENGTHS)
    assert not max(worst(case, case.decode(parts)) for parts in (1, 2)) < 1000 * BOUND[torch.float32]


def test_the_kernel_without_a_mistake_passes_the_same(ops, device):
    case = paged_case(ops, device, LENGTHS)
    assert max(worst(case, case.decode(parts)) for parts in (1, 2)) < BOUND[torch.float32]
