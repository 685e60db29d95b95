"""Runs inside the runtime's own Python (Pyodide under Node): turns sources into bytecode files."""

from __future__ import annotations

import importlib.util
import json
import marshal
import warnings
from pathlib import Path

from canonical import canonical  # type: ignore[import-not-found]

UNCHECKED_HASH = (1).to_bytes(4, "little")
"""The flags of a .pyc that is tied to its source's hash and never compared with the source."""


def compile_all(folder: str) -> str:
    """Compiles `folder`/in/N.py to `folder`/out/N.pyc for each entry N of `folder`/job.json.

    An entry is [file name for tracebacks, optimisation level]. Returns a JSON list of [N, complaint] for the
    sources that this Python cannot compile (a template that only looks like Python, a newer syntax).
    """
    warnings.simplefilter("ignore")
    base = Path(folder)
    complaints = []
    for number, (name, level) in enumerate(json.loads((base / "job.json").read_bytes())):
        source = (base / "in" / f"{number}.py").read_bytes()
        try:
            code = compile(source, name, "exec", dont_inherit=True, optimize=level)
        except (SyntaxError, ValueError) as problem:
            complaints.append([number, str(problem)])
            continue
        head = importlib.util.MAGIC_NUMBER + UNCHECKED_HASH + importlib.util.source_hash(source)
        (base / "out" / f"{number}.pyc").write_bytes(head + canonical(marshal.dumps(code)))
    return json.dumps(complaints)
