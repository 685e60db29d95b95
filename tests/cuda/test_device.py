"""Is a GPU in use by others? Asked of a made-up NVML, and said in one sentence."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from lab.cuda import device, measure
from lab.cuda.child import DeviceError
from lab.cuda.device import busy, busy_percent
from lab.cuda.job import Settings, make_job
from lab.workload import Limits, Request, Trace

UUID = "12345678-9abc-def0-1234-56789abcdef0"


class Nvml:
    """Knows one GPU, which is `percent` busy; `fails`: the function that gives an error."""

    def __init__(self, percent=97, fails=""):
        self.percent, self.fails, self.open = percent, fails, 0

    def nvmlInit_v2(self):
        self.open += 1
        return self.fails == "init"

    def nvmlDeviceGetHandleByUUID(self, name, handle):
        assert name == f"GPU-{UUID}".encode()
        handle._obj.value = 4711
        return self.fails == "handle"

    def nvmlDeviceGetUtilizationRates(self, handle, found):
        assert handle.value == 4711
        found._obj.gpu, found._obj.memory = self.percent, 50
        return self.fails == "rates"

    def nvmlShutdown(self):
        self.open -= 1


def test_how_busy_a_gpu_is_needs_no_binding_of_pythons():
    nvml = Nvml()
    assert busy_percent(UUID, lambda name: nvml) == 97
    assert nvml.open == 0
    assert busy_percent(f"GPU-{UUID}", lambda name: nvml) == 97


@pytest.mark.parametrize("fails", ["init", "handle", "rates"])
def test_what_cannot_be_asked_is_not_known(fails):
    assert busy_percent(UUID, lambda name: Nvml(fails=fails)) is None


def test_without_nvml_it_is_not_known():
    def absent(name):
        raise OSError(name)

    assert busy_percent(UUID, absent) is None


@pytest.mark.parametrize(
    ("percent", "taken", "said"),
    [
        (0, 10**9, None),
        (None, 10**9, None),
        (97, 10**9, "(97 % busy, 1.0 GB of its memory taken)"),
        (None, 20 * 10**9, "(20.0 GB of its memory taken)"),
    ],
)
def test_a_gpu_in_use_is_said(monkeypatch, percent, taken, said):
    total = 141 * 10**9
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid=UUID))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (total - taken, total))
    monkeypatch.setattr(device, "busy_percent", lambda uuid: percent)
    sentence = busy(torch.device("cuda", 0))
    assert sentence is None if said is None else said in sentence


def test_a_gpu_without_bfloat16_is_told_what_it_can_do(monkeypatch):
    total = 16 * 10**9
    for name, answer in {
        "set_device": None,
        "get_device_name": "Tesla T4",
        "get_device_capability": (7, 5),
        "mem_get_info": (total, total),
        "set_per_process_memory_fraction": None,
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda *given, answer=answer: answer)
    monkeypatch.setattr(measure.device, "busy", lambda target: None)
    trace = Trace("one", Limits(2, 8, 4), (Request("a", 0, 5, 3),))
    job = make_job(trace, settings=Settings(shape="small", layers=1))
    with pytest.raises(DeviceError, match=r"GPU 0 \(Tesla T4\) has no bfloat16: choose --cuda-dtype float16\."):
        measure._make_room(job, [], torch.device("cuda", 0))
    job = make_job(trace, settings=Settings(shape="small", layers=1, dtype="float16"))
    assert measure._make_room(job, [], torch.device("cuda", 0)) == []
