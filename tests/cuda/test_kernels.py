"""The kernels against float64 numpy, at the places where addressing goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from paged_case import BOUND, paged_case
from plainly import attend, error, numpy64

from lab.cuda.attention import TILE, PagedOps, Workspace, gather, parts_for, prefill

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
EDGES = [1, 15, 16, 17]


def worst(case, out) -> float:
    """The largest error over all requests; a padded slot must give exactly 0."""
    found = 0.0
    for request, length in enumerate(case.lengths.tolist()):
        got = numpy64(out[request])
        if length == 0:
            assert (got == 0).all()
        else:
            expected = attend(numpy64(case.q[request]), numpy64(case.keys[request]), numpy64(case.values[request]))
            found = max(found, error(got, expected))
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("parts", [1, 4])
def test_lengths_around_a_page_a_padded_slot_and_shuffled_tables(ops, device, dtype, parts):
    case = paged_case(ops, device, [*EDGES, 0, TILE, TILE + 1, 2 * TILE + 3], dtype)
    assert worst(case, case.decode(parts)) < BOUND[dtype]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pytorch_gives_the_same(device, dtype):
    case = paged_case(PagedOps(), device, [*EDGES, 0, 131], dtype)
    assert worst(case, case.decode()) < BOUND[dtype]


@pytest.mark.parametrize(("heads", "kv_heads"), [(2, 2), (4, 1), (6, 2), (17, 1)])
def test_heads_that_share_keys_and_values(ops, device, heads, kv_heads):
    case = paged_case(ops, device, [17, 5], heads=heads, kv_heads=kv_heads)
    assert worst(case, case.decode()) < BOUND[torch.float32]


@pytest.mark.parametrize("page_size", [1, 7, 16, 128])
def test_any_page_size(ops, device, page_size):
    case = paged_case(ops, device, [1, page_size, page_size + 1, TILE + 2], page_size=page_size)
    assert worst(case, case.decode(2)) < BOUND[torch.float32]


def test_a_wider_head(ops, device):
    case = paged_case(ops, device, [33], head_dim=128)
    assert worst(case, case.decode()) < BOUND[torch.float32]


def test_scores_far_from_zero_do_not_overflow(ops, device):
    case = paged_case(ops, device, [70])
    case.q *= 300
    assert worst(case, case.decode(2)) < 1e-3


def test_append_writes_its_slots_and_nothing_else(ops, device):
    case = paged_case(ops, device, [5])
    before = case.pool.k[0].clone()
    k, v = torch.ones(2, 2, 16, device=device), torch.full((2, 2, 16), 2.0, device=device)
    free = sorted(set(range(case.pool.num_pages)) - set(case.tables[0, :1].tolist()))[0]
    slots = torch.tensor([free * 16 + 3, case.pool.scratch_slot], device=device)
    ops.append(k, v, case.pool.k[0], case.pool.v[0], slots)
    changed = (case.pool.k[0].nan_to_num(-7) != before.nan_to_num(-7)).any(-1).any(-1).nonzero().tolist()
    assert changed == [[free, 3], [case.pool.scratch_page, 0]]
    assert (case.pool.v[0][free, 3] == 2).all()


def test_what_is_not_contiguous_is_refused(ops, device):
    case = paged_case(ops, device, [5])
    joint = torch.randn(1, 4, 16, device=device)
    k, v = joint.split(2, dim=1)
    slots = torch.zeros(1, dtype=torch.int64, device=device)
    ops.append(k, v, case.pool.k[0], case.pool.v[0], slots)  # one token: still in one piece
    k, v = torch.randn(2, 4, 16, device=device).split(2, dim=1)
    with pytest.raises(ValueError, match="k is not contiguous"):
        ops.append(k, v, case.pool.k[0], case.pool.v[0], slots.repeat(2))
    case.q = case.q.transpose(0, 1).contiguous().transpose(0, 1).expand(2, 4, 16)
    with pytest.raises(ValueError, match="q is not contiguous"):
        case.decode()


def test_a_head_that_no_matrix_unit_takes_is_refused(ops, device):
    with pytest.raises(ValueError, match="power of two from 16, not 24"):
        paged_case(ops, device, [5], head_dim=24).decode()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("position", "chunk"), [(0, 1), (0, 17), (5, 1), (15, 2), (16, 16), (3, 30)])
def test_a_chunk_attends_to_what_is_before_it_and_to_itself(device, dtype, position, chunk):
    case = paged_case(PagedOps(), device, [position + chunk], dtype)
    q = torch.randn(chunk, 4, 16).to(device, dtype)
    stored = gather(case.pool.k[0], case.pool.v[0], case.tables[0].long(), position + chunk)
    out = numpy64(prefill(q, *stored))
    keys, values = numpy64(case.keys[0]), numpy64(case.values[0])
    for at in range(chunk):
        seen = position + at + 1
        assert error(out[at], attend(numpy64(q[at]), keys[:seen], values[:seen])) < BOUND[dtype]


@pytest.mark.parametrize("chunk", [1, 3, 9])
def test_no_plan_is_made_for_each_length_of_a_prompt(monkeypatch, chunk):
    """As cuDNN's attention does, which PyTorch would take first on Hopper."""
    asked = []
    attention = torch.nn.functional.scaled_dot_product_attention

    def watched(*given, **more):
        asked.append((torch.backends.cuda.cudnn_sdp_enabled(), torch.backends.cuda.flash_sdp_enabled()))
        return attention(*given, **more)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
    prefill(torch.randn(chunk, 4, 16), torch.randn(9, 2, 16), torch.randn(9, 2, 16))
    assert asked == [(False, True)]
    assert torch.backends.cuda.cudnn_sdp_enabled()  # for whoever comes after


def test_long_contexts_are_shared_out_and_short_ones_are_not():
    assert [parts_for(3, 8, length) for length in (1, TILE, TILE + 1, 4 * TILE)] == [1, 1, 2, 4]
    assert parts_for(1, 8, 65536) == 64
    assert parts_for(256, 8, 65536) == 1
    assert all(
        parts_for(n, 8, length) & (parts_for(n, 8, length) - 1) == 0 for n in (1, 3, 9) for length in (1, 99, 5000)
    )


def test_one_part_needs_no_room():
    assert Workspace.of(4, 32, 128, 1, "cpu").part.shape[0] == 1
    assert Workspace.of(4, 32, 128, 8, "cpu").part.shape == (1024, 128)


def test_the_kernels_compile_for_sm_90_without_a_gpu(tmp_path):
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "TRITON_CACHE_DIR": str(tmp_path)}
    environment.pop("TRITON_INTERPRET", None)
    script = str(Path(__file__).with_name("compile_sm90.py"))
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert len(report) == 12
    assert all(made["cubin"] > 1000 for made in report.values())
    assert all(made["shared"] <= 227 * 1024 for made in report.values())  # what one block may have on sm_90
    assert all(made["matrix_units"] for name, made in report.items() if name.startswith(("decode bf16", "decode fp16")))
    assert all(made["fetches_ahead"] for name, made in report.items() if name.startswith("decode"))
