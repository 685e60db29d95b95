"""One whole measurement: verify, then time, then compare. Runs in the child process."""

from __future__ import annotations

import datetime
import gc
import platform
import time
from collections.abc import Callable
from typing import Any

import torch

import lab
from lab.cuda import compare, device
from lab.cuda.attention import PagedOps, TritonOps
from lab.cuda.child import DeviceError
from lab.cuda.document import Measured, document
from lab.cuda.job import CPU, Job
from lab.cuda.layers import Layers
from lab.cuda.memory import BANDWIDTH_BUFFER, MOST_ON_CPU, plan_bytes, replay_bytes, shown_bytes
from lab.cuda.plan import Plan, plans_of
from lab.cuda.reference import TOLERANCE
from lab.cuda.replayer import Replayer
from lab.cuda.shapes import DTYPE_BYTES
from lab.cuda.stopwatch import Stopwatch, bandwidth
from lab.cuda.verify import verify

Tell = Callable[[dict[str, Any]], None]
SECONDS_A_PROGRESS = 0.25
BFLOAT16_FROM = (8, 0)
"""The compute capability whose matrix units take bfloat16."""


class Progress:
    """Tells how far a stage has got, a few times a second."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._due = 0.0

    def stage(self, name: str, of: int) -> Callable[[], None]:
        """Begin a stage of `of` parts; the returned function counts one."""
        done = 0
        self._tell({"event": "progress", "stage": name, "done": 0, "of": of})

        def count() -> None:
            nonlocal done
            done += 1
            if done == of or time.monotonic() >= self._due:
                self._due = time.monotonic() + SECONDS_A_PROGRESS
                self._tell({"event": "progress", "stage": name, "done": done, "of": of})

        return count


def measure(job: Job, tell: Tell, ops: PagedOps | None = None) -> dict[str, Any]:
    """The measurement of `job`, as `lab.cuda.document` describes it.

    ops: instead of what the device calls for (Triton on a GPU, PyTorch on a CPU), for tests.
    Raises InputError for a log that cannot be repeated, and DeviceError for a device that is too small.
    """
    settings = job.settings
    plans = plans_of(job.trace, job.policies)
    target = torch.device("cpu") if settings.device == CPU else torch.device("cuda", settings.device)
    shape = settings.layer_shape
    facts = device.facts(target)
    notices: list[str] = []
    if target.type == "cpu":
        torch.set_num_threads(1)  # the work is small, and threads that wait for each other cost more than they give
        needed = max(plan_bytes(plan, shape, settings.layers, DTYPE_BYTES[settings.dtype]) for plan in plans.values())
        if needed > MOST_ON_CPU:
            raise DeviceError(
                f"On the CPU a replay may need {shown_bytes(MOST_ON_CPU)} of memory, and this one needs "
                f"{shown_bytes(needed)}; choose fewer layers, a smaller shape, or a smaller pool."
            )
    else:
        notices = _make_room(job, list(plans.values()), target)
        for text in notices:
            tell({"event": "notice", "text": text})
    if ops is None:
        ops = _ops_for(target)
    progress = Progress(tell)
    speed = bandwidth(target, BANDWIDTH_BUFFER if target.type == "cuda" else 2**24, 20)
    layers = Layers(shape, settings.layers, getattr(torch, settings.dtype), target, settings.seed, ops)
    measured = Measured(job, facts, device.versions(), ops.name, speed, notices=notices)
    tolerance = TOLERANCE[settings.dtype]
    with torch.inference_mode():
        for name, plan in plans.items():
            passed = _policy(name, plan, layers, measured, progress)
            # A replayer and its steps hold each other: without this, two pools would lie on the device at once.
            gc.collect()
            if not passed:
                break
        if settings.compare and measured.verified:
            measured.kernel = compare.kernel_cases(
                layers, speed["bytes_per_s"], facts["cache_bytes"], tolerance, settings, progress.stage
            )
            measured.batch = compare.batch_cases(layers, speed["bytes_per_s"], tolerance, settings, progress.stage)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return document(measured, now, lab.__version__, platform.python_version())


def _policy(name: str, plan: Plan, layers: Layers, measured: Measured, progress: Progress) -> bool:
    """Verify the replay of one policy, then time it. Returns whether it passed."""
    job = measured.job
    replayer = Replayer(plan, layers, job.settings.seed + 1)
    found = verify(replayer, TOLERANCE[job.settings.dtype], progress.stage(f"verify {name}", len(plan.steps)))
    measured.add_verification(name, found)
    if found.passed:
        count = progress.stage(f"time {name}", job.settings.warmup + job.settings.repeats)
        measured.add_times(name, plan, [step.mode for step in replayer.steps], _timed(replayer, job, count))
    return found.passed


def _timed(replayer: Replayer, job: Job, count: Callable[[], None]) -> list[list[float]]:
    """Times in ms, a list a replay, of every step."""
    watch = Stopwatch(replayer.layers.device)
    runs: list[list[float]] = []
    for number in range(job.settings.warmup + job.settings.repeats):
        for prepared in replayer.steps:
            prepared.load()
            watch.time(prepared.run, prepared.lead_ms)
        times = watch.read()
        if number >= job.settings.warmup:
            runs.append(times)
        count()
    return runs


def _ops_for(target: torch.device) -> PagedOps:
    if target.type == "cpu":
        return PagedOps()
    from lab.cuda import kernels

    return TritonOps(kernels)


def _make_room(job: Job, plans: list[Plan], target: torch.device) -> list[str]:
    """Refuse a GPU that is too small, keep to our share of its memory; returns what is to be said before the run."""
    settings = job.settings
    torch.cuda.set_device(target)
    free, total = torch.cuda.mem_get_info(target)
    name = torch.cuda.get_device_name(target)
    if settings.dtype == "bfloat16" and torch.cuda.get_device_capability(target) < BFLOAT16_FROM:
        raise DeviceError(f"GPU {settings.device} ({name}) has no bfloat16: choose --cuda-dtype float16.")
    needed = replay_bytes(plans, settings.layer_shape, settings.layers, settings.dtype)
    allowed = min(free, int(total * settings.memory_share))
    if needed > allowed:
        why = f"{shown_bytes(free)} of its {shown_bytes(total)} are free"
        if allowed < free:
            why += f" and this lab may take {settings.memory_share:.0%}"
        raise DeviceError(
            f"GPU {settings.device} ({name}) is too small or too full: the replay needs {shown_bytes(needed)}, {why}; "
            "choose fewer layers, a smaller pool, or another GPU."
        )
    torch.cuda.set_per_process_memory_fraction(settings.memory_share, target)
    busy = device.busy(target)
    return [] if busy is None else [busy]
