"""Calls of the operating system that Python's `os` does not have. Every one raises OSError where it is refused."""

from __future__ import annotations

import ctypes
import errno
import os
import sys

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
ADDR_NO_RANDOMIZE = 0x0040000

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """The C function `name`, on integers and byte strings. OSError if it returns −1, or is not there."""
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    try:
        function = getattr(_libc, name)
    except AttributeError:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name) from None
    function.restype = ctypes.c_long
    ctypes.set_errno(0)
    result = int(function(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)))
    if result in (-1, 0xFFFFFFFF):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def prctl(option: int, value: int = 0, pointer: int = 0) -> None:
    """prctl(2)."""
    call("prctl", option, value, pointer, 0, 0)


def unshare(flags: int) -> None:
    """unshare(2): leave the namespaces of `flags` for new ones."""
    call("unshare", flags)


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
    """mount(2)."""
    call("mount", source, target, kind, flags, data)


def fixed_addresses() -> None:
    """Let processes started from here lay out their memory alike, so that an address in a message is the same twice."""
    call("personality", call("personality", 0xFFFFFFFF) | ADDR_NO_RANDOMIZE)


def die_with_parent() -> None:
    """End this process as soon as its parent has ended. Changing the user takes this back."""
    prctl(PR_SET_PDEATHSIG, 9)
