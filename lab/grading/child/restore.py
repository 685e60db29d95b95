"""Puts the interpreter back as it was before a check: builtins, all of `sys`, and modules that were replaced.

What a learner does to the inside of other modules (``json.dumps = None``) lasts as long as the interpreter: it can
spoil the learner's own later checks. Whoever runs another solution starts another interpreter.
"""

from __future__ import annotations

import builtins
import gc
import sys
from types import ModuleType

from .capture import NoKeyboard, Printed, Tape
from .pristine import BUILTINS

globals()["__builtins__"] = BUILTINS

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
        self._sys = dict(_sys)
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
        for space, kept in ((_builtins, self._builtins), (_sys, self._sys)):
            space.update(kept)
            for name in list(space):
                if name not in kept:
                    del space[name]
        path, entries = self._path
        path[:] = entries
        for name, module in self._imported.items():
            if _modules.get(name) is not module:
                _modules[name] = module
        _enable_gc()
