"""The hot modules of the core as WebAssembly, compiled by `pyodide build`; kept, so that it is done once a change.

What that needs is found by app/setup/toolchain.py. Where it is not there, the site has the core in plain Python and
one line says why; SERVING_LAB_CORE=compiled makes that an error, and SERVING_LAB_CORE=pure asks for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.build import crossbuild
from app.build.archive import unzip_bytes, zip_bytes
from app.build.errors import BuilderFault, BuildError
from app.build.folders import content_hash
from app.build.locks import alone
from app.build.node import Runtime, run_script
from app.build.paths import APP, ROOT, cache_folder
from app.build.say import say
from app.build.sources import python_version
from app.build.store import Store, sha256_hex
from app.setup import toolchain
from app.setup.environment import works
from lab import core

PYODIDE_BUILD = "pyodide-build>=0.39.2,<0.40"

SUFFIX = f".cpython-{python_version().replace('.', '')}-wasm32-emscripten.so"
"""What the runtime's Python calls its extensions."""

# Values are strings. Debian's emscripten is older than the one that the runtime was made with; what it compiles of C
# loads there. (The default -Oz would be 3.5 times slower.)
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "backend"
backend-path = ["app/setup"]

[project]
name = "serving-lab-core"
version = "0"

[tool.setuptools]
packages = ["lab"]

