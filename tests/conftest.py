"""Marks that tests of several rooms use."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cpython_only(reason): cannot run inside Pyodide, and why; tests/pyodide leaves it out and says so"
    )
