"""Puts the interpreter back as it was before a check: streams, builtins, hooks, replaced modules."""

from __future__ import annotations

import builtins
import gc
import sys
from types import ModuleType

from .capture import NoKeyboard, Printed, Tape
from .pristine import BUILTINS

globals()["__builtins__"] = BUILTINS

_STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
_HOOKS = ("displayhook", "excepthook", "unraisablehook", "breakpointhook")
_set_trace, _get_trace = sys.settrace, sys.gettrace
_set_profile, _get_profile = sys.setprofile, sys.getprofile
_set_limit, _get_limit = sys.setrecursionlimit, sys.getrecursionlimit
_enable_gc = gc.enable
_sys = vars(sys)
_modules = sys.modules
_builtins = vars(builtins)


class Interpreter:
    """The interpreter's state before a check. `enter` redirects the streams, `restore` undoes everything."""

    def __init__(self) -> None:
        self._kept = {name: _sys.get(name) for name in _STREAMS + _HOOKS}
        self._path = (_sys["path"], list(_sys["path"]))
        self._builtins = dict(_builtins)
        self._imported = dict(_modules)
        self._trace = _get_trace()
        self._profile = _get_profile()
        self._limit = _get_limit()

    def enter(self, tape: Tape) -> None:
        """Let everything printed go to `tape`, and input find nobody."""
        _sys["stdin"] = _sys["__stdin__"] = NoKeyboard()
        _sys["stdout"] = _sys["__stdout__"] = Printed(tape)
        _sys["stderr"] = _sys["__stderr__"] = Printed(tape)

    def settle(self) -> None:
        """Take the hooks off that run code in the middle of ours, and restore the recursion limit."""
        for attempt in (1, 2):  # a hook may raise as it is taken off; then it is off the second time
            try:
                _set_profile(self._profile)
                _set_trace(self._trace)
                _set_limit(self._limit)
                return
            except BaseException:
                if attempt == 2:
                    raise

    def put(self, name: str, module: ModuleType) -> None:
        """Register `module` as `name`."""
        _modules[name] = module

    def forget(self, name: str) -> None:
        """Take the module called `name` out of the register, if it is there."""
        _modules.pop(name, None)

    def restore(self) -> None:
        """Everything as it was. Modules newly imported stay, since importing them again may not work."""
        self.settle()
        _builtins.update(self._builtins)
        for name in list(_builtins):
            if name not in self._builtins:
                del _builtins[name]
        _sys.update(self._kept)
        path, entries = self._path
        path[:] = entries
        _sys["path"] = path
        _sys["modules"] = _modules
        for name, module in self._imported.items():
            if _modules.get(name) is not module:
                _modules[name] = module
        _enable_gc()
