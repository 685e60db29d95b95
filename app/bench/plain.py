"""The same app through plain `panel convert`, from local files alone."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.bench.official import listed, official_wheels
from app.bench.wheels import lock_entry, our_wheel, pure_packages, requirements, wheel_of
from app.build.errors import BuilderFault, BuildError
from app.build.packages import installed
from app.build.paths import ROOT
from app.build.store import Store

PAGE = "plain_app.html"
RUNTIME = "pyodide/"
STYLES = "panel/"
"""Stands for Panel's server, in the page and in its worker."""

BOKEH_SERVER = "https://cdn.bokeh.org/bokeh/release/"
ADDRESS = re.compile(r"""(?:src|href)=["']([^"']+)""")
VERSION = re.compile(r"-\d+(\.\d+)*(?=\.min\.js$)")
"""What Bokeh's server adds to the names of its scripts."""

START = "loadPyodide()"
LOCAL_START = f'loadPyodide({{env: {{HOME: "/home/pyodide", PANEL_CDN_ROOT: "{STYLES}"}}}})'

OTHERWISE = (
    "  - micropip finds every package in the local lock file, and asks no package index (quicker)",
    "  - Panel's and Bokeh's wheels are those of the package index; Panel's own server has lighter ones (plain-lite)",
    "  - MarkupSafe and PyYAML come without their C parts, as in the site",
    "  - Pyodide is the site's, not the newer one that Panel would name",
)
"""In what the measured page differs from what `panel convert` makes by itself."""


def plain_files(runtime: Mapping[str, bytes], store: Store, *, lite: bool = False) -> dict[str, bytes]:
    """The files of the converted page, by path; `runtime` are the files of the runtime's npm package.

    lite: Panel and Bokeh from lighter wheels, like those on Panel's own server
    """
    lock = json.loads(runtime["pyodide-lock.json"])
    wheels, locked = _wheels(lock, store, lite)
    own_lock = json.dumps({"info": lock["info"], "packages": locked}).encode()
    needed = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
    files = {RUNTIME + name: content for name, content in wheels.items()}
    files |= {RUNTIME + name: runtime[name] for name in needed} | {f"{RUNTIME}pyodide-lock.json": own_lock}
    return files | _with_scripts(_converted())


def _wheels(lock: Mapping[str, Any], store: Store, lite: bool) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The wheels by file name, and what the lock file says of them."""
    asked = listed()
    wheels = official_wheels(lock, store)
    locked = {name: lock["packages"][name] for name in asked["official"]}
    for one in asked["indexed"]:
        locked[one["name"]] = lock_entry(one["name"], one["file"], wheels[one["file"]], [])
    for name in pure_packages(["panel", "bokeh"], set(locked)):
        file, content = wheel_of(name, store, lite=lite)
        wheels[file] = content
        locked[name] = lock_entry(name, file, content, requirements(name))
    return wheels, locked


def _converted() -> dict[str, bytes]:
    """What `panel convert` writes, with addresses on this site."""
    with tempfile.TemporaryDirectory(prefix="serving-lab-plain-") as folder:
        wheel, content = our_wheel()
        (Path(folder) / wheel).write_bytes(content)
        out = Path(folder) / "out"
        out.mkdir()
        spec = {
            "app": str(Path(__file__).with_name("plain_app.py")),
            "out": str(out),
            "requirements": [f"./{wheel}"],
            "runtime": f"{RUNTIME}pyodide.js",
        }
        done = subprocess.run(
            [sys.executable, "-P", "-m", "app.bench.convert", json.dumps(spec)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**os.environ, "PANEL_CDN_ROOT": STYLES, "PYTHONPATH": str(ROOT)},
        )
        if done.returncode:
            raise BuilderFault(f"`panel convert` failed:\n{(done.stdout + done.stderr).strip()[-4000:]}")
        files = {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.iterdir())}
    files[PAGE] = files[PAGE].replace(BOKEH_SERVER.encode(), b"bokeh/")
    worker = files["plain_app.js"].decode()
    if START not in worker:
        raise BuilderFault(f"`panel convert` no longer starts the runtime with {START}.")
    files["plain_app.js"] = worker.replace(START, LOCAL_START).encode()
    return files


def _with_scripts(files: dict[str, bytes]) -> dict[str, bytes]:
    """`files` with the scripts and styles that the page names, and the styles that Panel asks for later."""
    bokeh, panel = installed("bokeh"), installed("panel")
    if bokeh is None or panel is None:
        raise BuildError("Panel and Bokeh are not installed for this interpreter.")
    below = f"{STYLES}{importlib.metadata.version('panel')}/dist/"
    places = {"bokeh/": bokeh / "server" / "static" / "js", below: panel / "dist"}
    for address in ADDRESS.findall(files[PAGE].decode()):
        for prefix, folder in places.items():
            path = folder / VERSION.sub("", address.removeprefix(prefix))
            if address.startswith(prefix) and path.is_file():
                files[address] = path.read_bytes()
    for part in ("css", "bundled/theme", "assets"):
        for path in sorted((panel / "dist" / part).rglob("*")):
            if path.is_file():
                files[below + path.relative_to(panel / "dist").as_posix()] = path.read_bytes()
    return files
