"""Which core runs: the hot modules compiled, or the very same files as plain Python.

Python itself prefers an extension beside a `.py`. What is decided here is when it may not: SERVING_LAB_CORE=pure asks
for the plain one, and an extension is not run if it was made from another source than the one beside it, was damaged
since (a short one would take the process with it), or does not load. It is all of HOT or none, since the compiled
modules know each other's insides. The build leaves a note beside the extensions, `compiled.*.json`, one for each kind
of interpreter: what they are and of which sources, or why there are none.

Imports nothing of `lab`, and little else: the build reads HOT from this file by its path, and a learner's interpreter
starts with it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)

HOT: tuple[str, ...] = ("lab.advance",)
"""The modules that are compiled: the one list."""

ASKED = "SERVING_LAB_CORE"
"""Environment variable: `pure` runs the plain modules; `compiled` makes it an error when the others are not there."""

COMPILED, PURE = "compiled", "pure"

AGAIN = "run make run, or install again"
"""What helps when the extensions are not of the sources beside them."""

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (a learner's interpreter has no pathlib yet)


def note_name(suffix: str = EXTENSION_SUFFIXES[0]) -> str:
    """The name of the note for extensions with this ending. It says ``{"sources": {file: SHA-256}, "extensions": {file:
    SHA-256}}`` or ``{"without": reason}``."""
    return f"compiled{suffix.rpartition('.')[0]}.json"


def sources_of(module: str) -> tuple[str, str]:
    """Names in the folder of `lab`: what a hot module is compiled from, its source and its C types, if it has any."""
    return f"{_stem(module)}.py", f"{_stem(module)}.pxd"


def extension_of(module: str, suffix: str = EXTENSION_SUFFIXES[0]) -> str:
    """Name in the folder of `lab` of a hot module's extension."""
    return _stem(module) + suffix


def core() -> str:
    """``compiled`` if every module of HOT is, in this interpreter; else ``pure``."""
    from importlib.util import find_spec

    specs = [find_spec(name) for name in HOT]
    loaders = [spec.loader if spec else None for spec in specs]
    return COMPILED if all(isinstance(loader, ExtensionFileLoader) for loader in loaders) else PURE


def why() -> str:
    """One line: which core runs, and why if it is the pure one."""
    return "compiled core" if core() == COMPILED else f"pure Python core: {reason()}"


@cache
def reason() -> str:
    """Why the extensions may not run; empty when they may."""
    if os.environ.get(ASKED) == PURE:
        return f"{ASKED}=pure asks for it"
    note = _note()
    if "without" in note:
        return str(note["without"])
    changed = [name for name, digest in note["sources"].items() if _digest(name) not in (digest, None)]
    if changed:  # the site has no sources: there are none to change
        return f"{', '.join(changed)} changed since it was compiled; {AGAIN}"
    for name in HOT:
        digest = _digest(extension_of(name))
        if digest is None:
            return f"the extension of {name} is missing; {AGAIN}"
        if digest != note["extensions"].get(extension_of(name)):
            return f"the extension of {name} is damaged; {AGAIN}"
    return next(filter(None, map(_refusal, HOT)), "")


def outdated() -> bool:
    """Whether installing again brings another core, for all that is known of the last time."""
    return AGAIN in reason()


def asked() -> str:
    """What SERVING_LAB_CORE asks for: ``compiled``, ``pure`` or nothing. ValueError, in one sentence, if another."""
    value = os.environ.get(ASKED, "")
    if value not in ("", COMPILED, PURE):
        raise ValueError(f"{ASKED}: must be {COMPILED} or {PURE}, not {value!r}; correct it, or leave it out")
    return value


def check() -> None:
    """ValueError, in one sentence, if SERVING_LAB_CORE asks for what is not there."""
    if asked() == COMPILED != core():
        raise ValueError(f"{ASKED}: asks for the {COMPILED} core, and this is the {why()}")


def install() -> None:
    """Let PlainCore answer before all other finders."""
    if PlainCore not in sys.meta_path:
        sys.meta_path.insert(0, PlainCore)


class PlainCore:
    """A finder for HOT alone: the plain module where the extension may not run."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The plain module's spec; None for the usual finders to answer."""
        if name not in HOT or not reason():
            return None
        plain = (SourceFileLoader, SOURCE_SUFFIXES), (SourcelessFileLoader, BYTECODE_SUFFIXES)
        return FileFinder(FOLDER, *plain).find_spec(name)


def _note() -> dict:
    import json

    try:
        with open(_path(note_name()), encoding="utf-8") as file:  # noqa: PTH123
            note = json.load(file)
        if "without" in note or (note["sources"].items() and note["extensions"].items()):
            return dict(note)
    except FileNotFoundError:
        return {"without": f"it was not compiled for this Python; {AGAIN}"}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    return {"without": f"lab/{note_name()} is damaged; {AGAIN}"}


def _digest(name: str) -> str | None:
    """The SHA-256 of a file; None if there is none."""
    from hashlib import sha256

    try:
        with open(_path(name), "rb") as file:  # noqa: PTH123
            return sha256(file.read()).hexdigest()
    except FileNotFoundError:
        return None
    except OSError as problem:
        return str(problem)


def _refusal(name: str) -> str:
    """Why the system does not load a module's extension, such as from a disk that nothing may run from; empty if it
    does."""
    path = _path(extension_of(name))
    loader = ExtensionFileLoader(name, path)
    try:
        loader.create_module(ModuleSpec(name, loader, origin=path))
    except ImportError as problem:
        lines = str(problem).splitlines() or ["no reason is given"]
        return f"the extension of {name} does not load ({lines[0]})"
    return ""


def _path(name: str) -> str:
    return os.path.join(FOLDER, name)  # noqa: PTH118


def _stem(module: str) -> str:
    return module.rpartition(".")[2]
