"""A filter of system calls: no signal to others, no tracing, no leaving the process group, no sockets but local ones.

Needs no privilege. The program is classic BPF (seccomp(2)); call numbers are those of the kernel's tables.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

from .system import PR_SET_SECCOMP, prctl

_FILTER = 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_NEW_NAMESPACES = 0x7E020000
_AF_UNIX = 1

_COMMON = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsmount": 432,
    "pidfd_open": 434,
    "clone3": 435,
    "pidfd_getfd": 438,
    "process_madvise": 440,
}
_TABLES = {
    "x86_64": (
        0xC000003E,
        {
            **_COMMON,
            **{"socket": 41, "clone": 56, "kill": 62, "ptrace": 101, "setpgid": 109, "setsid": 112},
            **{"rt_sigqueueinfo": 129, "pivot_root": 155, "chroot": 161, "mount": 165, "umount2": 166},
            **{"tkill": 200, "tgkill": 234, "add_key": 248, "request_key": 249, "keyctl": 250},
            **{"unshare": 272, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "prlimit64": 302},
            **{"open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311},
            **{"bpf": 321, "userfaultfd": 323},
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            **_COMMON,
            **{"umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "unshare": 97, "ptrace": 117},
            **{"kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "setpgid": 154, "setsid": 157},
            **{"socket": 198, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220},
            **{"rt_tgsigqueueinfo": 240, "perf_event_open": 241, "prlimit64": 261, "open_by_handle_at": 265},
            **{"setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280, "userfaultfd": 282},
        },
    ),
}


def install() -> None:
    """Filter the calls of this process and of all that it starts. It must have given up new privileges."""
    if platform.machine() not in _TABLES:
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}", "seccomp")
    code = b"".join(_program(*_TABLES[platform.machine()], os.getpid()))
    body = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(body)))
    prctl(PR_SET_SECCOMP, _FILTER, ctypes.addressof(program))


def _program(architecture: int, table: dict[str, int], me: int) -> list[bytes]:
    refuse = _ERRNO | errno.EPERM
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if architecture == _TABLES["x86_64"][0]:  # the x32 calls have numbers of their own
        code += [_step(_AT_LEAST, 0x40000000, 0, 1), _step(_RETURN, refuse)]
    ours = (me, 0, -me & 0xFFFFFFFF)
    only = {"kill": ours, "tgkill": (me,), "socket": (_AF_UNIX,), "prlimit64": (0, me)}
    for name, number in table.items():
        if name in only:
            verdict = [_step(_LOAD, _FIRST_ARGUMENT)]
            for i, value in enumerate(only[name]):
                verdict.append(_step(_EQUAL, value, len(only[name]) - i, 0))
            verdict += [_step(_RETURN, refuse), _step(_RETURN, _ALLOW)]
        elif name == "clone":
            verdict = [
                _step(_LOAD, _FIRST_ARGUMENT),
                _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
                _step(_RETURN, refuse),
                _step(_RETURN, _ALLOW),
            ]
        else:  # clone3 hides its flags behind a pointer; told that there is none, the C library takes clone
            verdict = [_step(_RETURN, _ERRNO | errno.ENOSYS if name == "clone3" else refuse)]
        code += [_step(_EQUAL, number, 0, len(verdict)), *verdict]
    code.append(_step(_RETURN, _ALLOW))
    return code


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
