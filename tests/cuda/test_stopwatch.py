"""In which order the GPU is given things to do and marks: seen with a device that only writes down what it gets."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from test_cuda_replay import COURSE, course_settings, replayer_of, small_plan

from lab.cuda import measure as measure_module
from lab.cuda import stopwatch
from lab.cuda.attention import PagedOps, Workspace
from lab.cuda.job import make_job
from lab.cuda.layers import Batch, Layers
from lab.cuda.pool import KVPool
from lab.cuda.shapes import SHAPES
from lab.cuda.stopwatch import SETTLE_SECONDS, Stopwatch, bandwidth, flush, settle, timed
from lab.formats.trace_json import read_trace

GPU = torch.device("cuda", 0)
CPU = torch.device("cpu")


@pytest.fixture
def given(monkeypatch):
    """What the GPU is given, in order; every two marks are 2 ms apart."""
    order: list[str] = []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            order.append("mark")

        def elapsed_time(self, other):
            return 2.0

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: order.append(f"wait {cycles}"))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: order.append("read"))
    return order


def test_a_step_that_python_launches_is_launched_while_the_gpu_waits(given):
    watch = Stopwatch(GPU)
    watch.time(lambda: given.append("graph"))
    watch.time(lambda: given.append("eager"), 1.5)
    assert watch.read() == [2.0, 2.0]
    assert given == ["mark", "graph", "mark", "wait 3000000", "mark", "eager", "mark", "read"]


def test_the_cache_is_emptied_before_each_run_and_outside_the_marks(given):
    took = timed(GPU, lambda: given.append("work"), 1, 2, lambda: given.append("flush"))
    assert took.median == 2.0
    assert given == ["work", "read", *["flush", "mark", "work", "mark"] * 2, "read"]


def test_what_empties_a_cache_reads_several_times_as_much(monkeypatch):
    sizes = []
    monkeypatch.setattr(torch, "ones", lambda count, device: sizes.append(4 * count) or torch.zeros(1))
    assert flush(GPU, 50 * 2**20)() == 0
    flush(GPU, 126 * 2**20)
    assert sizes == [2**28, 4 * 126 * 2**20]
    assert flush(CPU, 0) is None


def test_clocks_go_up_before_the_bandwidth_is_measured(given, monkeypatch):
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now.__setitem__(0, now[0] + 0.1) or now[0])
    monkeypatch.setattr(stopwatch, "time", clock)
    make = torch.ones
    monkeypatch.setattr(torch, "ones", lambda count, device: make(count))
    found = bandwidth(GPU, 2**10, 3)
    assert found["read_bytes_per_s"] == pytest.approx(2**10 / 2e-3)
    assert found["copy_bytes_per_s"] == found["bytes_per_s"] == pytest.approx(2 * 2**10 / 2e-3)
    assert now[0] > SETTLE_SECONDS
    assert given.index("mark") > 1  # it had worked, and was waited for, more than once


def test_a_cpu_needs_not_settle():
    settle(CPU, lambda: pytest.fail("worked"))


def test_the_more_python_has_to_launch_the_longer_the_gpu_waits_for_it(device, monkeypatch):
    replayer = replayer_of(small_plan(), PagedOps(), device, layers=2)
    leads = {len(prepared.step.prefills): prepared.lead_ms for prepared in replayer.steps}
    assert leads[0] == 0 < leads[1] < leads[3] < 10
    told = []
    monkeypatch.setattr(measure_module.Stopwatch, "time", lambda self, work, lead_ms: told.append(lead_ms))
    measure_module._timed(replayer, make_job(read_trace(COURSE), settings=course_settings(device)), lambda: None)
    assert told[: len(replayer.steps)] == [prepared.lead_ms for prepared in replayer.steps]


def test_a_step_of_decodes_looks_at_no_value():
    """A graph cannot hold a step that waits for one: on the device `meta`, which has none, looking fails."""
    nowhere = torch.device("meta")
    layers = Layers(SHAPES["tiny"], 2, torch.bfloat16, torch.device("cpu"), 0, PagedOps())
    for weights in (layers.qkv, layers.out, layers.gate_up, layers.down):
        weights[:] = [matrix.to(nowhere) for matrix in weights]
    pool = KVPool(2, 8, 16, 2, 16, torch.bfloat16, nowhere)
    whole = {"dtype": torch.int32, "device": nowhere}
    slots = torch.zeros(3, dtype=torch.int64, device=nowhere)
    workspace = Workspace.of(3, 4, 16, 1, nowhere)
    batch = Batch(slots, torch.zeros(3, 4, **whole), torch.zeros(3, **whole), workspace, [])
    x = torch.zeros(3, SHAPES["tiny"].hidden, dtype=torch.bfloat16, device=nowhere)
    assert layers.forward(x, batch, pool).shape == x.shape
