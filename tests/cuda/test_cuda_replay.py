"""Whole replays on the device: verified, and seen to fail when something is wrong with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from plainly import attend, error, numpy64

from lab.cuda import child
from lab.cuda import measure as measure_module
from lab.cuda.attention import PagedOps
from lab.cuda.detect import Status
from lab.cuda.job import CPU, Settings, make_job
from lab.cuda.layers import Layers
from lab.cuda.measure import measure
from lab.cuda.plan import Plan, Step, make_plan, plans_of
from lab.cuda.pool import KVPool
from lab.cuda.reference import TOLERANCE, attention64, relative_error
from lab.cuda.replayer import Replayer
from lab.cuda.running import Running
from lab.cuda.shapes import SHAPES
from lab.cuda.verify import verify
from lab.formats.trace_json import read_trace
from lab.measurement.saved import dump_measurement, parse_measurement
from lab.replay import run
from lab.workload import Limits, Request, Trace

COURSE = Path(__file__).parents[2] / "traces" / "course.json"
TINY = SHAPES["tiny"]


def small_plan(policy: str = "continuous", **limits) -> Plan:
    """Five requests that cross page boundaries, on a pool that is too small for all of them: two are preempted."""
    requests = [("a", 0, 15, 4), ("b", 0, 16, 6), ("c", 0, 17, 3), ("d", 1, 1, 9), ("e", 2, 31, 2)]
    own = Limits(**{"max_num_seqs": 3, "num_pages": 5, "page_size": 16, **limits})
    trace = Trace("small", own, tuple(Request(*request) for request in requests))
    return make_plan(policy, run(trace, own, [policy]).policies[policy].records, own)


def replayer_of(plan: Plan, ops: PagedOps, device: torch.device, dtype: torch.dtype = torch.float32, layers: int = 1):
    return Replayer(plan, Layers(TINY, layers, dtype, device, 0, ops), 1)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("policy", ["static", "continuous"])
def test_a_small_replay_by_the_kernels(ops, device, policy, dtype):
    with torch.inference_mode():
        found = verify(replayer_of(small_plan(policy), ops, device, getattr(torch, dtype)), TOLERANCE[dtype])
    assert found.passed, found
    assert 0 < found.worst_error < TOLERANCE[dtype]


def test_chunked_prefill_by_the_kernels(ops, device):
    plan = small_plan(max_num_batched_tokens=8, chunked_prefill=True)
    assert any(work.position for step in plan.steps for work in step.prefills)
    assert any(step.prefills and step.decodes for step in plan.steps)
    with torch.inference_mode():
        found = verify(replayer_of(plan, ops, device), TOLERANCE["float32"])
    assert found.passed, found


@pytest.mark.parametrize("num_pages", [32, 14])
def test_the_course_trace_is_compared_in_full(device, num_pages):
    trace = read_trace(COURSE)
    trace = replace(trace, limits=replace(trace.limits, num_pages=num_pages))
    with torch.inference_mode():
        for plan in plans_of(trace, ["static", "continuous"]).values():
            found = verify(replayer_of(plan, PagedOps(), device, layers=2), TOLERANCE["float32"])
            assert found.passed, found
            assert found.checked == 2 * sum(len(step.decodes) + len(step.prefills) for step in plan.steps)


def test_a_batch_that_is_padded_for_its_graph(ops, device):
    requests = tuple(Request(f"r{n}", 0, 2 + n, 3) for n in range(9))
    limits = Limits(9, 32, 4)
    plan = make_plan(
        "continuous",
        run(Trace("nine", limits, requests), limits, ["continuous"]).policies["continuous"].records,
        limits,
    )
    with torch.inference_mode():
        replayer = replayer_of(plan, ops, device)
        found = verify(replayer, TOLERANCE["float32"])
        assert found.passed, found
        assert max(prepared.captured()[0][0].shape[0] for prepared in replayer.steps[1:]) == 16


class Wrong(PagedOps):
    """PyTorch's ops with one mistake."""

    def __init__(self, mistake: str) -> None:
        self.mistake = mistake
        self.first_tables: dict[int, torch.Tensor] = {}

    def append(self, k, v, k_pool, v_pool, slots):
        if self.mistake == "appends one slot late":
            slots = slots + 1
        if self.mistake == "forgets V":
            v = torch.zeros_like(v)
        super().append(k, v, k_pool, v_pool, slots)

    def decode(self, q, k_pool, v_pool, tables, lengths, out, workspace):
        if self.mistake == "ignores the table":
            tables = torch.arange(tables.shape[1], device=tables.device, dtype=tables.dtype).expand_as(tables)
        if self.mistake == "one token short":
            lengths = (lengths - 1).clamp_min(1)
        if self.mistake == "one token long":
            lengths = lengths + 1
        if self.mistake == "keeps the first tables":
            tables = self.first_tables.setdefault(tables.shape[0], tables.clone())
        if self.mistake == "swaps two requests":
            tables = tables.roll(1, 0)
        if self.mistake == "fills padding":
            super().decode(q, k_pool, v_pool, tables, lengths, out, workspace)
            return out.masked_fill_((lengths == 0)[:, None, None], 1)
        return super().decode(q, k_pool, v_pool, tables, lengths, out, workspace)


