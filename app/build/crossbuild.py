"""The cross-build environment that `pyodide build` compiles against, made from the runtime's npm package.

pyodide-build would fetch one that is large and lies on a host of its own. Of it, a C extension needs three things: the
target's `sysconfig` data, which the runtime's standard library has; Python's headers, which any CPython of the same
minor version has; and `pyconfig.h`, which `sysconfig` data say all about.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.build.archive import unzip_bytes

SYSCONFIG = "_sysconfigdata__emscripten_wasm32-emscripten"

DEFINED = re.compile(r"^\s*(?:#\s*define\s+(\w+)|/\*\s*#\s*undef\s+(\w+)\s*\*/)", re.MULTILINE)
"""The names that a `pyconfig.h` defines, or says that it does not."""

COMPILE = "-O2 -g0 -fPIC"
LINK = "-O2 -g0 -sSIDE_MODULE=1 -sWASM_BIGINT"


@dataclass(frozen=True, slots=True)
class Target:
    """What is compiled for. `python` as in 3.12.7; `emscripten` as in 3.1.58."""

    pyodide: str
    python: str
    abi: str
    emscripten: str

    @property
    def minor(self) -> str:
        """As in 3.12."""
        return self.python.rpartition(".")[0]


def target_of(runtime: Mapping[str, bytes]) -> Target:
    """What the runtime says of itself. runtime: the files of the npm package, by name."""
    info = json.loads(runtime["pyodide-lock.json"])["info"]
    version = json.loads(runtime["package.json"])["version"]
    return Target(
        version,
        info["python"],
        info["abi_version"],
        info["platform"].removeprefix("emscripten_").replace("_", "."),
    )


def make_crossbuild(runtime: Mapping[str, bytes], headers: Path, out: Path) -> None:
    """Writes the environment for `runtime` to `out`, which PYODIDE_XBUILDENV_PATH may then name.

    headers: the folder with Python.h of a CPython of the target's minor version; OSError if it is not whole
    """
    target = target_of(runtime)
    root = out / target.pyodide / "xbuildenv" / "pyodide-root"
    python = root / "cpython" / "installs" / f"python-{target.python}"
    include = python / "include" / f"python{target.minor}"
    (python / "sysconfigdata").mkdir(parents=True)
    (root / "dist").mkdir()
    (root / "dist" / "pyodide-lock.json").write_bytes(runtime["pyodide-lock.json"])
    (root.parent / "requirements.txt").touch()
    settings = _sysconfig(runtime, python)
    (python / "sysconfigdata" / f"{SYSCONFIG}.py").write_text(f"build_time_vars = {settings!r}\n")
    shutil.copytree(headers, include)
    (include / "pyconfig.h").write_text(_pyconfig(_names(headers), settings))
    lines = [f"export {name}={value}\n" for name, value in _variables(target, root, python, include).items()]
    (root / "Makefile.envs").write_text("".join(lines) + "\n.output_vars:\n\tset\n")
    (out / target.pyodide / ".installed").touch()
    (out / target.pyodide / ".build-python-version").write_text(target.minor)
    (out / "xbuildenv").symlink_to(out / target.pyodide)


def _sysconfig(runtime: Mapping[str, bytes], python: Path) -> dict[str, Any]:
    """The target's build settings, with the folder `python` where the runtime's makers had theirs."""
    module: dict[str, Any] = {}
    exec(unzip_bytes(runtime["python_stdlib.zip"])[f"{SYSCONFIG}.py"], module)  # the runtime's digest is pinned
    settings: dict[str, Any] = module["build_time_vars"]
    old = settings["prefix"]
    return {
        name: value.replace(old, str(python)) if isinstance(value, str) else value for name, value in settings.items()
    }


def _names(headers: Path) -> list[str]:
    """What a `pyconfig.h` of the host's Python speaks of. Debian's is a switch to one of several beside it."""
    files = [headers / "pyconfig.h", *sorted(headers.parent.glob(f"*/{headers.name}/pyconfig.h"))]
    found = [a or b for file in files for a, b in DEFINED.findall(file.read_text(encoding="utf-8"))]
    if "SIZEOF_LONG" not in found:
        raise OSError(f"{headers / 'pyconfig.h'} is not what a Python was built with")
    return list(dict.fromkeys(found))


def _pyconfig(names: Sequence[str], settings: Mapping[str, Any]) -> str:
    """The target's `pyconfig.h`: these names, with what they are on the target."""

    def lines() -> Iterator[str]:
        yield "#ifndef Py_PYCONFIG_H\n#define Py_PYCONFIG_H"
        for name in names:
            if name != "Py_PYCONFIG_H":
                known = settings.get(name) not in (None, 0, "")
                yield f"#define {name} {settings[name]}" if known else f"/* #undef {name} */"
        yield "#endif\n"

    return "\n".join(lines())


def _variables(target: Target, root: Path, python: Path, include: Path) -> dict[str, str | Path]:
    """What pyodide-build reads from the environment's Makefile."""
    major, minor, micro = target.python.split(".")
    artifacts = root / "packages" / ".artifacts"
    return {
        "PYVERSION": target.python,
        "PYMAJOR": major,
        "PYMINOR": minor,
        "PYMICRO": micro,
        "PYODIDE_VERSION": target.pyodide,
        "PYODIDE_ABI_VERSION": target.abi,
        "PYODIDE_EMSCRIPTEN_VERSION": target.emscripten,
        "PLATFORM_TRIPLET": "wasm32-emscripten",
        "SYSCONFIG_NAME": SYSCONFIG,
        "SYSCONFIGDATA_DIR": python / "sysconfigdata",
        "CPYTHONINSTALL": python,
        "TARGETINSTALLDIR": python,
        "PYTHONINCLUDE": include,
        "HOSTINSTALLDIR": artifacts,
        "HOSTSITEPACKAGES": artifacts / "lib" / f"python{target.minor}" / "site-packages",
        "CFLAGS_BASE": COMPILE,
        "CXXFLAGS_BASE": COMPILE,
        "LDFLAGS_BASE": "-O2 -g0 -s WASM_BIGINT",
        "SIDE_MODULE_CFLAGS": f"{COMPILE} -I{include}",
        "SIDE_MODULE_CXXFLAGS": COMPILE,
        "SIDE_MODULE_LDFLAGS": LINK,
        "PIP_CONSTRAINT": root / "pip-constraint.txt",
    }
