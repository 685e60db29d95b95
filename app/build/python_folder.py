"""The folders `python-…` (the standard library, what a start needs, the rest for later imports, a snapshot of memory
after a start's imports) and `lab-…` (ours: all of it for the app and the judge, and what shares an interpreter with a
learner's code)."""

from __future__ import annotations

from collections.abc import Container, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from app.build.archive import unzip_bytes, zip_bytes
from app.build.compiler import Unit, compile_units
from app.build.content import Content
from app.build.folders import Folder
from app.build.node import Runtime
from app.build.packages import VERSIONS, Candidates, candidates, is_ours, level, wanted
from app.build.say import say
from app.build.snapshot import OURS, in_parts, snapshot
from app.build.stdlib import stdlib_zip
from app.build.store import Store
from app.build.tracing import trace_start
from app.build.wasm_core import wasm_core

SITE_PACKAGES = "/lib/python3.12/site-packages/"
"""Where the files are in the browser; tracebacks show it."""

INDEX = "archives.txt"
"""In data.zip: `archive module` for each module of start.zip and rest.zip, one a line (app.page.rest reads it)."""

TEXTS = ("checks/",)
"""Beginnings of paths where Python files are texts for learners, not modules."""

LEARNER = (
    *("lab/__init__.", "lab/core.", "lab/grading/__init__.", "lab/grading/child/"),
    *("app/__init__.", "app/page/__init__.", "app/page/learner."),
)
"""Beginnings of the paths that learner.zip holds."""

KEPT = ("panel/theme/css/", "panel/_templates/", "bokeh/core/_templates/")
"""In the start whether a trace saw them read or not: Panel asks whether they exist long before it reads them."""


def python_folders(
    runtime: Runtime, store: Store, config: Mapping[str, Any], content: Content
) -> tuple[Folder, Folder]:
    """Compiles, starts the app once to see what it needs, and packs.

    What an app needs does not depend on `content`, so the start that tells is one of the lab's own.

    Returns the folder of the standard library and the packages, and the folder of what is ours. They are apart because
    ours changes often: a browser that has the packages keeps them.
    """
    with ThreadPoolExecutor(1) as beside:
        core = beside.submit(wasm_core, runtime, store)
        stdlib = stdlib_zip(runtime, store)
        compiled = compiled_files(candidates(), runtime, store) | core.result()
    needed = trace_start(compiled, stdlib, config, runtime, store)
    ours = with_content({name: code for name, code in compiled.items() if is_ours(name)}, content)
    parts = packages_apart(compiled, needed.files)
    start = parts["start.zip"]
    say(f"a start needs {len(ours)} files of ours and {len(start)} of {sum(map(len, parts.values()))} of the packages")
    packages = {"stdlib.zip": stdlib, **{name: zip_bytes(files) for name, files in parts.items()}}
    known = set(map(module_name, [*start, *unzip_bytes(stdlib)]))
    image = snapshot(
        {**start, **parts["data.zip"], **{name: compiled[name] for name in OURS}},
        stdlib,
        [name for name in needed.modules if name in known],
        config["folders"]["vendor"],
        runtime,
        store,
    )
    if image is not None:
        packages |= in_parts(image)
    lab = {"app.zip": zip_bytes(ours), "learner.zip": zip_bytes(for_learners(ours))}
    return Folder("python", packages), Folder("lab", lab)


def packages_apart(compiled: Mapping[str, bytes], needed: Container[str]) -> dict[str, dict[str, bytes]]:
    """The packages' files by archive: the modules of a start, what they read, and the rest.

    Only the packages': also where `Content` has replaced some of ours.
    """
    parts: dict[str, dict[str, bytes]] = {"start.zip": {}, "data.zip": {}, "rest.zip": {}}
    for name, code in compiled.items():
        if not is_ours(name):
            at_start = "start.zip" if module_name(name) else "data.zip"
            parts[at_start if name in needed or always(name) else "rest.zip"][name] = code
    lines = [
        f"{part} {module}" for part, files in parts.items() for module in sorted(map(module_name, files)) if module
    ]
    parts["data.zip"][INDEX] = "\n".join(lines).encode()
    return parts


def with_content(ours: Mapping[str, bytes], content: Content) -> dict[str, bytes]:
    """`ours` with what `content` has in the place of the packages that it replaces; nothing of them stays."""
    kept = {
        name: code
        for name, code in ours.items()
        if name.split("/")[0] not in content.packages or name.split("/")[1].startswith("__init__.")
    }
    return kept | {name: data for name, data in content.files.items() if wanted(name)}


def for_learners(ours: Mapping[str, bytes]) -> dict[str, bytes]:
    """What of ours shares an interpreter with a learner's code: no expected value, no check, no solution."""
    return {name: content for name, content in ours.items() if name.startswith(LEARNER)}


def compiled_files(found: Candidates, runtime: Runtime, store: Store) -> dict[str, bytes]:
    """The candidates with each `.py` replaced by its `.pyc`, by path in site-packages."""
    sources = [name for name in sorted(found.files) if name.endswith(".py") and not name.startswith(TEXTS)]
    known = set(sources)
    units = [Unit(SITE_PACKAGES + name, found.files[name], level(name)) for name in sources]
    files = {name: content for name, content in found.files.items() if name not in known}
    for name, code in zip(sources, compile_units(units, runtime, store), strict=True):
        if code is not None:
            files[f"{name}c"] = code
    return files


def module_name(path: str) -> str:
    """The dotted name of the module in this file; empty when it is not a module."""
    if path.endswith("/__init__.pyc"):
        return path.removesuffix("/__init__.pyc").replace("/", ".")
    if path.endswith(".pyc"):
        return path.removesuffix(".pyc").replace("/", ".")
    if path.endswith(".so"):
        return path.split(".", 1)[0].replace("/", ".")
    return ""


def always(name: str) -> bool:
    """True for what is in the start whether a trace met it or not: packages' versions, and KEPT."""
    return name.endswith(VERSIONS) or name.startswith(KEPT)
