"""The folder `runtime-…`: Pyodide, less what a browser does not ask for."""

from __future__ import annotations

import json

from app.build.folders import Folder

WASM = "pyodide.asm.wasm"
ENGINE = "pyodide.asm.js"
LOADER = "pyodide.mjs"
LOCK = "pyodide-lock.json"

MAP_COMMENT = b"//# sourceMappingURL="


def runtime_folder(files: dict[str, bytes]) -> Folder:
    """The loader, the engine and a lock file that names no packages, as nothing is installed from one."""
    info = json.loads(files[LOCK])["info"]
    lock = json.dumps({"info": info, "packages": {}}, sort_keys=True).encode()
    scripts = {name: _without_map(files[name]) for name in (LOADER, ENGINE)}
    return Folder("runtime", {**scripts, WASM: files[WASM], LOCK: lock})


def _without_map(script: bytes) -> bytes:
    """The script without the comment that would make developer tools ask for a file that is not there."""
    return b"\n".join(line for line in script.split(b"\n") if not line.startswith(MAP_COMMENT))
