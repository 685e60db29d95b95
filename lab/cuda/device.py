"""What a measurement says about the device and the software that it ran on."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable
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
    percent = busy_percent(str(getattr(torch.cuda.get_device_properties(device), "uuid", "")))
    free, total = torch.cuda.mem_get_info(device)
    taken = total - free
    if (percent or 0) < BUSY_PERCENT and taken < BUSY_BYTES:
        return None
    at_work = "" if percent is None else f"{percent} % busy, "
    return (
        f"The GPU is in use by others ({at_work}{taken / 1e9:.1f} GB of its memory taken): "
        "the times of this run are not to be trusted."
    )


class _Utilization(ctypes.Structure):
    """NVML's nvmlUtilization_t: in % of the last sample period, of up to a second."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


def busy_percent(uuid: str, load: Callable[[str], Any] = ctypes.CDLL) -> int | None:
    """For how much of the last moment a kernel ran on the GPU `uuid`, from NVML; None where that cannot be asked.

    PyTorch can say it only with NVML's Python binding, which does not come with it.
    """
    handle, found = ctypes.c_void_p(), _Utilization()

    def ask(nvml: Any) -> bool:
        name = f"GPU-{uuid.removeprefix('GPU-')}".encode()
        return not (
            nvml.nvmlDeviceGetHandleByUUID(name, ctypes.byref(handle))
            or nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(found))
        )

    return found.gpu if _asked(ask, load) else None


def _driver() -> str:
    """The driver's version, from NVML; empty text where that cannot be asked."""
    text = ctypes.create_string_buffer(96)
    told = _asked(lambda nvml: nvml.nvmlSystemGetDriverVersion(text, 96) == 0)
    return text.value.decode("ascii", "replace") if told else ""


def _asked(ask: Callable[[Any], bool], load: Callable[[str], Any] = ctypes.CDLL) -> bool:
    """Whether NVML, NVIDIA's library about its devices, is there and answered `ask`."""
    try:
        nvml = load("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2():
            return False
        try:
            return ask(nvml)
        finally:
            nvml.nvmlShutdown()
    except (OSError, AttributeError):
        return False
