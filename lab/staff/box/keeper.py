"""Keeps one interpreter for a solution: starts it shut off, waits for its end, and leaves nothing of it behind.

The keeper is of the grader's side and runs nothing of a learner's. It ends everything as soon as the lifeline closes,
which happens when the grader closes it, and also when the grader is killed.

On STATUS it writes one line: ``{"exit": n}``, ``{"signal": n}``, ``{"ended": "memory"}`` or ``{"fault": text}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from typing import Any

from .layers import Layers, NotSealed
from .processes import descendants, end_all_of_user, end_descendants, memory_of
from .seal import seal
from .serve import serve
from .system import NEWPID, NEWUSER, PR_SET_CHILD_SUBREAPER, die_with_parent, prctl, unshare

LOOK = 0.1
"""Seconds between two looks at how much memory there is in use."""


def keep(requests: int, answers: int, status: int, lifeline: int) -> None:
    """The whole life of a keeper. The first line on `requests` says what to do, as `lab.staff.plan` writes it."""
    settings = json.loads(_line(requests))
    os.umask(0o022)  # the learner's own root is made here, and has to be open to another user
    report: dict[str, Any] = {}
    first, alone = 0, False
    scratch = _scratch(settings)
    try:
        layers = Layers(settings["layers"], tolerant=settings["tolerant"])
        with contextlib.suppress(OSError):
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        layers.apply("user_namespace", _own_user_namespace)
        alone = layers.apply("process_namespace", lambda: unshare(NEWPID))
        layers.apply("memory_watch", lambda: os.listdir("/proc/self/task"))  # noqa: PTH208
        keeper = os.getpid()
        first = os.fork()
        if first == 0:
            os.close(lifeline)
            _first(settings, layers, keeper if not alone else 0, alone, scratch, requests, answers, status)
        os.close(requests)
        os.close(answers)
        report = _watch(first, lifeline, settings if "memory_watch" in layers.trouble else {}, scratch)
        if alone:  # the first process has told already, and the system ended the rest with it
            report = {} if "ended" not in report else report
    except (OSError, NotSealed) as error:
        report = {"fault": str(error)}
    finally:
        _clean(settings, first, alone, scratch)
    if report:
        _tell(status, report)
    os._exit(0)


def _first(
    settings: dict[str, Any],
    layers: Layers,
    keeper: int,
    alone: bool,
    scratch: str,
    requests: int,
    answers: int,
    status: int,
) -> None:
    """In the process that the keeper forked: be the learner's, or, in a namespace, its first process. Never returns."""
    try:
        _reset_signals()
        with contextlib.suppress(OSError):
            die_with_parent()
        if keeper and os.getppid() != keeper:
            os._exit(1)
        if alone:
            pid = os.fork()
            if pid:
                os.close(requests)
                os.close(answers)
                _tell(status, _how(_wait_for(pid)))
                os._exit(0)
        seal(settings, layers, scratch)
        os.close(status)
        serve(requests, answers, layers.trouble)
    except (OSError, NotSealed) as error:
        with contextlib.suppress(OSError):
            _tell(status, {"fault": str(error)})
    finally:
        os._exit(1)


def _wait_for(pid: int) -> int:
    while True:
        ended, code = os.waitpid(-1, 0)
        if ended == pid:
            return code


def _how(code: int) -> dict[str, Any]:
    if os.WIFSIGNALED(code):
        return {"signal": os.WTERMSIG(code)}
    return {"exit": os.WEXITSTATUS(code)}


def _watch(first: int, lifeline: int, settings: dict[str, Any], scratch: str) -> dict[str, Any]:
    """Wait until `first` has ended, the lifeline is closed, or too much memory or disk is in use."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    look = time.monotonic() + LOOK
    while True:
        while True:
            ended, code = os.waitpid(-1, os.WNOHANG)
            if ended == first:
                return _how(code)
            if ended == 0:
                break
        ready, _, _ = select.select([lifeline, woken], [], [], LOOK if settings else None)
        if lifeline in ready:
            return {}
        if woken in ready:
            os.read(woken, 512)
        if settings and time.monotonic() >= look:
            look = time.monotonic() + LOOK
            if memory_of(descendants(os.getpid())) > settings["memory"] + settings["slack"]:
                return {"ended": "memory"}
            if _written(scratch) > settings["room"]:
                return {"ended": "files"}


def _written(folder: str, most: int = 1000) -> int:
    """Bytes that are in `folder`, its folders counted like small files; looks at some `most` entries."""
    total, pending = 0, [folder]
    while pending and most:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512 + 4096
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                most -= 1
                if not most:
                    return total + 2**40  # nobody needs so many
    return total


def _clean(settings: dict[str, Any], first: int, alone: bool, scratch: str) -> None:
    """No process and no file of the solution stays."""
    if first and not alone:
        with contextlib.suppress(OSError):
            os.killpg(first, signal.SIGKILL)
    if settings["uid"] is not None and not alone:
        with contextlib.suppress(OSError):
            end_all_of_user(settings["uid"], settings["gid"])
    end_descendants()
    _remove(scratch)
    if settings["uid"] is not None and "own_root" not in settings["layers"]:
        _remove_left_behind(settings["uid"])


def _remove_left_behind(uid: int) -> None:
    """Remove what user `uid`, whom nobody else runs as, has left in the folders that everybody may write to."""
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid != uid:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        _remove(entry.path)
                    else:
                        os.unlink(entry.path)  # noqa: PTH108


def _remove(folder: str) -> None:
    """Remove `folder` and what is in it, however deep, following no link."""
    pending, folders = [folder], []
    while pending:
        here = pending.pop()
        folders.append(here)
        with contextlib.suppress(OSError):
            os.chmod(here, 0o700)  # noqa: PTH101
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        os.unlink(entry.path)  # noqa: PTH108
    for here in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(here)  # noqa: PTH106


def _own_user_namespace() -> None:
    """A user namespace in which this user is the same one, with every right over what is made in it."""
    uid, gid = os.getuid(), os.getgid()
    unshare(NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def _scratch(settings: dict[str, Any]) -> str:
    """A new folder for this solution alone."""
    folder = f"{settings['temporary']}/serving-lab-{os.urandom(8).hex()}"
    os.mkdir(folder, 0o700)  # noqa: PTH102
    if settings["uid"] is not None:
        os.chown(folder, settings["uid"], settings["gid"])
    return folder


def _reset_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)


def _line(descriptor: int) -> bytes:
    """The next line, byte for byte no more than that is read."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(descriptor, 65536)
        if not piece:
            os._exit(1)
        line += piece
    return line


def _tell(status: int, report: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(report).encode() + b"\n")