@pytest.mark.parametrize(
    "mistake",
    [
        "appends one slot late",
        "forgets V",
        "ignores the table",
        "one token short",
        "one token long",
        "keeps the first tables",
        "swaps two requests",
    ],
)
def test_a_replay_that(mistake):
    with torch.inference_mode():
        found = verify(replayer_of(small_plan(), Wrong(mistake), torch.device("cpu")), TOLERANCE["float32"])
    assert not found.passed
    assert found.worst_at.startswith("continuous, iteration ")


def test_a_padded_slot_that_is_not_zero_is_found():
    requests = tuple(Request(f"r{n}", 0, 2, 3) for n in range(9))
    limits = Limits(9, 32, 4)
    plan = make_plan(
        "continuous",
        run(Trace("nine", limits, requests), limits, ["continuous"]).policies["continuous"].records,
        limits,
    )
    with torch.inference_mode():
        found = verify(replayer_of(plan, Wrong("fills padding"), torch.device("cpu")), TOLERANCE["float32"])
    assert not found.passed
    assert "a padded slot" in found.worst_at


def test_a_page_that_is_read_after_it_was_given_back_is_found():
    plan = small_plan()
    replayer = replayer_of(plan, PagedOps(), torch.device("cpu"))
    lengths = []
    for step in plan.steps:  # what a table of another residency would give: pages that somebody else held before
        if step.stale:
            lengths.append(len(step.stale))
            replayer.pool.k[0].fill_(1.0)
            replayer.poison(step)
            assert replayer.pool.k[0][list(step.stale)].isnan().all()
            others = [page for page in range(plan.num_pages) if page not in step.stale]
            assert (replayer.pool.k[0][others] == 1).all()
    assert lengths


def test_nothing_compared_is_nothing_verified(device):
    empty = Plan("static", 4, 16, ())
    assert not verify(replayer_of(empty, PagedOps(), device), 1.0).passed


def test_a_whole_layer_against_numpy(device):
    """RMSNorm, projections, attention, and the gated MLP, written out a second time in float64."""
    layers = Layers(TINY, 2, torch.float32, device, 3, PagedOps())
    plan = Plan("static", 4, 16, ())
    replayer = Replayer(plan, layers, 1)
    from lab.cuda.plan import Work

    step = Step(1, (), (Work("a", 0, 20, (2, 0)),), ())
    x = torch.randn(20, TINY.hidden, device=device)
    got = numpy64(layers.forward(x, replayer._batch(step, 0), replayer.pool))
    h = numpy64(x)
    norm = lambda a: a / np.sqrt((a * a).mean(-1, keepdims=True) + np.finfo(np.float32).eps)  # noqa: E731
    for layer in range(2):
        joint = norm(h) @ numpy64(layers.qkv[layer])
        q, k, v = np.split(joint, [4 * 16, 4 * 16 + 2 * 16], axis=1)
        q, k, v = q.reshape(20, 4, 16), k.reshape(20, 2, 16), v.reshape(20, 2, 16)
        mixed = np.stack([attend(q[t], k[: t + 1], v[: t + 1]) for t in range(20)]).reshape(20, -1)
        h = h + mixed @ numpy64(layers.out[layer])
        gate, up = np.split(norm(h) @ numpy64(layers.gate_up[layer]), 2, axis=1)
        h = h + (gate / (1 + np.exp(-gate)) * up) @ numpy64(layers.down[layer])
    assert error(got, h) < 1e-4


def test_the_references_agree_and_errors_are_seen():
    q, k, v = torch.randn(3, 4, 16), torch.randn(9, 2, 16), torch.randn(9, 2, 16)
    expected = np.stack([attend(numpy64(q[i]), numpy64(k[: 7 + i]), numpy64(v[: 7 + i])) for i in range(3)])
    ours = attention64(q, k, v)
    assert error(numpy64(ours), expected) < 1e-12
    assert relative_error(ours, ours) == 0
    assert relative_error(ours * 1.5, ours) == pytest.approx(0.5)
    broken = ours.clone()
    broken[1, 2, 3] = float("nan")
    assert relative_error(broken, ours) == float("inf")


