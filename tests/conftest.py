"""Marks that tests of several rooms use, and the order of the rooms."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# Side by side, each file goes whole to the next free worker. The longest come first, so that none is left to the end
# for one worker alone; first of all the one that keeps a core busy for a minute with a single test.
LONGEST_FIRST = ("pyodide", "browser", "staff", "site", "cuda_plain", "core")


def pytest_configure(config: pytest.Config) -> None:
    # A shell lets what it starts in the background ignore Ctrl-C; what the tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "cpython_only(reason): cannot run inside Pyodide, and why; tests/pyodide leaves it out and says so"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the rooms; files and tests keep their order within them."""
    rank = {room: place for place, room in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: rank.get(_room(item.path), len(rank)))


@pytest.fixture
def lab(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line; gives exit status, stdout and stderr."""
    from lab.cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call


def _room(path: Path) -> str:
    return path.relative_to(HERE).parts[0] if path.is_relative_to(HERE) else ""
