"""What a benchmark ran on, as far as this machine tells."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path


def machine() -> dict[str, str]:
    """CPU, cores, system, versions of what compiles, and the load; what is not known is left out."""
    known = {
        "CPU": cpu(),
        "cores": str(cores()),
        "memory": _memory(),
        "system": platform.platform(),
        "C compiler": _first_line("cc", "--version"),
        "emscripten": _first_line("emcc", "--version"),
        "commit": _first_line("git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"),
        "load average at the start": load(),
    }
    return {name: value for name, value in known.items() if value}


def load() -> str:
    """Load average over 1, 5 and 15 minutes."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else ""


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu() -> str:
    """The processor's name, as far as this machine tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    found = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    about = {key.strip(): value.strip() for key, value in found.items()}
    name = about.get("model name", platform.machine())
    return f"{name} (family {about['cpu family']}, model {about['model']})" if "cpu family" in about else name


def _memory() -> str:
    try:
        line = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()[0]
    except OSError:
        return ""
    return f"{int(line.split()[1]) * 1024 / 1e9:.1f} GB"


def _first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""
