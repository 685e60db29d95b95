"""Is there a GPU that this lab can use, and if not, what is missing?

`python -m lab.cuda.detect` prints the answer as JSON. Whoever serves people asks through `look`, which runs that in a
child process: a broken driver may hang or crash, and PyTorch takes seconds and hundreds of megabytes to import.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.cuda.spawn import python_command, python_environment

INSTALL = "pip install '.[cuda]' in the lab's checkout"
LOOK_SECONDS = 60
"""PyTorch with CUDA is gigabytes: read from a slow disk for the first time, its import takes half a minute."""


@dataclass(frozen=True, slots=True)
class Status:
    """Whether CUDA can be used.

    missing:  None, or what stands in the way: driver, gpu, pytorch, pytorch-cuda, triton, compiler, headers,
              unknown
    sentence: what is there, or what is missing and what to do about it, in one sentence
    devices:  name, and if asked for memory_bytes and free_bytes, of each GPU
    """

    available: bool
    missing: str | None
    sentence: str
    devices: tuple[dict[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {**asdict(self), "devices": list(self.devices)}


def python_headers() -> bool:
    """Whether a C compiler finds Python.h: where this Python keeps it, or where the environment says."""
    named = [os.environ.get(name, "") for name in ("CPATH", "C_INCLUDE_PATH")]
    folders = [sysconfig.get_paths()["include"], *(folder for text in named for folder in text.split(os.pathsep))]
    return any(folder and (Path(folder) / "Python.h").is_file() for folder in folders)


def detect(
    load: Callable[[str], Any] = ctypes.CDLL,
    find: Callable[[str], object] = importlib.util.find_spec,
    import_module: Callable[[str], Any] = importlib.import_module,
    which: Callable[[str], str | None] = shutil.which,
    ask_memory: bool = True,
    has_headers: Callable[[], bool] = python_headers,
) -> Status:
    """Look in this process: driver, GPU, PyTorch, its CUDA build, Triton, a C compiler, Python.h, in this order.

    ask_memory: also how much memory each GPU has and how much is free, which takes some on each of them while this
    process lives. The other parameters stand in for the system in tests. PyTorch is imported only when a GPU was seen.
    """
    names = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1",)
    driver = next((library for name in names if (library := _loaded(load, name)) is not None), None)
    if driver is None:
        return Status(
            False,
            "driver",
            f"There is no NVIDIA driver on this machine ({names[0]} not found): install NVIDIA's driver.",
        )
    count = ctypes.c_int(0)
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code or count.value == 0:
        return Status(
            False,
            "gpu",
            f"An NVIDIA driver is installed, but no GPU is usable (CUDA error {code}, {count.value} devices): look at "
            "what nvidia-smi says, and in a container hand the GPU through.",
        )
    if find("torch") is None:
        return Status(False, "pytorch", f"There is a GPU, but PyTorch is not installed: {INSTALL}.")
    torch = import_module("torch")
    if torch.version.cuda is None:
        return Status(
            False,
            "pytorch-cuda",
            f"There is a GPU, but PyTorch {torch.__version__} is a build without CUDA: install one that has CUDA.",
        )
    if not torch.cuda.is_available():
        return Status(
            False,
            "pytorch-cuda",
            f"There is a GPU, but PyTorch {torch.__version__} for CUDA {torch.version.cuda} cannot use it, most likely "
            "because the driver is too old: install a newer driver, or a PyTorch for an older CUDA.",
        )
    if find("triton") is None:
        return Status(False, "triton", f"There is a GPU and PyTorch, but Triton is not installed: {INSTALL}.")
    # Triton builds its launcher when the first kernel runs, with the compiler that CC names, gcc or clang.
    if not os.environ.get("CC") and not any(which(name) for name in ("gcc", "clang")):
        return Status(False, "compiler", "There is a GPU and PyTorch, but Triton needs a C compiler: install gcc.")
    if not has_headers():
        return Status(
            False,
            "headers",
            "There is a GPU and PyTorch, but Triton needs Python.h, which this Python came without: install its "
            f"headers (the package python{sys.version_info[0]}.{sys.version_info[1]}-dev or python3-devel).",
        )
    devices = tuple(_device(torch, index, ask_memory) for index in range(torch.cuda.device_count()))
    listed = ", ".join(f"{index}: {device['name']}" for index, device in enumerate(devices))
    return Status(True, None, f"CUDA {torch.version.cuda} with PyTorch {torch.__version__} on {listed}.", devices)


def _loaded(load: Callable[[str], Any], name: str) -> Any:
    try:
        return load(name)
    except OSError:
        return None


def _device(torch: Any, index: int, ask_memory: bool) -> dict[str, Any]:
    if not ask_memory:
        return {"name": torch.cuda.get_device_name(index)}
    free, total = torch.cuda.mem_get_info(index)
    return {"name": torch.cuda.get_device_name(index), "memory_bytes": total, "free_bytes": free}


def look(command: list[str] | None = None, seconds: float = LOOK_SECONDS) -> Status:
    """`detect` in a child process. What goes wrong there is an answer, too. `command` instead of ours: for tests."""
    try:
        done = subprocess.run(
            command or python_command("lab.cuda.detect"),
            env=python_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        answer = json.loads(done.stdout)
        return Status(**{**answer, "devices": tuple(answer["devices"])})
    except subprocess.TimeoutExpired:
        why = f"did not answer within {seconds:g} s"
    except (OSError, ValueError, KeyError, TypeError):
        why = "failed"
    return Status(
        False, "unknown", f"Looking for a GPU {why}: the driver or PyTorch is broken; look at what nvidia-smi says."
    )


if __name__ == "__main__":
    json.dump(detect().to_dict(), sys.stdout)
