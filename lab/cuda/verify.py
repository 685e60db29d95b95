"""The untimed pass before all timing: every request, step and layer against contiguous float64 attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lab.cuda.plan import Step, Work
from lab.cuda.reference import attention64, relative_error
from lab.cuda.replayer import Captured, Replayer


@dataclass(slots=True)
class Verification:
    """What was compared, and the largest error with its place.

    checked: comparisons made: one a request, step and layer
    """

    tolerance: float
    checked: int = 0
    worst_error: float = 0.0
    worst_at: str = ""

    @property
    def passed(self) -> bool:
        """Whether something was compared, and no error exceeds the tolerance."""
        return self.checked > 0 and self.worst_error <= self.tolerance

    def note(self, error: float, at: str) -> None:
        """One comparison."""
        self.checked += 1
        if not error <= self.worst_error:  # so that a NaN counts
            self.worst_error, self.worst_at = error, at

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data; an error without bound is None."""
        finite = self.worst_error < float("inf")
        return {
            "passed": self.passed,
            "checked": self.checked,
            "tolerance": self.tolerance,
            "worst_error": self.worst_error if finite else None,
            "worst_at": self.worst_at,
        }


class History:
    """K and V of each request as they were computed, contiguous and apart from the pool.

    Whoever has gone is dropped, so that it is never more than the pool holds: `lab.cuda.memory` reckons with that.
    """

    def __init__(self, layers: int) -> None:
        self._layers = layers
        self._kept: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    def add(self, work: Work, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep what `work` computed in `layer`; returns all of its request's K and V there, [length, kv_heads, dim]."""
        if work.position == 0 and layer == 0:
            empty = torch.empty(0, *k.shape[1:], dtype=k.dtype, device=k.device)
            self._kept[work.id] = [(empty, empty)] * self._layers
        before = self._kept[work.id][layer]
        both = (torch.cat([before[0], k]), torch.cat([before[1], v]))
        assert both[0].shape[0] == work.length
        self._kept[work.id][layer] = both
        return both

    def drop(self, name: str) -> None:
        """Forget a request that has gone, or that will be computed anew."""
        self._kept.pop(name, None)


def leavers(steps: Sequence[Step]) -> list[list[str]]:
    """For each step, the requests whose K and V nobody reads after it."""
    found = []
    go_on: set[str] = set()
    for step in reversed(steps):
        works = (*step.decodes, *step.prefills)
        found.append([work.id for work in works if work.id not in go_on])
        for work in works:
            (go_on.add if work.position else go_on.discard)(work.id)
    return found[::-1]


def verify(replayer: Replayer, tolerance: float, watch: Callable[[], None] = lambda: None) -> Verification:
    """Run the whole plan once, on a poisoned pool, and compare all attention. `watch` is called after each step."""
    found = Verification(tolerance)
    history = History(replayer.layers.count)
    replayer.start_afresh()
    for prepared, leaving in zip(replayer.steps, leavers(replayer.plan.steps), strict=True):
        replayer.poison(prepared.step)
        check_step(prepared.step, prepared.captured(), history, found, replayer.plan.policy)
        for name in leaving:
            history.drop(name)
        watch()
    return found


def check_step(step: Step, captured: Captured, history: History, found: Verification, policy: str) -> None:
    """Compare one step, given (q, k, v, out) of each layer with its tokens in the order of `lab.cuda.layers.Batch`."""
    for layer, (q, k, v, out) in enumerate(captured):
        padding = q.shape[0] - step.tokens
        first = 0
        for work in (*step.decodes, *step.prefills):
            rows = slice(first, first + work.tokens)
            all_k, all_v = history.add(work, layer, k[rows], v[rows])
            error = relative_error(out[rows], attention64(q[rows], all_k, all_v))
            found.note(error, f"{policy}, iteration {step.iteration}, request {work.id}, layer {layer}")
            first += work.tokens
        if padding and bool(out[first:].ne(0).any()):  # NaN is not 0 either
            found.note(float("inf"), f"{policy}, iteration {step.iteration}, a padded slot, layer {layer}")
