"""Which processes came of this one, what memory they use, and ending every one of them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")


def children(pid: int) -> list[int]:
    """The children of process `pid`; empty where the system does not tell."""
    try:
        return [int(child) for child in (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()]
    except (OSError, ValueError):
        return []


def descendants(pid: int) -> list[int]:
    """Everything that came of process `pid`, itself not."""
    found: list[int] = []
    new = children(pid)
    while new:
        found += new
        new = [child for parent in new for child in children(parent) if child not in found]
    return found


def memory_of(pids: list[int]) -> int:
    """Bytes of memory that `pids` hold, what they share counted for each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int((PROC / str(pid) / "statm").read_text().split()[1]) * PAGE
    return total


def waited(pid: int) -> float:
    """Seconds that process `pid` was ready to run and no processor was free; 0 where the system does not tell."""
    try:
        return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def end_descendants(seconds: float = 5.0) -> bool:
    """End everything that came of this process, and wait for it. Returns whether nothing is left.

    Orphans come back to this process (it adopts them), so that none gets away. Everything is stopped before anything
    is ended: who forks as fast as others are ended would otherwise win.
    """
    deadline = time.monotonic() + seconds
    me = os.getpid()
    while time.monotonic() < deadline:
        stopped: set[int] = set()
        while (new := set(descendants(me)) - stopped) and time.monotonic() < deadline:
            _signal(new, signal.SIGSTOP)
            stopped |= new
        _signal(stopped, signal.SIGKILL)
        if reap():
            return True
        time.sleep(0.002)
    return False


def reap() -> bool:
    """Take note of every child that has ended. Returns whether there is no child any more."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return False
        except ChildProcessError:
            return True


def end_all_of_user(uid: int, gid: int) -> None:
    """End every process of user `uid`, at one stroke. For root, and a user that nobody else runs as."""
    helper = os.fork()
    if helper == 0:
        try:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(helper, 0)


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
