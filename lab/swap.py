"""Host memory, to which the pages of a preempted sequence can be moved instead of being thrown away."""

from __future__ import annotations


class HostMemory:
    """Counts the pages in host memory, and those that the present iteration moves.

    capacity: pages that it holds, None for no bound
    per_step: pages that one iteration may move each way, None for no bound
    """

    __slots__ = ("_in", "_out", "capacity", "moved_in", "moved_out", "per_step", "used")

    def __init__(self, capacity: int | None, per_step: int | None) -> None:
        self.capacity = capacity
        self.per_step = per_step
        self.used: int = 0
        self.moved_in: dict[str, int] = {}  # in this iteration: pages by sequence
        self.moved_out: dict[str, int] = {}
        self._in: int = 0  # all pages of these, since summing them for each victim would take its square
        self._out: int = 0

    def start(self) -> None:
        """An iteration starts: nothing has moved yet. What moved before is left to whoever has it."""
        self.moved_in = {}
        self.moved_out = {}
        self._in = self._out = 0

    @property
    def moved(self) -> int:
        """Pages moved in this iteration, both ways together."""
        return self._in + self._out

    def takes(self, pages: int) -> bool:
        """Whether `pages` can be moved out now."""
        fits = self.capacity is None or self.used + pages <= self.capacity
        return fits and self._in_step(self._out, pages)

    def gives(self, pages: int) -> bool:
        """Whether `pages` can be moved in now."""
        return self._in_step(self._in, pages)

    def _in_step(self, moved: int, pages: int) -> bool:
        return self.per_step is None or moved + pages <= self.per_step

    def move_out(self, name: str, pages: int) -> None:
        """Copy `pages` of sequence `name` to the host."""
        self.used += pages
        self._out += pages
        self.moved_out[name] = pages

    def move_in(self, name: str, pages: int) -> None:
        """Copy the `pages` of sequence `name` back."""
        self.used -= pages
        self._in += pages
        self.moved_in[name] = pages

    def drop(self, pages: int) -> None:
        """Forget `pages`, whose sequence has ended."""
        self.used -= pages
