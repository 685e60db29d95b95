"""Each thing that may be missing has one sentence of its own."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from lab.cuda.detect import Status, detect, look


class Driver:
    def __init__(self, init=0, devices=1):
        self.init, self.devices = init, devices

    def cuInit(self, flags):
        return self.init

    def cuDeviceGetCount(self, count):
        count._obj.value = self.devices
        return 0


def torch_with(available=True):
    cuda = SimpleNamespace(
        is_available=lambda: available,
        device_count=lambda: 1,
        mem_get_info=lambda index: (60 * 10**9, 80 * 10**9),
        get_device_name=lambda index: "NVIDIA H200",
    )
    return SimpleNamespace(__version__="2.13.0", cuda=cuda, version=SimpleNamespace(cuda="13.0"))


def no_library(name):
    raise OSError(name)


def looked(load=lambda name: Driver(), there=("torch", "triton"), torch=None, compiler="gcc"):
    return detect(
        load,
        lambda name: object() if name in there else None,
        lambda name: torch or torch_with(),
        lambda name: "/usr/bin/gcc" if name == compiler else None,
    )


@pytest.mark.parametrize(
    ("given", "missing", "words"),
    [
        ({"load": no_library}, "driver", "no NVIDIA driver"),
        ({"load": lambda name: Driver(devices=0)}, "gpu", "0 devices"),
        ({"load": lambda name: Driver(init=999)}, "gpu", "CUDA error 999"),
        ({"there": ("triton",)}, "pytorch", "PyTorch is not installed: pip install"),
        ({"torch": torch_with(False)}, "pytorch-cuda", "(2.13.0) cannot use it"),
        ({"there": ("torch",)}, "triton", "Triton is not installed: pip install"),
        ({"compiler": "none"}, "compiler", "install gcc"),
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


def test_a_replay_that_looks_takes_no_memory_on_other_gpus():
    torch = torch_with()
    del torch.cuda.mem_get_info
    status = detect(lambda name: Driver(), lambda name: object(), lambda name: torch, lambda name: "gcc", False)
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
