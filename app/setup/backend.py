"""The build backend of the project (PEP 517 and 660): setuptools, with the hot modules of the core compiled.

Where there is no C compiler, no header of Python, or a module does not compile, the pure wheel comes out, and one
line says why. SERVING_LAB_CORE=pure asks for that one; SERVING_LAB_CORE=compiled makes it an error.

Imported by name from this folder (see pyproject.toml), in an environment that holds setuptools and Cython only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import setup
from setuptools.build_meta import _BuildMetaBackend
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.extension import Extension

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

CYTHON = "cython>=3.1,<4"

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "lab"
MADE = Path("build", "core")
"""Where the generated C goes, from ROOT; the same in every build, since compilers write it into what they make."""

SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")
"""Ending of the extensions of the Python that they are made for: in a cross-build, not of the one that runs this."""

FLAGS = ["-O2", "-g0"] if os.name == "posix" else []

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": True,
    "wraparound": False,
    "cdivision": True,
    "binding": True,  # functions that `inspect` can read
    "auto_pickle": False,  # nothing here is ever pickled; a seventh smaller
}


def _load_core() -> ModuleType:
    """lab/core.py by its path: the environment of a build has no `lab`."""
    spec = importlib.util.spec_from_file_location("core", LAB / "core.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


core = _load_core()


class Backend(_BuildMetaBackend):
    """setuptools' own backend, with the extensions of this build: what pyproject.toml cannot say.

    extensions: the hot modules as C
    sources:    digests of what they are made of; see lab/core.py
    without:    why there are none
    """

    def __init__(self) -> None:
        super().__init__()
        self.extensions: list[Extension] = []
        self.sources: dict[str, str] = {}
        self.without = ""

    def run_setup(self, setup_script: str = "") -> None:
        """In place of a `setup.py`, which setuptools runs for each of its commands."""
        setup(
            ext_modules=self.extensions,
            cmdclass={"build_py": WithNote, "build_ext": WithDigests},
            options={"build_ext": {"parallel": os.cpu_count() or 1}},
        )

    def get_requires_for_build_wheel(self, config_settings: Any = None) -> list[str]:
        """PEP 517, and for editable ones PEP 660: Cython only where it is of use."""
        return [*super().get_requires_for_build_wheel(config_settings), *([] if _without() else [CYTHON])]

    def build_wheel(self, *arguments: Any, **named: Any) -> str:
        """PEP 517."""
        return self._build(super().build_wheel, *arguments, **named)

    def build_editable(self, *arguments: Any, **named: Any) -> str:
        """PEP 660: the extensions go beside their sources."""
        return self._build(super().build_editable, *arguments, **named)

    def _build(self, build: Callable[..., str], *arguments: Any, **named: Any) -> str:
        """Builds with the extensions, else without."""
        self.without = _without()
        if not self.without:
            try:
                # Before they are compiled: what is edited meanwhile is then seen to have changed.
                self.sources = _digests(LAB / file for name in core.HOT for file in core.sources_of(name))
                self.extensions = _extensions()
                return build(*arguments, **named)
            except (Exception, SystemExit) as problem:
                lines = str(problem).splitlines() or [type(problem).__name__]
                self.without = f"it did not compile when it was installed ({lines[0]})"
            finally:
                self.extensions = []
                shutil.rmtree(MADE, ignore_errors=True)
        if core.asked() == core.COMPILED:
            sys.exit(f"serving-lab: {core.ASKED}=compiled cannot be had: {self.without}")
        print(f"serving-lab: pure Python core: {self.without}", file=sys.stderr)
        return build(*arguments, **named)


def _without() -> str:
    """Why nothing is to be compiled, with what to do about it; empty when it is, and what it needs is there."""
    try:
        asked = core.asked()
    except ValueError as problem:
        sys.exit(f"serving-lab: {problem}")
    if asked == core.PURE:
        return f"{core.ASKED}=pure was asked for when it was installed; {core.AGAIN}"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if os.name == "posix" and shutil.which(compiler) is None:
        return f"no C compiler ({compiler}) was there when it was installed; on Debian: apt-get install gcc libc6-dev"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python.h was not there when it was installed; on Debian: apt-get install python3-dev"
    return ""


def _extensions() -> list[Extension]:
    """The hot modules as C."""
    from Cython.Build import cythonize

    sources = {name: (LAB / core.sources_of(name)[0]).relative_to(ROOT).as_posix() for name in core.HOT}
    made: list[Extension] = cythonize(
        [Extension(name, [source], extra_compile_args=FLAGS) for name, source in sources.items()],
        build_dir=str(MADE),
        compiler_directives=DIRECTIVES,
        force=True,
        quiet=True,
    )
    return made


def _digests(files: Iterable[Path]) -> dict[str, str]:
    """Those that are there, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.exists()}


def _leave_note(folder: Path, note: dict[str, Any]) -> None:
    """Puts the note where the extensions go; see lab/core.py."""
    (folder / core.note_name(SUFFIX)).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


class WithNote(build_py):
    """Leaves a note of why there are no extensions, if there are none, and none of what is no longer compiled."""

    def run(self) -> None:
        """Called by setuptools, before it compiles."""
        super().run()
        folder = LAB if self.editable_mode else Path(self.build_lib, "lab")
        for left in {*folder.glob(f"*{SUFFIX}")} - {folder / core.extension_of(name, SUFFIX) for name in core.HOT}:
            left.unlink()  # by an earlier build; Python would prefer it to its source, whatever that is now
        if backend.without:
            _leave_note(folder, {"without": backend.without})


class WithDigests(build_ext):
    """Leaves a note of what the extensions are and of what they were made."""

    def run(self) -> None:
        """Called by setuptools, if there are any."""
        super().run()
        made = [Path(self.build_lib, self.get_ext_filename(name)) for name in core.HOT]
        folder = LAB if self.inplace else Path(self.build_lib, "lab")
        _leave_note(folder, {"sources": backend.sources, "extensions": _digests(made)})


backend = Backend()
build_editable = backend.build_editable
build_sdist = backend.build_sdist
build_wheel = backend.build_wheel
get_requires_for_build_editable = backend.get_requires_for_build_editable
get_requires_for_build_sdist = backend.get_requires_for_build_sdist
get_requires_for_build_wheel = backend.get_requires_for_build_wheel
prepare_metadata_for_build_editable = backend.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = backend.prepare_metadata_for_build_wheel
