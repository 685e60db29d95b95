"""Finds what an exercise asks for in the module that the learner's code made."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from .pristine import BUILTINS
from .source import FILENAME, Problem

globals()["__builtins__"] = BUILTINS

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200  # code flags; `inspect` has their names


def find(module: dict[str, Any], name: str, kind: str) -> tuple[Any, Problem | None]:
    """What `module` calls `name`, and None; or None, and the problem with it.

    kind: ``function`` (a lambda, a partial or another callable will do) or ``class``
    The problem's `kind`: ``missing`` or ``wrong_kind``; its `found` says what there is instead.
    """
    if name not in module:
        return None, _problem("missing", defined(module), None)
    value = module[name]
    line = None
    if type(value) is FunctionType:
        flags = value.__code__.co_flags
        line = first_line(value)
        if flags & _COROUTINE:
            return None, _problem("wrong_kind", ["an async function"], line)
        if flags & _ASYNC_GENERATOR:
            return None, _problem("wrong_kind", ["an async generator"], line)
        if flags & _GENERATOR:
            return None, _problem("wrong_kind", ["a generator"], line)
    is_class = issubclass(type(value), type)
    if is_class and kind == "function":
        return None, _problem("wrong_kind", ["a class"], line)
    if not is_class and kind == "class":
        return None, _problem("wrong_kind", ["a function" if callable(value) else "no class"], line)
    if not callable(value):
        return None, _problem("wrong_kind", ["a value that cannot be called"], line)
    return value, None


def first_line(value: object) -> int | None:
    """The line where a learner's function begins, or None if `value` is no such function."""
    if type(value) is FunctionType and value.__code__.co_filename == FILENAME:
        return value.__code__.co_firstlineno
    return None


def defined(module: dict[str, Any]) -> list[str]:
    """The names of the functions and classes that the learner's source defines, in order, at most 20."""
    names = []
    for name, value in list(module.items()):
        if type(name) is not str:
            continue
        own_class = issubclass(type(value), type) and type.__dict__["__module__"].__get__(value) == "solution"
        if first_line(value) is not None or own_class:
            names.append(name[:80])
    return names[:20]


def _problem(kind: str, found: list[str], line: int | None) -> Problem:
    return {
        "kind": kind,
        "type": "",
        "message": "",
        "line": line,
        "column": None,
        "frames": [],
        "found": found,
    }
