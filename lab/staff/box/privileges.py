"""Giving up: the user, groups, capabilities, and ever gaining any of it again."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct

from .system import PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, call, prctl

_VERSION_3 = 0x20080522


def no_new_privileges() -> None:
    """Nothing that this process executes can gain privileges."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_bounds() -> None:
    """Let go of what capabilities could be had again, where there is the right to."""
    for number in range(64):
        with contextlib.suppress(OSError):  # beyond the last, or no right to
            prctl(PR_CAPBSET_DROP, number)


def drop_capabilities() -> None:
    """Let go of every capability."""
    header = ctypes.create_string_buffer(struct.pack("Ii", _VERSION_3, 0))
    call("capset", header, ctypes.create_string_buffer(24))


def become(uid: int, gid: int) -> None:
    """Go on as user `uid` and group `gid`, with no way back. OSError if there is one all the same."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    try:
        os.setuid(0)
    except PermissionError:
        return
    raise OSError("could become root again")
