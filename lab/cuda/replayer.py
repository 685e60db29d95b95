"""Executes a plan step by step: decodes by CUDA graph where there is a GPU, the rest eagerly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from lab.cuda.attention import Workspace
from lab.cuda.layers import Batch, Layers
from lab.cuda.plan import Plan, Step, padded
from lab.cuda.pool import KVPool
from lab.cuda.stopwatch import recorded

Captured = list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]
"""(q, k, v, attention output) of each layer."""

LAYER_LAUNCH_MS = 0.5
CHUNK_LAUNCH_MS = 0.2
"""More than Python needs to launch a layer, some twenty kernels at ten microseconds, and a chunk's attention in it."""

MOST_LEAD_MS = 100.0


def workspace_for(layers: Layers, requests: int, longest: int) -> Workspace:
    """The room for a batch of `requests` decodes of at most `longest` tokens."""
    shape = layers.shape
    parts = layers.ops.parts(requests, shape.kv_heads, longest)
    return Workspace.of(requests, shape.heads, shape.head_dim, parts, layers.device)


class DecodeGraph:
    """The step of a batch of `size` decodes: recorded once on a GPU, replayed with other contents each time.

    Contents are copied into the graph's own tensors. A batch smaller than `size` is filled up with padded slots:
    length 0, the scratch page.
    """

    def __init__(self, layers: Layers, pool: KVPool, size: int, width: int, longest: int) -> None:
        device = layers.device
        shape = layers.shape
        self.size = size
        self.x = torch.zeros(size, shape.hidden, dtype=layers.dtype, device=device)
        self.slots = torch.full((size,), pool.scratch_slot, dtype=torch.int64, device=device)
        self.tables = torch.full((size, width), pool.scratch_page, dtype=torch.int32, device=device)
        self.lengths = torch.zeros(size, dtype=torch.int32, device=device)
        workspace = workspace_for(layers, size, longest)
        batch = Batch(self.slots, self.tables, self.lengths, workspace, [])
        self.captured: Captured = []

        def keep(layer: int, *tensors: torch.Tensor) -> None:
            self.captured.append(tensors)  # type: ignore[arg-type]

        def run() -> None:
            self.captured.clear()
            layers.forward(self.x, batch, pool, keep)

        # On a GPU, what `captured` holds from now on is the graph's own memory: each replay fills it anew.
        self._run = recorded(device, run)

    def load(self, x: torch.Tensor, batch: Batch) -> None:
        """Put one step's contents in place. `batch` is already padded to this size."""
        assert batch.tables is not None and batch.lengths is not None
        self.x[: x.shape[0]].copy_(x)
        self.slots.copy_(batch.slots)
        self.tables.copy_(batch.tables)
        self.lengths.copy_(batch.lengths)

    def run(self) -> None:
        """The step itself: this is what is timed. Fills `captured`."""
        self._run()


@dataclass
class Prepared:
    """One step, ready to run: `load` copies its addressing and input into place, `run` is what is timed.

    lead_ms: more than Python needs to launch `run`; 0 for a graph
    """

    step: Step
    mode: str
    load: Callable[[], object]
    run: Callable[[], object]
    captured: Callable[[], Captured]
    lead_ms: float = 0.0


class Replayer:
    """A plan on a device: block tables, slots and lengths of all steps lie there before the first one runs."""

    def __init__(self, plan: Plan, layers: Layers, seed: int) -> None:
        shape = layers.shape
        self.plan, self.layers = plan, layers
        self.pool = KVPool(
            layers.count, plan.num_pages, plan.page_size, shape.kv_heads, shape.head_dim, layers.dtype, layers.device
        )
        # Inputs are cut from this at another place each iteration: constant ones would hide wrong addressing.
        chance = torch.Generator(device=layers.device).manual_seed(seed)
        most = max(1, plan.most_tokens)
        self._inputs = torch.randn(
            most + 4096, shape.hidden, generator=chance, dtype=torch.float32, device=layers.device
        ).to(layers.dtype)
        self._width = max((len(work.table) for step in plan.steps for work in step.decodes), default=1)
        self._graphs: dict[int, DecodeGraph] = {}
        self._workspaces: dict[int, Workspace] = {}  # of steps without a graph, which run one after the other
        self.steps = [self._prepared(step) for step in plan.steps]

    def poison(self, step: Step) -> None:
        """Fill the pages that changed hands before `step` with NaN."""
        self.pool.poison(step.stale)

    def start_afresh(self) -> None:
        """Fill the whole pool with NaN."""
        self.pool.poison(range(self.plan.num_pages + 1))

    def input_of(self, step: Step) -> torch.Tensor:
        """[tokens, hidden] of random numbers, others in each iteration."""
        first = (step.iteration * 37) % 4096
        return self._inputs[first : first + step.tokens]

    def _prepared(self, step: Step) -> Prepared:
        x = self.input_of(step)
        if step.prefills:
            batch = self._batch(step, len(step.decodes))
            held: Captured = []

            def run() -> None:
                self.layers.forward(x, batch, self.pool)

            def captured() -> Captured:
                # Looked at in a run of its own, so that the timed one keeps nothing.
                held.clear()
                self.layers.forward(x, batch, self.pool, lambda layer, *tensors: held.append(tensors))  # type: ignore[arg-type]
                return held

            lead_ms = self.layers.count * (LAYER_LAUNCH_MS + CHUNK_LAUNCH_MS * len(step.prefills))
            return Prepared(step, "eager", lambda: None, run, captured, min(lead_ms, MOST_LEAD_MS))
        size = padded(len(step.decodes))
        batch = self._batch(step, size)
        if size not in self._graphs:
            self._graphs[size] = DecodeGraph(self.layers, self.pool, size, self._width, self.plan.longest_decode)
        graph = self._graphs[size]

        def graphed() -> Captured:
            graph.load(x, batch)
            graph.run()
            return graph.captured

        mode = "graph" if self.layers.device.type == "cuda" else "eager"
        return Prepared(step, mode, lambda: graph.load(x, batch), graph.run, graphed)

    def _batch(self, step: Step, size: int) -> Batch:
        """`step`'s addressing on the device, its decodes padded to `size`."""
        device, pool, page_size = self.layers.device, self.pool, self.plan.page_size
        padding = size - len(step.decodes)
        slots = [slot for work in step.decodes for slot in work.slots(page_size)]
        slots += [pool.scratch_slot] * padding
        chunks = []
        for work in step.prefills:
            table = torch.tensor(work.table, dtype=torch.int64, device=device)
            chunks.append((len(slots), work.tokens, work.position, table))
            slots += work.slots(page_size)
        tables = lengths = workspace = None
        if size:
            tables = _table_tensor([work.table for work in step.decodes], padding, self._width, pool.scratch_page)
            tables = tables.to(device)
            lengths = torch.tensor(
                [work.length for work in step.decodes] + [0] * padding, dtype=torch.int32, device=device
            )
            if step.prefills:  # a graph has a workspace of its own
                if size not in self._workspaces:
                    self._workspaces[size] = workspace_for(self.layers, size, self.plan.longest_decode)
                workspace = self._workspaces[size]
        return Batch(torch.tensor(slots, dtype=torch.int64, device=device), tables, lengths, workspace, chunks)


def _table_tensor(tables: Sequence[Sequence[int]], padding: int, width: int, scratch: int) -> torch.Tensor:
    rows = [[*table[:width], *[scratch] * (width - len(table))] for table in tables]
    return torch.tensor(rows + [[scratch] * width] * padding, dtype=torch.int32)
