"""Shuts this process off, in the one order in which each step still has the right to be done."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from . import landlock, limits, privileges, seccomp, view
from .layers import Layers
from .system import NEWIPC, NEWNET, NEWUTS, PR_SET_DUMPABLE, die_with_parent, prctl, unshare


def seal(settings: dict[str, Any], layers: Layers, scratch: str) -> None:
    """Apply every layer that `settings` wants. Raises NotSealed if one does not take hold.

    scratch: an empty folder: what the own root is mounted on, or else the one folder to write in
    """
    uid, gid = settings["uid"], settings["gid"]
    owner = {"uid": os.getuid() if uid is None else uid, "gid": os.getgid() if gid is None else gid}
    layers.apply("own_session", os.setsid)
    layers.apply("ipc_namespace", partial(unshare, NEWIPC | NEWUTS))
    layers.apply("network_namespace", partial(unshare, NEWNET))
    layers.apply("limits", partial(limits.limit, settings))
    own_root = partial(view.enter, scratch, settings["paths"], settings["masks"], room=settings["room"], **owner)
    work = view.WORK if layers.apply("own_root", own_root) else scratch
    os.environ.update(HOME=work, TMPDIR=work)
    layers.apply("no_new_privileges", privileges.no_new_privileges)
    rules = []
    layers.apply(
        "landlock",
        lambda: rules.append(
            landlock.rules(
                settings["readable"], settings["listable"], [work], [f"/dev/{name}" for name in view.DEVICES]
            )
        ),
    )
    layers.apply("no_capabilities", privileges.drop_bounds)
    if uid is not None:
        layers.apply("own_user", partial(privileges.become, uid, gid))
    layers.apply("no_capabilities", privileges.drop_capabilities)
    os.chdir(work)
    if rules:
        layers.apply("landlock", partial(landlock.restrict, rules[0]))
    if "own_user" in layers.trouble:  # becoming another user has let go of this
        _end_with_the_keeper()
    layers.apply("call_filter", seccomp.install)


def _end_with_the_keeper() -> None:
    try:
        die_with_parent()
        prctl(PR_SET_DUMPABLE, 0)
    except OSError:
        pass  # the keeper ends everything by itself; this only helps where it was killed
