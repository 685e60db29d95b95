"""What a measurement ran on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

from app.build import sources
from lab.bench.machine import cores, cpu


def machine(chromium: str) -> dict[str, Any]:
    """Processor, cores and versions; `chromium`: the browser's own version."""
    return {
        "processor": cpu(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "chromium": chromium,
        "pyodide": sources.runtime().version,
        **{name: importlib.metadata.version(name) for name in ("panel", "bokeh", "playwright", "serving-lab")},
    }


def load() -> float | None:
    """How many processes have wanted a core during the last minute; None where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def words(facts: dict[str, Any], loads: list[float]) -> list[str]:
    """`facts` in two lines; `loads`: the load before and after."""
    cores = f"{facts['cores']} core{'' if facts['cores'] == 1 else 's'}"
    load_words = f", load {loads[0]:.1f} before and {loads[-1]:.1f} after" if loads else ""
    return [
        f"{facts['processor']}, {cores}, {facts['system']}{load_words}",
        f"Chromium {facts['chromium']}, Pyodide {facts['pyodide']}, Panel {facts['panel']}, Bokeh {facts['bokeh']}, "
        f"serving-lab {facts['serving-lab']}, Python {facts['python']}, Playwright {facts['playwright']}",
    ]