def test_the_pool_is_poisoned_and_its_scratch_page_is_nobodys():
    pool = KVPool(2, 4, 16, 2, 16, torch.float16, "cpu")
    assert all(tensor.shape == (5, 16, 2, 16) and tensor.isnan().all() for tensor in (*pool.k, *pool.v))
    assert (pool.scratch_page, pool.scratch_slot) == (4, 64)
    pool.k[0].zero_()
    pool.poison([])
    assert (pool.k[0] == 0).all()


def test_inputs_differ_from_one_iteration_to_the_next(device):
    replayer = replayer_of(small_plan(), PagedOps(), device)
    first, second = replayer.plan.steps[3:5]
    assert not torch.equal(replayer.input_of(first)[:1], replayer.input_of(second)[:1])
    assert torch.equal(replayer.input_of(first), replayer.input_of(first))


def course_settings(device: torch.device, **changes) -> Settings:
    where = {"device": 0} if device.type == "cuda" else {"device": CPU, "repeats": 2}
    return Settings(**{**where, "shape": "tiny", "layers": 2, "dtype": "float32", "warmup": 1, **changes})


def test_a_whole_measurement(device):
    events = []
    job = make_job(read_trace(COURSE), settings=course_settings(device))
    made = measure(job, events.append)
    assert parse_measurement(dump_measurement(made)) == made
    assert {name: len(policy["iterations"]) for name, policy in made["policies"].items()} == {
        "static": 116,
        "continuous": 82,
    }
    assert all(found["passed"] for found in made["verification"].values())
    assert all(row["verified"] for row in [*made["kernel"], *made["batch"]["rows"]])
    modes = {row["mode"] for policy in made["policies"].values() for row in policy["iterations"]}
    assert modes == ({"graph", "eager"} if device.type == "cuda" else {"eager"})
    if device.type == "cpu":
        assert made["invalid_because"] == ["It ran on a CPU: its times say nothing about a GPU."]
    stages = [event["stage"] for event in events if event["event"] == "progress"]
    assert list(dict.fromkeys(stages)) == [
        "verify static",
        "time static",
        "verify continuous",
        "time continuous",
        "kernel against contiguous",
        "step cost by batch size",
    ]
    assert all(event["done"] <= event["of"] for event in events if event["event"] == "progress")


def test_what_fails_verification_is_not_timed():
    job = make_job(read_trace(COURSE), settings=course_settings(torch.device("cpu"), compare=True))
    made = measure(job, lambda event: None, Wrong("one token short"))
    assert not made["valid"]
    assert made["policies"] == {} and made["kernel"] is None and made["batch"] is None
    assert "static differs from float64 attention" in " ".join(made["invalid_because"])
    assert parse_measurement(dump_measurement(made)) == made


def test_the_real_child_hands_a_measurement_over(device):
    trace = Trace("two", Limits(2, 8, 4), (Request("a", 0, 5, 3), Request("b", 0, 4, 4)))
    running = Running(make_job(trace, settings=course_settings(device, compare=False)), 240)
    stages = [event.get("stage") for event in running.events()]
    assert running.ending.outcome == "done", running.ending
    assert "verify static" in stages
    assert json.loads(dump_measurement(running.ending.measurement))["trace"]["name"] == "two"


def test_a_gpu_never_gets_the_interpreter(monkeypatch):
    """Whoever ran these tests on a CPU may have it set still."""
    seen = []
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(child.detect, "detect", lambda ask_memory: Status(True, None, "There.", ({"name": "GPU"},)))
    monkeypatch.setattr(measure_module, "measure", lambda job, tell: seen.append(os.environ.get("TRITON_INTERPRET")))
    child.run(make_job(read_trace(COURSE)), seen.append)
    assert seen == [None]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="asks a GPU; without one, tests/cuda_plain has the refusal")
def test_a_gpu_that_is_too_small_is_said_before_anything_runs():
    trace = Trace("huge", Limits(2, 2**31, 16), (Request("a", 0, 5, 3),))
    running = Running(make_job(trace, settings=Settings(shape="tiny", layers=1)), 240)
    list(running.events())
    assert running.ending.outcome == "device"
    assert "is too small or too full: the replay needs" in running.ending.message


def test_the_script_that_proves_the_backend_can_be_rehearsed_without_a_gpu(tmp_path):
    out = tmp_path / "measurement.json"
    script = Path(__file__).parents[2] / "lab" / "cuda" / "prove.py"
    command = [sys.executable, str(script), "--rehearse", "--skip-tests", "--out", str(out)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 1, done.stderr  # a measurement on a CPU is not valid
    assert "the tests were not run" in done.stdout
    assert "static agrees with float64 attention" in done.stdout
    assert parse_measurement(out.read_bytes())["device"]["kind"] == "cpu"
