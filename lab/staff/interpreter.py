"""The Python that runs solutions: where it keeps its files, and others in case an unprivileged user cannot use it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FLAGS = ("-s", "-S", "-P")
"""No site-packages, of the user or of the machine, and no folder of the start: just the standard library."""

PACKAGES = ("site-packages", "dist-packages")

_FACTS = """
import ctypes, json, sys, sysconfig
for name in ("hashlib", "ssl", "sqlite3", "decimal", "bz2", "lzma", "zlib", "_elementtree"):
    try:
        __import__(name)
    except ImportError:
        pass
mapped = set()
try:
    with open("/proc/self/maps") as file:
        mapped = {line.split(None, 5)[5].strip() for line in file if line.count("/")}
except OSError:
    pass
print(json.dumps({
    "version": list(sys.version_info[:2]),
    "stdlib": [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")],
    "multiarch": sysconfig.get_config_var("MULTIARCH") or "",
    "mapped": sorted(name for name in mapped if ".so" in name),
}))
"""

_NOT_COPIED = shutil.ignore_patterns(
    *PACKAGES, "test", "tests", "idlelib", "ensurepip", "lib2to3", "turtledemo", "tkinter", "config-*", "*.a"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """python:   the executable
    shown:    folders that a solution needs to see: the standard library and shared libraries
    masks:    folders in these that it must not see: installed packages
    readable: the same as files and folders without the masks; listable: folders of which only the names are needed
    """

    python: str
    version: tuple[int, int]
    shown: tuple[str, ...]
    masks: tuple[str, ...]
    readable: tuple[str, ...]
    listable: tuple[str, ...]


def interpreter(python: str) -> Interpreter | None:
    """What there is to know of `python`; None if it does not run, or is older than 3.11."""
    try:
        told = subprocess.run(
            [python, *FLAGS, "-c", _FACTS],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=True,
            cwd="/",
        )
        facts = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    version = (int(facts["version"][0]), int(facts["version"][1]))
    if version < (3, 11):
        return None
    multiarch = facts["multiarch"]
    libraries = {str(Path(name).parent) for name in facts["mapped"]}
    libraries |= {f"/lib/{multiarch}", f"/usr/lib/{multiarch}"} if multiarch else set()
    libraries |= {"/lib64", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"}
    wanted = {*facts["stdlib"], *libraries}
    shown = [path for path in sorted(wanted, key=lambda path: (path.count("/"), path)) if Path(path).exists()]
    shown = _with_links(shown)
    masks = sorted(set(_masks(shown)))
    listable: list[str] = []
    readable: list[str] = []
    for path in shown:
        _open(Path(path), masks, readable, listable)
    return Interpreter(python, version, tuple(shown), tuple(masks), tuple(readable), tuple(listable))


def ours() -> Interpreter | None:
    """The interpreter that this process runs in, without its virtual environment; else one of the same version."""
    wanted = sys.version_info[:2]
    own = [getattr(sys, "_base_executable", "") or sys.executable, sys.executable]
    for python in dict.fromkeys([*own, *_installed()]):
        found = interpreter(os.path.realpath(python))
        if found is not None and found.version == wanted:
            return found
    return None


def others(first: Interpreter, temporary: str) -> Iterator[tuple[Interpreter, str]]:
    """Other interpreters, and words for them: the machine's own of the same version, a copy, the machine's others."""
    known = [one for one in map(interpreter, _installed()) if one is not None and one.python != first.python]
    for other in known:
        if other.version == first.version:
            yield other, f"{other.python} instead"
    copied = _copy(first, temporary)
    if copied is not None:
        yield copied, "a copy of it"
    for other in known:
        if other.version != first.version:
            yield other, f"{other.python} (Python {other.version[0]}.{other.version[1]}) instead"


def _installed() -> list[str]:
    """The machine's own Pythons."""
    found: dict[str, None] = {}
    for folder in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"):
        for path in sorted(Path(folder).glob("python3*")):
            if path.name.removeprefix("python3").replace(".", "").isdecimal() or path.name == "python3":
                found[os.path.realpath(path)] = None
    return list(found)


def _copy(first: Interpreter, temporary: str) -> Interpreter | None:
    """`first` copied to a folder in `temporary` that everybody can read, and nobody but this user write."""
    name = f"python{first.version[0]}.{first.version[1]}"
    library = next((path for path in first.shown if Path(path).name == name), None)
    if library is None:
        return None
    target = Path(temporary) / "python"
    try:
        shutil.copytree(library, target / "lib" / name, ignore=_NOT_COPIED, dirs_exist_ok=True)
        (target / "bin").mkdir(exist_ok=True)
        shutil.copy2(first.python, target / "bin" / name)
        for shared in Path(library).parent.glob("libpython*.so*"):
            shutil.copy2(shared, target / "lib" / shared.name)
        for path in [target, *target.rglob("*")]:
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    except OSError:
        return None
    return interpreter(str(target / "bin" / name))


def _with_links(paths: list[str]) -> list[str]:
    """`paths`, with each symbolic link on the way to one, and what it leads to, each once and the outer ones first."""
    found: dict[str, None] = {}
    for path in paths:
        for part in [*reversed(Path(path).parents), Path(path)]:
            if part.is_symlink() and str(part) not in found:
                found[str(part)] = None
        found[os.path.realpath(path)] = None
    return sorted(found, key=lambda path: (path.count("/"), path))


def _masks(shown: list[str]) -> Iterator[str]:
    ours = Path(__file__).resolve().parents[2]
    for path in map(Path, shown):
        if path.is_symlink() or not path.is_dir():
            continue
        for name in PACKAGES:
            for pattern in (name, f"python3*/{name}"):
                yield from (str(mask) for mask in path.glob(pattern) if mask.is_dir() and not mask.is_symlink())
        for private in (ours / "lab", ours / "checks"):
            if private.is_relative_to(path):
                yield str(private)


def _open(path: Path, masks: list[str], readable: list[str], listable: list[str]) -> None:
    """Add `path` to what may be read, but for the masks in it."""
    if str(path) in masks:
        return
    if path.is_symlink() or not any(Path(mask).is_relative_to(path) for mask in masks):
        readable.append(str(path))
        return
    listable.append(str(path))
    for child in sorted(path.iterdir()):
        _open(child, masks, readable, listable)
