"""What a measurement says about the device and the software that it ran on."""

from __future__ import annotations

import ctypes
import platform
from typing import Any

import torch

BUSY_PERCENT = 10
BUSY_BYTES = 2 * 2**30


def facts(device: torch.device) -> dict[str, Any]:
    """The device, as plain JSON data. `cache_bytes`: of the last cache before memory; 0 where it is not known."""
    if device.type == "cpu":
        return {
            "kind": "cpu",
            "name": platform.processor() or platform.machine() or "CPU",
            "memory_bytes": 0,
            "cache_bytes": 0,
            "compute_capability": "",
            "driver": "",
        }
    about = torch.cuda.get_device_properties(device)
    return {
        "kind": "cuda",
        "name": about.name,
        "memory_bytes": about.total_memory,
        "cache_bytes": getattr(about, "L2_cache_size", 0),
        "compute_capability": f"{about.major}.{about.minor}",
        "driver": _driver(),
    }


def versions() -> dict[str, str]:
    """Versions of PyTorch, CUDA and Triton; empty text for what is not there."""
    try:
        import triton

        triton_version = str(triton.__version__)
    except ImportError:
        triton_version = ""
    return {"torch": str(torch.__version__), "cuda": str(torch.version.cuda or ""), "triton": triton_version}


def busy(device: torch.device) -> str | None:
    """A sentence when others seem to use the GPU, since then no time is to be trusted; None when it looks idle.

    Asked before anything of ours is on it, apart from PyTorch's context.
    """
    try:
        percent = torch.cuda.utilization(device)
    except Exception:  # needs NVML's Python binding, which is no part of PyTorch
        percent = 0
    free, total = torch.cuda.mem_get_info(device)
    taken = total - free
    if percent < BUSY_PERCENT and taken < BUSY_BYTES:
        return None
    return (
        f"The GPU is in use by others ({percent} % busy, {taken / 1e9:.1f} GB of its memory taken): "
        "the times of this run are not to be trusted."
    )


def _driver() -> str:
    """The driver's version, from NVML; empty text where that cannot be asked."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2():
            return ""
        text = ctypes.create_string_buffer(96)
        found = nvml.nvmlSystemGetDriverVersion(text, 96) == 0
        nvml.nvmlShutdown()
        return text.value.decode("ascii", "replace") if found else ""
    except (OSError, AttributeError):
        return ""
