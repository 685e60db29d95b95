"""These tests need PyTorch and Triton, which the lab's own environment has not: run them by `make test-cuda`.

On a machine with a GPU they run on it; elsewhere the same kernels run in Triton's interpreter, on the CPU.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

for needed in ("torch", "triton"):
    if importlib.util.find_spec(needed) is None:
        pytest.exit(f"tests/cuda needs {needed}; run these tests by `make test-cuda`", returncode=2)

import torch  # noqa: E402

ON_GPU = torch.cuda.is_available()
if not ON_GPU:
    os.environ["TRITON_INTERPRET"] = (
        "1"  # before Triton is imported: its own library, too, is made for one or the other
    )
    torch.set_num_threads(1)


def pytest_report_header() -> str:
    """Where the kernels run, at the head of every run."""
    if ON_GPU:
        return f"kernels run on {torch.cuda.get_device_name()}"
    return "kernels run in Triton's interpreter on the CPU: nothing here confirms what a GPU does"


@pytest.fixture(scope="session")
def device() -> torch.device:
    return torch.device("cuda" if ON_GPU else "cpu")


@pytest.fixture(scope="session")
def ops():
    from lab.cuda import kernels
    from lab.cuda.attention import TritonOps

    assert ON_GPU != kernels.INTERPRETED
    return TritonOps(kernels)
