"""Landlock: the kernel lets this process open only what is listed, connect nowhere, and signal only its own kind.

Needs no privilege. The numbers are those of the kernel's `linux/landlock.h`.
"""

from __future__ import annotations

import ctypes
import os
import struct

from .system import call

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_OF_FILES = _EXECUTE | _WRITE | _READ | 1 << 14 | 1 << 15
_TCP = 0b11
_SCOPES = 0b11


def rules(readable: list[str], listable: list[str], writable: list[str], devices: list[str]) -> int:
    """A descriptor of these rules, for `restrict`. Paths that are not there are passed over."""
    version = call("syscall", CREATE, None, 0, 1)
    handled = max(rights for since, rights in _ALL_BY_VERSION.items() if since <= version)
    attributes = struct.pack("QQQ", handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call("syscall", CREATE, ctypes.create_string_buffer(attributes), size, 0)
    for paths, rights in (
        (readable, _EXECUTE | _READ | _LIST),
        (listable, _LIST),
        (writable, handled & ~_EXECUTE),
        (devices, _READ | _WRITE),
    ):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            rights &= _OF_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place))
        call("syscall", ADD_RULE, ruleset, 1, rule, 0)
    finally:
        os.close(place)


def restrict(ruleset: int) -> None:
    """Hold this process, and all that it starts, to the rules. It must have given up new privileges."""
    call("syscall", RESTRICT, ruleset, 0)
    os.close(ruleset)


def version() -> int:
    """The kernel's version of Landlock. OSError if it has none."""
    return call("syscall", CREATE, None, 0, 1)
