"""How a child process with this same lab is started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lab

ROOT = str(Path(lab.__file__).resolve().parents[1])


def python_command(module: str) -> list[str]:
    """Run `module` with this interpreter, and import nothing from the current folder."""
    return [sys.executable, "-P", "-m", module]


def python_environment() -> dict[str, str]:
    """This process's environment, and this very lab before any other."""
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (ROOT, others)))}
