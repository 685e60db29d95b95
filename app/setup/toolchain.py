"""Find what compiles the core for WebAssembly, and install Debian's when it is missing and we may.

    python -m app.setup.toolchain

Emscripten, and a Python of the runtime's minor version with its headers. Nothing here is needed: without them the
site has the core in plain Python. SERVING_LAB_CORE=pure asks for that, and nothing is installed.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.build.errors import BuildError
from app.build.paths import cache_folder
from app.build.sources import python_version
from app.setup.environment import apt_install, say, works
from lab.core import ASKED, PURE

DAY = 24 * 60 * 60

INSTALL_EMSCRIPTEN = "on Debian, as root: apt-get install --no-install-recommends emscripten"

MANAGED = (
    "~/.pyenv/versions/{minor}*/bin/python{minor}",
    "~/.local/share/uv/python/cpython-{minor}*/bin/python{minor}",
    "~/.local/share/mise/installs/python/{minor}*/bin/python{minor}",
    "~/.asdf/installs/python/{minor}*/bin/python{minor}",
    "~/miniconda3/envs/*/bin/python{minor}",
    "/opt/python/cp{digits}-cp{digits}/bin/python{minor}",
)
"""Where version managers keep theirs: what they put on the path may be a shim that runs another version, or none."""

PROBE = """
import ensurepip, sys, sysconfig, venv
from pathlib import Path
headers = Path(sysconfig.get_path("include"))
print(headers) if (headers / "Python.h").exists() and sys.version_info[:2] == {version} else sys.exit(1)
"""


@dataclass(frozen=True, slots=True)
class HostPython:
    """A Python that runs, and the folder with its Python.h."""

    path: str
    headers: Path


def emcc() -> str | None:
    """Emscripten's compiler on the path."""
    return shutil.which("emcc")


def emcc_version(compiler: str) -> str:
    """What tells one release of `compiler` from another, without the time that it takes to ask it."""
    real = Path(compiler).resolve()
    release = real.parent / "emscripten-version.txt"
    for file in (release, real):
        with contextlib.suppress(OSError):
            text = file.read_text(encoding="utf-8", errors="replace").strip() if file == release else file.name
            return f"{text} {file.stat().st_size} {file.stat().st_mtime_ns}"
    return ""


def emscripten_variables(compiler: str) -> dict[str, str]:
    """Environment variables with which `compiler` and what it calls are found and run."""
    variables = {}
    if "EMSDK_PYTHON" not in os.environ:
        # Debian's emcc is a script that runs whatever `python3` is first on the path.
        python = next((one for one in ("/usr/bin/python3", sys.executable) if works(one, "-c", "")), None)
        variables = {"EMSDK_PYTHON": python} if python else {}
    tools = [str(Path(compiler).parent)]
    with contextlib.suppress(OSError):
        asked = subprocess.run(
            ["em-config", "LLVM_ROOT"], capture_output=True, text=True, env={**os.environ, **variables}, check=False
        )
        root = asked.stdout.strip()
        if root:
            # Debian has them all in a folder of their own, and links to some from elsewhere.
            clang = next(Path(root).glob("clang-[0-9]*"), None)
            tools.append(str(clang.resolve().parent if clang else root))
    return variables | {"PATH": os.pathsep.join([*tools, os.environ.get("PATH", os.defpath)])}


def host_python() -> HostPython | None:
    """A Python of the runtime's minor version that runs, can make environments, and has its headers."""
    minor = python_version()
    probe = PROBE.format(version=tuple(map(int, minor.split("."))))
    for name in _candidates(minor):
        with contextlib.suppress(OSError):
            asked = subprocess.run(
                [name, "-c", probe],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if asked.returncode == 0:
                return HostPython(name, Path(asked.stdout.strip()))
    return None


def _candidates(minor: str) -> Iterator[str]:
    yield sys.executable
    yield from (f"python{minor}", "python3", "python")
    for pattern in MANAGED:
        yield from _matching(pattern.format(minor=minor, digits=minor.replace(".", "")))
    root = os.environ.get("PYENV_ROOT")
    if root:
        yield from _matching(f"{glob.escape(root)}/versions/{minor}*/bin/python{minor}")
    yield from _matching(f"{glob.escape(str(_brought()))}/cpython-{minor}*/bin/python{minor}")


def _matching(pattern: str) -> list[str]:
    """Files that match; none in a folder that we may not read, nor for somebody without a home."""
    return sorted(glob.glob(os.path.expanduser(pattern)))  # noqa: PTH111, PTH207 (pathlib's raise in both cases)


def _brought() -> Path:
    """Where uv puts what `bring_python` asks for."""
    return cache_folder() / "python"


def bring_python() -> bool:
    """Have uv bring a Python into our cache; False when it cannot, such as without a network."""
    uv = shutil.which("uv")
    if uv is None:
        tools = cache_folder() / "uv"
        made = works(sys.executable, "-m", "venv", str(tools)) and works(
            str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries", "1", "uv"
        )
        uv = str(tools / "bin" / "uv")
        if not made:
            return False
    return works(uv, "python", "install", "--no-bin", "--install-dir", str(_brought()), python_version())


def _tried() -> Path:
    """A file that is there while the toolchain cannot be had, as new as the last attempt."""
    return cache_folder() / "toolchain-tried"


def in_reach() -> str:
    """What a quick look tells of whether a site gets the compiled core: when it changes, another site may come."""
    compiler = emcc()
    release = emcc_version(compiler) if compiler else ""
    return f"{os.environ.get(ASKED, '')} {compiler} {release} {_tried().exists()}"


def main() -> None:
    """Called by the Makefile, before anything is built. What fails is not tried again on the same day."""
    if os.environ.get(ASKED) == PURE:
        return
    found = emcc() is not None and host_python() is not None
    tried = _tried()
    lately = tried.exists() and time.time() - tried.stat().st_mtime < DAY
    if not found and lately and not os.environ.get("CI"):
        return
    if emcc() is None and (os.geteuid() == 0 or os.environ.get("CI")):
        say(f"installing Debian's emscripten, which compiles the core for the page ({ASKED}=pure does without)")
        found = apt_install("emscripten") and emcc() is not None and host_python() is not None
    if emcc() is not None and not found:
        say(f"asking uv for a Python {python_version()}, which compiles the core for the page")
        found = bring_python() and host_python() is not None
    with contextlib.suppress(OSError):  # then it is tried again
        if found:
            tried.unlink(missing_ok=True)
        else:
            tried.parent.mkdir(parents=True, exist_ok=True)
            tried.touch()


if __name__ == "__main__":
    try:
        main()
    except BuildError as problem:
        sys.exit(f"setup: {problem}")
