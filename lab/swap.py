"""Host memory, to which the pages of a preempted sequence can be moved instead of being thrown away."""

from __future__ import annotations


class HostMemory:
    """Counts the pages in host memory, and those that the present iteration moves.

    capacity: pages that it holds, None for no bound
    per_step: pages that one iteration may move each way, None for no bound
    """

    __slots__ = ("capacity", "moved_in", "moved_out", "per_step", "used")

    def __init__(self, capacity: int | None, per_step: int | None) -> None:
        self.capacity = capacity
        self.per_step = per_step
        self.used: int = 0
        self.moved_in: dict[str, int] = {}  # in this iteration: pages by sequence
        self.moved_out: dict[str, int] = {}

    def start(self) -> None:
        """An iteration starts: nothing has moved yet. What moved before is left to whoever has it."""
        self.moved_in = {}
        self.moved_out = {}

    @property
    def moved(self) -> int:
        """Pages moved in this iteration, both ways together."""
        return sum(self.moved_in.values()) + sum(self.moved_out.values())

    def takes(self, pages: int) -> bool:
        """Whether `pages` can be moved out now."""
        fits = self.capacity is None or self.used + pages <= self.capacity
        return fits and self._in_step(self.moved_out, pages)

    def gives(self, pages: int) -> bool:
        """Whether `pages` can be moved in now."""
        return self._in_step(self.moved_in, pages)

    def _in_step(self, moved: dict[str, int], pages: int) -> bool:
        return self.per_step is None or sum(moved.values()) + pages <= self.per_step

    def move_out(self, name: str, pages: int) -> None:
        """Copy `pages` of sequence `name` to the host."""
        self.used += pages
        self.moved_out[name] = pages

    def move_in(self, name: str, pages: int) -> None:
        """Copy the `pages` of sequence `name` back."""
        self.used -= pages
        self.moved_in[name] = pages

    def drop(self, pages: int) -> None:
        """Forget `pages`, whose sequence has ended."""
        self.used -= pages
