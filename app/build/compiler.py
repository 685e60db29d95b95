"""Bytecode from source, by the runtime's own Python, kept by content so that only what changed is compiled again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.build import node, sources
from app.build.say import say
from app.build.store import Store, sha256_hex


@dataclass(frozen=True, slots=True)
class Unit:
    """One source to compile. `name` is what tracebacks show; `level` is Python's optimisation level, 0 to 2."""

    name: str
    source: bytes
    level: int = 0


def compile_units(units: Sequence[Unit], runtime: node.Runtime, store: Store) -> list[bytes | None]:
    """The .pyc of each unit, in order; None for one that the runtime's Python cannot compile."""
    ways = sha256_hex(
        b"".join((node.HERE / name).read_bytes() for name in ("canonical.py", "inside.py", "compile.mjs"))
    )
    keys = [f"{sources.runtime().sha256} {ways} {unit.level} {unit.name} {sha256_hex(unit.source)}" for unit in units]
    found = [store.get("bytecode", key) for key in keys]
    missing = [index for index, content in enumerate(found) if content is None]
    if missing:
        say(f"compiling {len(missing)} of {len(units)} modules with the runtime's own Python")
        made = _compile([units[index] for index in missing], runtime)
        for index, content in zip(missing, made, strict=True):
            found[index] = content
            store.put("bytecode", keys[index], content)
    return [content or None for content in found]


def _compile(units: Sequence[Unit], runtime: node.Runtime) -> list[bytes]:
    """The .pyc of each unit; empty for one that cannot be compiled."""
    with tempfile.TemporaryDirectory(prefix="serving-lab-compile-") as folder:
        job = Path(folder)
        (job / "in").mkdir()
        (job / "out").mkdir()
        for number, unit in enumerate(units):
            (job / "in" / f"{number}.py").write_bytes(unit.source)
        (job / "job.json").write_text(json.dumps([[unit.name, unit.level] for unit in units]), encoding="utf-8")
        node.run_script("compile.mjs", runtime.path, job, node.HERE)
        for number, complaint in json.loads((job / "complaints.json").read_text(encoding="utf-8")):
            say(f"left out, as it is not Python {sources.python_version()}: {units[number].name} ({complaint})")
        return [
            path.read_bytes() if (path := job / "out" / f"{number}.pyc").exists() else b""
            for number in range(len(units))
        ]
