"""Each thing that may be missing has one sentence of its own."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import SimpleNamespace

import pytest

from lab.cuda.detect import Status, detect, look, python_headers


class Driver:
    def __init__(self, init=0, devices=1):
        self.init, self.devices = init, devices

    def cuInit(self, flags):
        return self.init

    def cuDeviceGetCount(self, count):
        count._obj.value = self.devices
        return 0


def torch_with(available=True, cuda_version="13.0"):
    cuda = SimpleNamespace(
        is_available=lambda: available,
        device_count=lambda: 1,
        mem_get_info=lambda index: (60 * 10**9, 80 * 10**9),
        get_device_name=lambda index: "NVIDIA H200",
    )
    return SimpleNamespace(__version__="2.13.0", cuda=cuda, version=SimpleNamespace(cuda=cuda_version))


def no_library(name):
    raise OSError(name)


def looked(load=lambda name: Driver(), there=("torch", "triton"), torch=None, compiler="gcc", headers=True):
    return detect(
        load,
        lambda name: object() if name in there else None,
        lambda name: torch or torch_with(),
        lambda name: f"/usr/bin/{name}" if name == compiler else None,
        has_headers=lambda: headers,
    )


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("CC", "CPATH", "C_INCLUDE_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "missing", "words"),
    [
        ({"load": no_library}, "driver", "no NVIDIA driver"),
        ({"load": lambda name: Driver(devices=0)}, "gpu", "0 devices"),
        ({"load": lambda name: Driver(init=999)}, "gpu", "CUDA error 999"),
        ({"there": ("triton",)}, "pytorch", "PyTorch is not installed: pip install"),
        (
            {"torch": torch_with(False)},
            "pytorch-cuda",
            "2.13.0 for CUDA 13.0 cannot use it, most likely because",
        ),
        ({"torch": torch_with(False, None)}, "pytorch-cuda", "2.13.0 is a build without CUDA"),
        ({"there": ("torch",)}, "triton", "Triton is not installed: pip install"),
        ({"compiler": "none"}, "compiler", "install gcc"),
        ({"compiler": "cc"}, "compiler", "install gcc"),  # Triton does not look for that name
        ({"headers": False}, "headers", "Triton needs Python.h"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(given, missing, words):
    status = looked(**given)
    assert (status.available, status.missing) == (False, missing)
    assert words in status.sentence
    assert status.sentence.endswith(".") and "\n" not in status.sentence


def test_a_gpu_that_can_be_used():
    status = looked()
    assert status.available and status.missing is None
    assert status.sentence == "CUDA 13.0 with PyTorch 2.13.0 on 0: NVIDIA H200."
    assert status.devices[0]["free_bytes"] == 60 * 10**9


def test_a_compiler_that_the_environment_names_will_do(monkeypatch):
    monkeypatch.setenv("CC", "/opt/bin/icx")
    assert looked(compiler="none").available


def test_headers_are_looked_for_where_a_compiler_does(monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tmp_path / "nowhere")})
    assert not python_headers()
    (tmp_path / "Python.h").touch()
    monkeypatch.setenv("CPATH", f"{tmp_path / 'elsewhere'}{os.pathsep}{tmp_path}")
    assert python_headers()


def test_a_replay_that_looks_takes_no_memory_on_other_gpus():
    torch = torch_with()
    del torch.cuda.mem_get_info
    status = detect(
        lambda name: Driver(), lambda name: object(), lambda name: torch, lambda name: "gcc", False, lambda: True
    )
    assert status.devices == ({"name": "NVIDIA H200"},)


def test_pytorch_is_not_imported_without_a_gpu():
    def forbidden(name):
        raise AssertionError(name)

    assert detect(lambda name: Driver(devices=0), import_module=forbidden).missing == "gpu"


def test_looking_from_outside_gives_the_same_answer_as_looking_here():
    assert look() == detect()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os; os.abort()", "failed"),
        ("print('not JSON')", "failed"),
        ("print('{}')", "failed"),
        ("import time; time.sleep(60)", "did not answer within 0.2 s"),
    ],
)
def test_a_broken_driver_is_an_answer_too(code, words):
    status = look([sys.executable, "-c", code], 0.2 if "sleep" in code else 30)
    assert (status.available, status.missing) == (False, "unknown")
    assert words in status.sentence


def test_the_answer_is_plain_data():
    assert Status(False, "gpu", "None.").to_dict() == {
        "available": False,
        "missing": "gpu",
        "sentence": "None.",
        "devices": [],
    }
