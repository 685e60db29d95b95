"""The decode kernel beside PyTorch's attention: what is compared with what, and when."""

from __future__ import annotations

import pytest
import torch
from plainly import attend, error, numpy64
from test_cuda_replay import Wrong

from lab.cuda import compare, contiguous
from lab.cuda.attention import PagedOps
from lab.cuda.job import CPU, Settings
from lab.cuda.layers import Layers
from lab.cuda.reference import TOLERANCE
from lab.cuda.shapes import SHAPES

ON_CPU = Settings(device=CPU, shape="tiny", layers=1, dtype="float32", warmup=1, repeats=3)


def rows(monkeypatch, before=None):
    monkeypatch.setattr(compare, "flush", lambda device, cache_bytes: before)
    layers = Layers(SHAPES["tiny"], 1, torch.float32, torch.device("cpu"), 0, PagedOps())
    with torch.inference_mode():
        return compare.kernel_cases(layers, 1e9, 0, TOLERANCE["float32"], ON_CPU, lambda name, of: lambda: None)


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (4, 4)])
def test_every_way_of_pytorch_attends_to_the_same(device, heads, kv_heads):
    q = torch.randn(3, heads, 16, device=device)
    k, v = (torch.randn(3, 21, kv_heads, 16, device=device) for _ in range(2))
    found = contiguous.ways(q, k, v)
    assert found and all(name.endswith((", grouped heads", ", a group as queries")) for name in found)
    for way in found.values():
        out = numpy64(way()).reshape(3, heads, 16)
        assert max(error(out[i], attend(numpy64(q[i]), numpy64(k[i]), numpy64(v[i]))) for i in range(3)) < 2e-5


def test_plain_products_are_compared_with_only_where_nothing_better_works(monkeypatch):
    q, k = torch.randn(1, 4, 16), torch.randn(1, 5, 2, 16)
    assert not any(name.startswith("math") for name in contiguous.ways(q, k, k))
    monkeypatch.setattr(contiguous, "FUSED", (contiguous.SDPBackend.CUDNN_ATTENTION,))
    k = k.double()  # which cuDNN takes nowhere
    assert list(contiguous.ways(q.double(), k, k)) == ["math, grouped heads", "math, a group as queries"]


def test_k_and_v_are_out_of_the_cache_before_each_run(monkeypatch):
    flushed = []
    found = rows(monkeypatch, lambda: flushed.append(True))
    assert [row["in_cache"] for row in found] == [False, False]
    ways = len(contiguous.ways(torch.randn(1, 4, 16), *[torch.randn(1, 5, 2, 16)] * 2))
    assert len(flushed) == len(found) * (1 + ways) * ON_CPU.repeats
    assert [row["in_cache"] for row in rows(monkeypatch)] == [True, True]


def test_a_way_of_pytorch_that_is_wrong_is_not_compared_with(monkeypatch):
    right = contiguous.ways

    def some_wrong(q, k, v):
        return {"wrong": lambda: torch.zeros_like(q), **right(q, k, v)}

    monkeypatch.setattr(compare.contiguous, "ways", some_wrong)
    assert all(row["verified"] and row["contiguous_by"] != "wrong" for row in rows(monkeypatch))
    monkeypatch.setattr(compare.contiguous, "ways", lambda q, k, v: {"wrong": lambda: torch.zeros_like(q)})
    assert not any(row["verified"] for row in rows(monkeypatch))


@pytest.mark.parametrize(("mistake", "right"), [("none", True), ("one token short", False)])
def test_a_token_that_is_left_out_shows_in_a_long_context_too(mistake, right):
    layers = Layers(SHAPES["tiny"], 1, torch.bfloat16, torch.device("cpu"), 0, Wrong(mistake))
    with torch.inference_mode():
        row = compare._kernel_case(layers, 1, 65536, 1e9, None, TOLERANCE["bfloat16"], ON_CPU)
    assert row["verified"] is right
    assert row["worst_error"] < 2


def test_a_way_of_pytorch_that_cannot_be_recorded_is_left_out(monkeypatch):
    record = compare.recorded
    refused = []

    def picky(device, work):
        if hasattr(work, "keywords") and not refused:  # a way of PyTorch is a partial, the paged kernel a function
            refused.append(work)
            raise RuntimeError("operation not permitted when stream is capturing")
        return record(device, work)

    monkeypatch.setattr(compare, "recorded", picky)
    assert len(rows(monkeypatch)) == 2 and len(refused) == 1

    def never(device, work):
        if hasattr(work, "keywords"):
            raise RuntimeError("operation not permitted when stream is capturing")
        return record(device, work)

    monkeypatch.setattr(compare, "recorded", never)
    with pytest.raises(RuntimeError, match="none of PyTorch's attention kernels could be timed"):
        rows(monkeypatch)


def test_a_case_that_does_not_fit_after_all_is_left_out(monkeypatch):
    case = compare._kernel_case

    def full(layers, requests, *rest):
        if requests == 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return case(layers, requests, *rest)

    monkeypatch.setattr(compare, "_kernel_case", full)
    assert [row["requests"] for row in rows(monkeypatch)] == [3]
