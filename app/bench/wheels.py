"""Wheels for plain `panel convert`, packed again from the packages that are installed here: the site's own versions."""

from __future__ import annotations

import importlib.metadata
import io
import zipfile
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.build.errors import BuildError
from app.build.packages import OUR_NAME, our_files
from app.build.store import Store, sha256_hex

BROWSER = {
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "platform_machine": "wasm32",
    "os_name": "posix",
    "python_version": "3.12",
    "python_full_version": "3.12.7",
    "implementation_name": "cpython",
    "extra": "",
}
"""The environment for which requirements are looked at."""

LITE_LEFT_OUT = ("panel/dist/", "bokeh/server/static/", "panel/tests/")
"""What the wheels on Panel's own server lack (it is built with PANEL_LITE, and Bokeh's scripts are taken out)."""


def requirements(name: str) -> list[str]:
    """The normalised names of what an installed package requires in the browser."""
    found = [Requirement(text) for text in _distribution(name).requires or ()]
    return [canonicalize_name(one.name) for one in found if one.marker is None or one.marker.evaluate(BROWSER)]


def pure_packages(roots: list[str], official: Container[str]) -> list[str]:
    """The names of `roots` and of all that they need and that is not `official`."""
    found: list[str] = []
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name not in found and name not in official:
            found.append(name)
            todo += requirements(name)
    return sorted(found)


def wheel_of(name: str, store: Store, *, lite: bool = False) -> tuple[str, bytes]:
    """File name and content of a pure wheel of an installed package, compressed as wheels are, and kept in `store`.

    lite: as on Panel's own server, where Panel and Bokeh come without their scripts for the page
    """
    distribution = _distribution(name)
    key = f"{name} {distribution.version} {lite} {sha256_hex(Path(__file__).read_bytes())}"
    content = store.get("wheels", key)
    if content is None:
        content = _zipped(dict(_files(distribution, LITE_LEFT_OUT if lite else ())))
        store.put("wheels", key, content)
    return wheel_name(name, distribution.version), content


def _files(distribution: importlib.metadata.Distribution, left_out: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    for file in distribution.files or ():
        path, place = file.as_posix(), Path(str(file.locate()))
        if _belongs(path) and not path.startswith(left_out) and place.is_file():
            yield path, place.read_bytes()


def our_wheel() -> tuple[str, bytes]:
    """A wheel of the lab's Python as the site ships it, as source. What it needs is named by the conversion."""
    files = our_files()
    info = next(path for path in files if path.endswith(".dist-info/METADATA")).removesuffix("METADATA")
    files[f"{info}WHEEL"] = b"Wheel-Version: 1.0\nGenerator: serving-lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}RECORD"] = "".join(f"{path},,\n" for path in sorted([*files, f"{info}RECORD"])).encode()
    return wheel_name(OUR_NAME, importlib.metadata.version(OUR_NAME)), _zipped(files)


def lock_entry(name: str, file: str, content: bytes, depends: list[str]) -> dict[str, Any]:
    """What pyodide-lock.json says about a wheel."""
    return {
        "name": name,
        "version": file.split("-")[1],
        "file_name": file,
        "install_dir": "site",
        "sha256": sha256_hex(content),
        "package_type": "package",
        "imports": [],
        "depends": depends,
        "unvendored_tests": False,
        "shared_library": False,
    }


def wheel_name(name: str, version: str) -> str:
    """The file name of a pure wheel."""
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def _belongs(path: str) -> bool:
    return not path.startswith("../") and "__pycache__" not in path and not path.endswith((".so", ".pyd"))


def _zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _distribution(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise BuildError(f"Plain `panel convert` needs {name}, which is not installed here.") from None
