"""The script that proves the backend keeps to its eight minutes, and says how it came out."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from lab.cuda import prove
from lab.cuda.detect import Status

FOUND = Status(True, None, "CUDA 13.0 with PyTorch 2.13.0 on 0: NVIDIA H200.")


@pytest.fixture
def proven(monkeypatch):
    """Runs the script where looking and testing take as long as they may; returns (exit status, limits)."""

    def run(tests_pass=True, status=FOUND, code=0, *, look=0.0):
        now, limits = [100.0], {}

        def looked(seconds):
            limits["look"] = seconds
            now[0] += look or seconds
            return status

        def tested():
            now[0] += prove.TEST_SECONDS
            return tests_pass

        def replayed(job, *, seconds, as_json, save):
            limits["measure"] = seconds
            return code

        monkeypatch.setattr(prove, "time", SimpleNamespace(monotonic=lambda: now[0]))
        monkeypatch.setattr(prove, "look", looked)
        monkeypatch.setattr(prove, "_tests", tested)
        monkeypatch.setattr(prove, "replay_on_device", replayed)
        monkeypatch.setattr(sys, "argv", ["prove.py"])
        return prove.main(), limits

    return run


def test_the_measurement_gets_what_is_left_of_eight_minutes(proven):
    _, slow = proven()
    assert slow["look"] + prove.TEST_SECONDS + slow["measure"] == prove.SECONDS < 480
    assert slow["look"] > 30 and slow["measure"] >= 150
    _, quick = proven(look=5.0)
    assert quick["measure"] > slow["measure"]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 0),
        ({"tests_pass": False}, 1),
        ({"code": 1}, 1),
        ({"code": 3, "tests_pass": False}, 3),
        ({"status": Status(False, "gpu", "None.")}, 2),
    ],
)
def test_its_exit_status_says_whether_it_is_proven(proven, given, status, capsys):
    code, limits = proven(**given)
    assert code == status
    assert ("measure" in limits) == (status != 2)
    assert (given.get("status") or FOUND).sentence in capsys.readouterr().out
