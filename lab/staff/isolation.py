"""Finds out, before any learner code runs, how well this machine can shut a solution off, and says so."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.errors import InputError
from lab.grading.child.wire import NotPlain, decode, encode
from lab.staff import trial
from lab.staff.box.layers import NAMES
from lab.staff.box.system import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, fixed_addresses, prctl
from lab.staff.interpreter import others, ours
from lab.staff.plan import PROCESSES, Limits, Plan
from lab.staff.runner import Boxed, NotStarted, layers_of

FIRST_USER = 61_000
PREFIX = "serving-lab-grade-"

WORDS = {
    "own_user": "an unprivileged user of its own",
    "user_namespace": "a user namespace",
    "process_namespace": "a process namespace",
    "network_namespace": "a network namespace",
    "ipc_namespace": "a namespace for shared memory",
    "own_root": "a read-only root folder with nothing but Python in it",
    "landlock": "Landlock's rules on files",
    "call_filter": "a filter of system calls",
    "no_capabilities": "no capabilities",
    "no_new_privileges": "no way to new privileges",
    "limits": "limits on processor time, memory, processes and files",
    "memory_watch": "a watch on the memory of all its processes",
    "own_session": "a session of its own",
}
"""Each layer, in words."""

_NOT_ASKED = {"own_user": "the grader was not started as root", "user_namespace": "the grader was started as root"}


class NoIsolation(Exception):
    """No solution can be run here at all: a fault of ours, not of a solution."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What solutions must not reach.

    checks, work: files that they must not read; results: folders that they must not write to
    """

    checks: Sequence[str] = ()
    work: Sequence[str] = ()
    results: Sequence[str] = ()


@contextlib.contextmanager
def prepared(
    limits: Limits, jobs: int, kept: Kept, *, without: Sequence[str] = (), say: Callable[[str], None]
) -> Iterator[Plan]:
    """The plan for a run of `jobs` side by side; `say` hears once of each layer that is off.

    without: layers to leave off on purpose
    Raises NoIsolation if nothing can be run, InputError for a layer that does not exist.
    """
    for name in without:
        if name not in NAMES:
            raise InputError(f"there is no layer {name!r}; there are {', '.join(NAMES)}", field="--without")
    _protect_ourselves()
    with _temporary() as temporary:
        plan = _offered(limits, jobs, temporary, without)
        plan = _usable(plan, kept, say)
        for name, reason in plan.off.items():
            if name not in _NOT_ASKED or reason != _NOT_ASKED[name]:
                say(f"isolation: without {WORDS[name]} ({reason})")
        for name, holds in plan.measured.items():
            if not holds:
                say(f"isolation: not certain on this machine that {trial.MEANING[name]}; see lab/staff/GRADING.md")
        yield plan


def _protect_ourselves() -> None:
    """Other processes of the same user cannot look into this one; its orphans come back to it."""
    for action in (
        lambda: prctl(PR_SET_DUMPABLE, 0),
        lambda: prctl(PR_SET_CHILD_SUBREAPER, 1),
        fixed_addresses,
    ):
        with contextlib.suppress(OSError):
            action()


@contextlib.contextmanager
def _temporary() -> Iterator[str]:
    """A folder for this run, which others can pass through but not list. What earlier runs left is cleared away."""
    base = Path(os.path.realpath(tempfile.gettempdir()))
    for old in base.glob(f"{PREFIX}*"):
        process = old.name.removeprefix(PREFIX).split("-")[0]
        with contextlib.suppress(OSError):
            if process.isdigit() and old.stat().st_uid == os.getuid() and not Path(f"/proc/{process}").exists():
                shutil.rmtree(old, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base)
    os.chmod(folder, 0o711)  # noqa: PTH101
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _offered(limits: Limits, jobs: int, temporary: str, without: Sequence[str]) -> Plan:
    """The plan with every layer that takes hold on this machine."""
    python = ours()
    if python is None:
        raise NoIsolation("the Python that runs the lab does not run by itself")
    off = dict.fromkeys(without, "left off with --without")
    root = os.geteuid() == 0
    off.setdefault(
        *(("user_namespace", _NOT_ASKED["user_namespace"]) if root else ("own_user", _NOT_ASKED["own_user"]))
    )
    plan = Plan(
        python,
        limits,
        temporary,
        tuple(name for name in NAMES if name not in off),
        off,
        users=tuple(_free_users(jobs)) if root else (),
        processes=PROCESSES if root else PROCESSES + _processes_of_mine(),
        tolerant=True,
    )
    try:
        trouble = layers_of(plan)
    except NotStarted as error:
        raise NoIsolation(str(error)) from None
    refused = {name: reason for name, reason in trouble.items() if reason is not None}
    return replace(
        plan,
        layers=tuple(name for name in plan.layers if name in trouble and name not in refused),
        off={name: {**off, **refused}[name] for name in NAMES if name in off or name in refused},
        tolerant=False,
    )


def _usable(plan: Plan, kept: Kept, say: Callable[[str], None]) -> Plan:
    """`plan` with what a trial solution measured, in an interpreter that has its standard library there."""
    missing, measured = _tried(plan, kept)
    if not missing:
        return replace(plan, measured=measured)
    if "own_user" not in plan.layers:
        raise NoIsolation(f"a solution cannot import {', '.join(missing[:5])}")
    first = plan.interpreter
    for other, words in others(first, plan.temporary):
        found = replace(plan, interpreter=other)
        with contextlib.suppress(NoIsolation):
            missing, measured = _tried(found, kept)
            if not missing:
                say(f"isolation: {first.python} cannot be used by an unprivileged user; solutions run in {words}")
                return replace(found, measured=measured)
    reason = "no Python on this machine can be used by an unprivileged user"
    plan = replace(
        plan,
        layers=tuple(name for name in plan.layers if name != "own_user"),
        off={**plan.off, "own_user": reason},
        users=(),
    )
    missing, measured = _tried(plan, kept)
    if missing:
        raise NoIsolation(f"a solution cannot import {', '.join(missing[:5])}")
    return replace(plan, measured=measured)


def _tried(plan: Plan, kept: Kept) -> tuple[list[str], Mapping[str, bool]]:
    """Modules that a solution cannot import here, and what it cannot do."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        arguments: list[Any] = [
            list(trial.NEEDED),
            [[*kept.checks][:50], [*kept.work][:50]],
            list(kept.results),
            [os.getpid()],
            listener.getsockname()[1],
            list(trial.OUTSIDE),
        ]
        boxed = Boxed(replace(plan, limits=replace(plan.limits, timeout=30.0)), 0, trial.SOURCE, "trial", "function", 1)
        try:
            reply = boxed.run({"steps": [{"arguments": [encode(argument) for argument in arguments]}]})
        finally:
            boxed.close()
    answer, ended = reply.read()
    try:
        missing, measured = decode(answer["steps"][0]["returned"])
    except (NotPlain, LookupError):
        raise NoIsolation(f"a trial solution did not run ({reply.detail or ended or answer['problem']})") from None
    return missing, measured


def _free_users(count: int) -> Iterator[tuple[int, int]]:
    """Numbers of users that the machine does not know and no process runs as; other numbers for each run."""
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            taken.add(process.stat().st_uid)
    uid = FIRST_USER + (os.getpid() * 16) % 4000
    while count:
        if uid not in taken:
            yield uid, uid
            count -= 1
        uid += 1


def _processes_of_mine() -> int:
    """Processes and threads that this user has already, which count against a limit as well."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == os.getuid():
                count += len(list((process / "task").iterdir()))
    return count
