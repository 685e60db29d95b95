"""Who is preempted when pages are short."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab.progress import Progress

Victim = Callable[[Sequence[Progress]], int]


def newest(residents: Sequence[Progress]) -> int:
    """Where in `residents` the last admitted unfinished one is: the least progress is lost."""
    index = len(residents) - 1
    while residents[index].finished:
        index -= 1
    return index


def largest(residents: Sequence[Progress]) -> int:
    """Where the unfinished one with the most KV tokens is that is not scheduled yet; of equals the newest."""
    best, most = -1, -1
    for index, member in enumerate(residents):
        if not member.finished and member.state != "decode" and member.kv >= most:
            best, most = index, member.kv
    return best


VICTIMS: dict[str, Victim] = {"newest": newest, "largest": largest}
