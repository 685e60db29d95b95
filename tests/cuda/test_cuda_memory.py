"""What a replay keeps on the device at once: not more than `lab.cuda.memory` reckons with."""

from __future__ import annotations

import weakref

import torch
from test_cuda_replay import course_settings, replayer_of, small_plan

from lab.cuda import measure as measure_module
from lab.cuda import verify as verify_module
from lab.cuda.attention import PagedOps
from lab.cuda.job import make_job
from lab.cuda.measure import measure
from lab.cuda.reference import TOLERANCE
from lab.cuda.replayer import Replayer
from lab.cuda.verify import verify
from lab.workload import Limits, Request, Trace


def test_a_request_that_has_gone_is_forgotten(device, monkeypatch):
    """Else a long trace would need memory for all that it ever stored, and not for what its pool holds."""
    histories, most = [], [0]

    class Watched(verify_module.History):
        def __init__(self, layers):
            super().__init__(layers)
            histories.append(self)

    def watch():
        kept = histories[0]._kept.values()
        most[0] = max(most[0], sum(layer[0].shape[0] for layers in kept for layer in layers))

    monkeypatch.setattr(verify_module, "History", Watched)
    plan = small_plan()
    with torch.inference_mode():
        assert verify(replayer_of(plan, PagedOps(), device), TOLERANCE["float32"], watch).passed
    assert 0 < most[0] <= plan.num_pages * plan.page_size
    assert sum(work.tokens for step in plan.steps for work in step.prefills) > plan.num_pages * plan.page_size
    assert histories[0]._kept == {}


def test_steps_with_prefills_share_their_room_to_work_in(device):
    plan = small_plan(max_num_batched_tokens=8, chunked_prefill=True)
    made = []

    class Counted(PagedOps):
        def parts(self, requests, kv_heads, longest):
            made.append(requests)
            return 1

    replayer = replayer_of(plan, Counted(), device)
    mixed = [step for step in plan.steps if step.prefills and step.decodes]
    assert len(mixed) > len({len(step.decodes) for step in mixed})
    assert len(made) == len({len(step.decodes) for step in mixed}) + len(replayer._graphs)


def test_one_pool_at_a_time(device, monkeypatch):
    """The memory of a replay is reckoned with one pool, whatever the number of policies."""
    pools: list[weakref.ref] = []

    class Watched(Replayer):
        def __init__(self, *given):
            assert not [pool for pool in pools if pool() is not None]
            super().__init__(*given)
            pools.append(weakref.ref(self.pool))

    monkeypatch.setattr(measure_module, "Replayer", Watched)
    trace = Trace("two", Limits(2, 8, 4), (Request("a", 0, 5, 3), Request("b", 0, 4, 4)))
    measure(make_job(trace, settings=course_settings(device, compare=False)), lambda event: None)
    assert len(pools) == 2
