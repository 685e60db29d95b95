"""Who is preempted when pages are short."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab.progress import Progress

Candidates = Callable[[Sequence[Progress]], list[Progress]]


def newest(residents: Sequence[Progress]) -> list[Progress]:
    """The unfinished `residents`, the last admitted last, who is the next victim: the least progress is lost."""
    return [member for member in residents if not member.finished]


def largest(residents: Sequence[Progress]) -> list[Progress]:
    """Those that are not scheduled yet, the one with the most KV tokens last, of equals the newest."""
    return sorted([one for one in residents if not one.finished and one.state != "decode"], key=lambda one: one.kv)


VICTIMS: dict[str, Candidates] = {"newest": newest, "largest": largest}
