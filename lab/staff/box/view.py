"""A root folder of the learner's own: Python and the libraries, read-only, and one small folder to write in.

Nothing else of the machine's files is there: no checks, no other student's work, no /proc, no /home.
"""

from __future__ import annotations

import os
from pathlib import Path

from .system import NEWNS, call, mount, unshare

RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DETACH = 2
DEVICES = ("null", "zero", "full", "random", "urandom")
WORK = "/box"

_KEPT = {os.ST_NOSUID: NOSUID, os.ST_NODEV: NODEV, os.ST_NOEXEC: NOEXEC}


def enter(root: str, paths: list[str], masks: list[str], *, room: int, uid: int, gid: int) -> None:
    """Make `root`, an empty folder, the root of this process, which sees nothing else from then on.

    paths: files and folders that are there, read-only, under their own names; masks: folders in them that are empty
    room:  bytes that can be written in WORK, which belongs to uid and gid
    """
    unshare(NEWNS)
    mount(None, b"/", None, REC | PRIVATE)
    mount(b"tmpfs", _b(root), b"tmpfs", NOSUID | NODEV, b"size=1m,mode=755")
    for path in paths:
        _show(path, root)
    for mask in masks:
        mount(b"tmpfs", _b(root + mask), b"tmpfs", RDONLY | NOSUID | NODEV | NOEXEC, b"size=4k,mode=755")
    dev = Path(root + "/dev")
    dev.mkdir()
    for name in DEVICES:
        (dev / name).touch()
        mount(b"/dev/" + name.encode(), _b(str(dev / name)), None, BIND)
    Path(root + WORK).mkdir(parents=True, exist_ok=True)
    options = f"size={room},nr_inodes=1000,mode=700,uid={uid},gid={gid}"
    mount(b"tmpfs", _b(root + WORK), b"tmpfs", NOSUID | NODEV, options.encode())
    mount(None, _b(root), None, REMOUNT | BIND | RDONLY | NOSUID | NODEV)
    os.chdir(root)
    call("pivot_root", b".", b".")
    call("umount2", b".", DETACH)
    os.chdir("/")


def _show(path: str, root: str) -> None:
    """Have `path` read-only under `root`."""
    target = Path(root + path)
    if target.is_symlink() or target.exists():  # a part of what is there already
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if Path(path).is_symlink():
        target.symlink_to(Path(path).readlink())
        return
    target.mkdir() if Path(path).is_dir() else target.touch()
    mount(_b(path), _b(str(target)), None, BIND | REC)
    flags = os.statvfs(str(target)).f_flag
    kept = sum(ours for theirs, ours in _KEPT.items() if flags & theirs)
    mount(None, _b(str(target)), None, REMOUNT | BIND | RDONLY | NOSUID | NODEV | kept)


def _b(text: str) -> bytes:
    return os.fsencode(text)
