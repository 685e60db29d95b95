"""Puts the whole site together in memory."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from app.build import fetch, runtime_folder, vendor
from app.build.compress import siblings
from app.build.content import Content
from app.build.folders import Folder, content_hash
from app.build.node import Runtime, node
from app.build.out import NAME, SITE_FILE
from app.build.page import PREVIEW_WORKER, SERVICE_WORKER, make_page
from app.build.paths import SITE_SOURCES
from app.build.python_folder import python_folders
from app.build.say import say
from app.build.service_worker import service_worker
from app.build.store import Store, sha256_hex
from app.serve.headers import hosting_file

HOSTING_FILE = "_headers"

COUNTED = (runtime_folder.WASM, "/data.zip", "/app.zip")
"""Endings of the files whose bytes the page counts while Python starts (app/site/worker.js fetches them)."""

WITH_SNAPSHOT = (".bin",)
WITHOUT_SNAPSHOT = ("/stdlib.zip", "/start.zip")
"""The same, of a start from the snapshot, and of one without."""


@dataclass(frozen=True, slots=True)
class Site:
    """`files`: path from the root → content. `compressed`: the same for the `.br` and `.gz` beside them."""

    version: str
    files: dict[str, bytes]
    compressed: dict[str, bytes]


def make_site(
    store: Store,
    quality: int,
    frame_ancestors: Sequence[str] = (),
    content: Content | None = None,
    *,
    preview: bool = False,
) -> Site:
    """The site, from what is installed and what is fetched. Raises BuildError in plain words when it cannot be.

    content: an instructor's own; by default the lab's
    preview: for the author at work: the page asks for newer content, and works only with its server
    """
    content = content or Content()
    node()  # says at once what to install when it is missing
    with Runtime(fetch.runtime_files(store)) as runtime, ThreadPoolExecutor(1) as background:
        vendor_files = vendor.vendor_folder()
        runtime_files = runtime_folder.runtime_folder(runtime.files)
        # What never changes is compressed into the store while Python is compiled; below it is found there.
        background.submit(siblings, {**vendor_files.paths(), **runtime_files.paths()}, quality, store)
        config: dict[str, Any] = {
            "version": importlib.metadata.version("serving-lab"),
            "folders": {"vendor": vendor_files.name, "runtime": runtime_files.name},
            "solutions": content.solutions,
            "preview": content.fingerprint if preview else None,
            "scripts": [vendor_files.name + name for name in vendor.SCRIPTS],
        }
        python_files, lab_files = python_folders(runtime, store, config, content)
    config["folders"] |= {"python": python_files.name, "lab": lab_files.name}
    folders = (runtime_files, python_files, lab_files)
    config["start"] = _sizes(COUNTED, *folders)
    config["snapshot"] = _sizes(WITH_SNAPSHOT, *folders)  # empty when none could be made
    config["plain"] = _sizes(WITHOUT_SNAPSHOT, *folders)
    say("making the page")
    files = make_page(config, content)
    for folder in (vendor_files, runtime_files, python_files, lab_files):
        files |= folder.paths()
    version = content_hash(files)
    worker = (SITE_SOURCES / (PREVIEW_WORKER if preview else SERVICE_WORKER)).read_text(encoding="utf-8")
    files[SERVICE_WORKER] = worker.encode() if preview else service_worker(worker, version, files)
    compressed = siblings(files, quality, store)
    files[HOSTING_FILE] = hosting_file(files, frame_ancestors).encode()
    files[SITE_FILE] = _site_file(version, files, compressed, frame_ancestors)
    return Site(version, files, compressed)


def _sizes(endings: tuple[str, ...], *folders: Folder) -> dict[str, int]:
    """Path → bytes of the files with these endings, as decoded: that is what a reader of a stream counts."""
    sizes = {path: len(content) for folder in folders for path, content in folder.paths().items()}
    return {path: size for path, size in sorted(sizes.items()) if path.endswith(endings)}


def _site_file(
    version: str, files: dict[str, bytes], compressed: dict[str, bytes], frame_ancestors: Sequence[str]
) -> bytes:
    def entry(path: str) -> dict[str, Any]:
        forms = {kind: _facts(compressed[name]) for kind in ("br", "gz") if (name := f"{path}.{kind}") in compressed}
        return {**_facts(files[path]), **forms}

    document = {
        "site": NAME,
        "version": version,
        "frame_ancestors": list(frame_ancestors),
        "files": {path: entry(path) for path in sorted(files)},
    }
    return json.dumps(document, indent=1).encode()


def _facts(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": sha256_hex(content)}