[tool.pyodide.build]
skip_emscripten_version_check = "1"
use_legacy_platform = "1"
cflags = "-O2 -g0 -fPIC"
ldflags = "-O2 -g0 -sWASM_BIGINT -sSIDE_MODULE=1"
"""
"""A project that is nothing but the hot modules."""


class Without(Exception):
    """The compiled core cannot be had: why, and what to do about it."""


TROUBLE = (Without, OSError, BuilderFault)


def wasm_core(runtime: Runtime, store: Store) -> dict[str, bytes]:
    """The extensions and their note, by path in site-packages; empty where they cannot be had, and one line said.

    Raises BuildError if they cannot and SERVING_LAB_CORE=compiled requires them.
    """
    try:
        asked = core.asked()
    except ValueError as problem:
        raise BuildError(str(problem)) from None
    if asked == core.PURE:
        return {}
    try:
        return _kept(runtime, store)
    except TROUBLE as problem:  # whatever a toolchain lacks, the site can do without
        if asked == core.COMPILED:
            raise BuildError(f"{core.ASKED}=compiled, but the page's core cannot be compiled: {problem}") from None
        say(f"the page gets the pure Python core: {_one_line(problem)}")
        return {}


def _kept(runtime: Runtime, store: Store) -> dict[str, bytes]:
    """Made by the emcc that is there; where there is none, or it fails, by the one that was there before."""
    project = _project()
    ways = sha256_hex(Path(crossbuild.__file__).read_bytes())
    key = " ".join([content_hash(project), content_hash(runtime.files), ways, PYODIDE_BUILD])
    compiler = toolchain.emcc()
    exact = f"{key} {toolchain.emcc_version(compiler)}" if compiler else key
    kept = store.get("wasm-core", exact)
    if kept is None:
        try:
            kept = zip_bytes(_compile(project, runtime))
            for one in (exact, key):
                store.put("wasm-core", one, kept)
        except TROUBLE as problem:
            kept = store.get("wasm-core", key)
            if kept is None:
                raise
            say(f"the page gets the compiled core that was made before: {_one_line(problem)}")
    return unzip_bytes(kept)


def _one_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0]


def _project() -> dict[str, bytes]:
    """The files that are compiled, by path."""
    lab = ROOT / "lab"
    files = {
        "pyproject.toml": PROJECT.encode(),
        "app/setup/backend.py": (APP / "setup" / "backend.py").read_bytes(),
        "lab/__init__.py": b"",
        "lab/core.py": (lab / "core.py").read_bytes(),
    }
    for path in [lab / name for module in core.HOT for name in core.sources_of(module)]:
        if path.exists():
            files[f"lab/{path.name}"] = path.read_bytes()
    return files


def _compile(project: dict[str, bytes], runtime: Runtime) -> dict[str, bytes]:
    """Runs the toolchain. Raises Without where something is missing or fails."""
    compiler = toolchain.emcc()
    if compiler is None:
        raise Without(f"no emcc on the PATH; {toolchain.INSTALL_EMSCRIPTEN}, then build again")
    python = toolchain.host_python()
    if python is None:
        raise Without(
            f"no Python {python_version()} with its headers runs here; install one, or uv, which brings one "
            "(python -m app.setup.toolchain), then build again"
        )
    say(f"compiling {', '.join(core.HOT)} to WebAssembly with {compiler}")
    bin_folder = _pyodide_build(python)
    with tempfile.TemporaryDirectory(prefix="serving-lab-core-", dir=_without_spaces()) as folder:
        place = Path(folder)
        crossbuild.make_crossbuild(runtime.files, python.headers, place / "xbuildenv")
        for name, content in project.items():
            (place / "project" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "project" / name).write_bytes(content)
        _run(
            [str(bin_folder / "pyodide"), "build", str(place / "project"), "-o", str(place), "--exports", "requested"],
            "pyodide build failed",
            place / "project",
            {
                **toolchain.emscripten_variables(compiler),
                "PYODIDE_XBUILDENV_PATH": str(place / "xbuildenv"),
                "TMPDIR": folder,
            },
            bin_folder,
        )
        wheels = list(place.glob("*.whl"))
        if len(wheels) != 1:
            raise Without(f"pyodide build made {len(wheels)} wheels where one was expected")
        wheel = unzip_bytes(wheels[0].read_bytes())
    names = [f"lab/{core.extension_of(module, SUFFIX)}" for module in core.HOT]
    note = f"lab/{core.note_name(SUFFIX)}"
    absent = [name for name in (*names, note) if name not in wheel]
    if absent:
        raise Without(f"pyodide build made no {', '.join(absent)}")
    extensions = {name: wheel[name] for name in names}
    check_imports(extensions, runtime)
    return {**extensions, note: wheel[note]}


def _without_spaces() -> Path:
    """Where temporary files go, but on a path without spaces: pip and compilers take a path with some for several."""
    for place in (Path(tempfile.gettempdir()), cache_folder(), Path("/tmp"), Path("/var/tmp")):
        if len(str(place).split()) == 1 and os.access(place, os.W_OK | os.X_OK):
            return place
    raise Without("no folder for temporary files has a path without spaces; set TMPDIR to one")


def check_imports(side_modules: dict[str, bytes], runtime: Runtime) -> None:
    """Raises Without if one of them (path → content) imports what `runtime` does not have."""
    with tempfile.TemporaryDirectory(prefix="serving-lab-imports-") as folder:
        paths = [Path(folder) / name.replace("/", "_") for name in side_modules]
        for path, content in zip(paths, side_modules.values(), strict=True):
            path.write_bytes(content)
        missing = json.loads(run_script("imports.mjs", runtime.path, *paths))
    for name, names in zip(side_modules, missing, strict=True):
        if names:
            raise Without(f"{name} imports what the runtime does not have: {', '.join(names)}")


def _pyodide_build(python: toolchain.HostPython) -> Path:
    """The folder of programs of an environment that has pyodide-build, made if it is not there or no longer runs."""
    home = cache_folder() / "pyodide-build" / sha256_hex(f"{PYODIDE_BUILD} {python.path}".encode())[:16]
    done = home / "done"

    def there() -> bool:  # the Python that it was made with may have gone
        return done.exists() and works(str(home / "bin" / "python"), "-c", "import pyodide_build")

    if not there():
        with alone(home.with_suffix(".lock")) as handles:
            if not there():
                say(f"installing {PYODIDE_BUILD} with {python.path}")
                make = [python.path, "-m", "venv", "--clear", str(home)]
                _run(make, "no virtual environment could be made", handles=handles)
                pip = [str(home / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
                _run(
                    [*pip, PYODIDE_BUILD, "pyodide-lock[wheel]"], "pip could not install pyodide-build", handles=handles
                )
                done.touch()
    return home / "bin"


def _run(
    command: list[str],
    problem: str,
    folder: Path | None = None,
    variables: dict[str, str] | None = None,
    first_on_path: Path | None = None,
    handles: Sequence[int] = (),
) -> None:
    """Runs `command` without the flags that are meant for other compilers; raises Without with its last line."""
    unwanted = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CC", "CXX", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    env |= {"PYTHONHASHSEED": "0", core.ASKED: core.COMPILED, **(variables or {})}
    if first_on_path is not None:
        env["PATH"] = f"{first_on_path}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=env,
        pass_fds=handles,
        check=False,
    )
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Without(f"{problem}: {lines[-1] if lines else f'exit status {done.returncode}'}")
