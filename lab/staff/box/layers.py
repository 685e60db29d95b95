"""Which layers of isolation are wanted, and which of them took hold."""

from __future__ import annotations

from collections.abc import Callable

NAMES = (
    "own_user",
    "user_namespace",
    "process_namespace",
    "network_namespace",
    "ipc_namespace",
    "own_root",
    "landlock",
    "call_filter",
    "no_capabilities",
    "no_new_privileges",
    "limits",
    "memory_watch",
    "own_session",
)
"""Every layer, from what shuts off most to what is always there."""


class NotSealed(Exception):
    """A layer that the plan counts on did not take hold, so no learner code may run here."""


class Layers:
    """Applies layers. `trouble`: for each that was wanted, None if it took hold, else why not.

    tolerant: go on without a layer that does not take hold, which is how it is found out what a machine offers
    """

    def __init__(self, wanted: list[str], *, tolerant: bool) -> None:
        self._wanted = wanted
        self._tolerant = tolerant
        self.trouble: dict[str, str | None] = {}

    def apply(self, name: str, action: Callable[[], object]) -> bool:
        """Do `action` if the layer is wanted. Returns whether it is in force now."""
        if name not in self._wanted:
            return False
        try:
            action()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if not self._tolerant:
                raise NotSealed(f"{name}: {reason}") from error
            self.trouble[name] = reason
            return False
        self.trouble[name] = None
        return True
