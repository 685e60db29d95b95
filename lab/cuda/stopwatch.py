"""Times steps: CUDA events on a GPU; a wall clock on a CPU, whose figures say nothing about a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from lab.cuda.statistics import Spread, spread

SETTLE_SECONDS = 0.5
"""For how long a GPU works before its bandwidth is measured: an idle one has low clocks, and takes its time to raise
them. A bandwidth that is too low makes floors that are too high, and a sound run invalid."""

CYCLES_A_MS = 2_000_000
"""Of a GPU's clock, at most: a slower one is kept waiting a little longer than was asked for."""

FLUSH_BYTES = 2**28
"""The least that is read to empty a cache."""


class Stopwatch:
    """Collects the times of one step after another; nothing waits for the GPU until `read`."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.on_gpu = device.type == "cuda"
        self._events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self._times: list[float] = []

    def time(self, work: Callable[[], object], lead_ms: float = 0.0) -> None:
        """Do `work` between two marks.

        lead_ms: for how long a GPU is kept waiting before, so that Python has launched it all by then, and what is
        measured is the GPU's own time and not how fast Python launches.
        """
        if self.on_gpu:
            if lead_ms:
                torch.cuda._sleep(int(lead_ms * CYCLES_A_MS))
            start = torch.cuda.Event(enable_timing=True)
            stop = torch.cuda.Event(enable_timing=True)
            start.record()
            work()
            stop.record()
            self._events.append((start, stop))
        else:
            begun = time.perf_counter()
            work()
            self._times.append(1e3 * (time.perf_counter() - begun))

    def read(self) -> list[float]:
        """The times in ms since the last reading, in order."""
        if self.on_gpu:
            torch.cuda.synchronize(self.device)
            self._times = [start.elapsed_time(stop) for start, stop in self._events]
            self._events = []
        times, self._times = self._times, []
        return times


def recorded(device: torch.device, work: Callable[[], object]) -> Callable[[], object]:
    """`work` as a CUDA graph, so that a launch from Python costs nothing; `work` itself on a CPU.

    It must launch the same kernels on the same memory each time. What it returns lies in the graph's memory.
    """
    if device.type != "cuda":
        return work
    apart = torch.cuda.Stream(device)
    apart.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(apart):  # compiles kernels and lets cuBLAS take its memory, before recording
        for _ in range(3):
            work()
    torch.cuda.current_stream(device).wait_stream(apart)
    torch.cuda.synchronize(device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    replay: Callable[[], object] = graph.replay
    return replay


def timed(
    device: torch.device,
    work: Callable[[], object],
    warmup: int,
    repeats: int,
    before: Callable[[], object] | None = None,
) -> Spread:
    """Median and spread, in ms, of `work` done `repeats` times after `warmup` times, each after `before`, unmarked."""
    watch = Stopwatch(device)
    for _ in range(warmup):
        work()
    watch.read()
    for _ in range(repeats):
        if before is not None:
            before()
        watch.time(work)
    return spread(watch.read())


def flush(device: torch.device, cache_bytes: int) -> Callable[[], object] | None:
    """What empties a GPU's last cache of `cache_bytes`, by reading other memory; None on a CPU, where nothing does.

    In a model, the weights of the next layer do that. It takes longer than a graph's launch, too: without it, what
    takes the GPU a few microseconds would be measured as the time that Python needs to launch it.
    """
    if device.type != "cuda":
        return None
    other = torch.ones(max(4 * cache_bytes, FLUSH_BYTES) // 4, device=device)
    return other.sum


def settle(device: torch.device, work: Callable[[], object], seconds: float = SETTLE_SECONDS) -> None:
    """Keep a GPU at `work` for `seconds`, until its clocks have gone up."""
    if device.type != "cuda":
        return
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(20):
            work()
        torch.cuda.synchronize(device)


def bandwidth(device: torch.device, buffer_bytes: int, repeats: int) -> dict[str, float | int]:
    """Bytes a second that the device's memory moves: reading one buffer, and copying it to another.

    The higher of the two is what floors are reckoned with, so that a floor is never above what the device can do.
    """
    count = buffer_bytes // 4
    source = torch.ones(count, device=device)
    target = torch.empty_like(source)
    settle(device, source.sum)
    read = timed(device, source.sum, 3, repeats)
    copy = timed(device, lambda: target.copy_(source), 3, repeats)
    by_read, by_copy = 4 * count / (read.median / 1e3), 8 * count / (copy.median / 1e3)
    return {
        "bytes_per_s": max(by_read, by_copy),
        "read_bytes_per_s": by_read,
        "copy_bytes_per_s": by_copy,
        "buffer_bytes": 4 * count,
    }
