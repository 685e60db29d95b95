"""The tests of the core once more, inside the runtime that the page uses: the same files, run by pytest in Pyodide."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.build.fetch import runtime_files
from app.build.node import Runtime, node
from app.build.paths import cache_folder
from app.build.store import Store

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

CHECKOUT = ("lab", "traces", "checks", "tests/core", "tests/conftest.py", "tests/pyodide")
"""What the tests of the core stand on."""

PACKAGES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "sortedcontainers")
"""Import names of pytest and what it and hypothesis stand on, taken from this interpreter: all pure Python."""

HYPOTHESIS = ("hypothesis", "_hypothesis_globals", "_hypothesis_ftz_detector", "_hypothesis_pytestplugin")
"""Import names of hypothesis, which is pure Python up to a certain version."""

OPTIONS = ("-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:timeout", "--capture=sys", "-q", "--color=no")

PYODIDE_SECONDS = 1500

STACK_KB = 15_000
"""Stack for Node: a test that recurses as deep as Python allows needs more WebAssembly frames than the usual 984 KB."""


def collected_by_cpython(folder: Path) -> dict[str, str]:
    """Node id → reason why it cannot run in Pyodide, empty for all others."""
    found = folder / "collected.json"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "tests/core",
            "--collect-only",
            "-q",
            "-p",
            "collected",
            "-p",
            "no:cacheprovider",
        ],
        cwd=ROOT,
        env={**os.environ, "COLLECTED": str(found), "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    reasons: dict[str, str] = json.loads(found.read_text(encoding="utf-8"))["reasons"]
    native = native_imports()
    return {test: reason or import_reason(test, native) for test, reason in reasons.items()}


def hypothesis_is_pure() -> bool:
    """False for versions of hypothesis that are partly native code."""
    spec = importlib.util.find_spec("hypothesis")
    return spec is not None and spec.origin is not None and not list(Path(spec.origin).parent.rglob("*.so"))


def native_imports() -> dict[str, str]:
    """Modules that cannot be taken to Pyodide from here, with the reason."""
    native = {"jsonschema": "jsonschema stands on rpds, which is native code"}
    if not hypothesis_is_pure():
        native["hypothesis"] = "this version of hypothesis is partly native code"
    return native


def import_reason(test: str, native: dict[str, str]) -> str:
    """Why a test's file cannot be imported in Pyodide; empty when it can."""
    source = (ROOT / test.split("::")[0]).read_text(encoding="utf-8")
    found = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
    return next((native[name] for name in found if name in native), "")


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def copy_package(name: str, target: Path) -> None:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin)
        source = path.parent if path.name == "__init__.py" else path
        copy(source, target / source.name)


def allow_deep_stack() -> None:
    """Gives the process to be started twice the stack that Node is told to use."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (2 * STACK_KB * 1024, most))


def run_in_pyodide(folder: Path, tests: list[str]) -> tuple[dict[str, Any], str]:
    """What the plugin noted inside Pyodide, and what pytest printed there."""
    for name in CHECKOUT:
        copy(ROOT / name, folder / "checkout" / name)
    for name in (*PACKAGES, *(HYPOTHESIS if hypothesis_is_pure() else ())):
        copy_package(name, folder / "packages")
    (folder / "checkout" / "pytest.ini").write_text("[pytest]\n")
    (folder / "arguments.json").write_text(json.dumps([*OPTIONS, *tests]))
    with Runtime(runtime_files(Store(cache_folder()))) as runtime:
        done = subprocess.run(
            [node(), f"--stack-size={STACK_KB}", str(HERE / "run.mjs"), str(runtime.path), str(folder)],
            preexec_fn=allow_deep_stack,
            capture_output=True,
            text=True,
            timeout=PYODIDE_SECONDS,
        )
    said = (done.stdout + done.stderr)[-6000:]
    running = folder / "result.json.running"
    assert done.returncode == 0, f"{said}\nin {running.read_text() if running.exists() else 'no test yet'}"
    return json.loads((folder / "result.json").read_text(encoding="utf-8")), said


@pytest.mark.timeout(PYODIDE_SECONDS)
def test_the_core_passes_its_tests_inside_pyodide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reasons = collected_by_cpython(tmp_path)
    expected = [test for test, reason in reasons.items() if not reason]
    left_out = Counter(reason for reason in reasons.values() if reason)
    files = sorted({test.split("::")[0] for test in expected})
    unwanted = [f"--deselect={test}" for test, reason in reasons.items() if reason and test.split("::")[0] in files]
    result, said = run_in_pyodide(tmp_path, [*files, *unwanted])
    outcomes = Counter(result["ended"].values())
    with capsys.disabled():
        print(f"\ncore tests: {len(reasons)} in CPython, {len(result['ended'])} run in Pyodide: {dict(outcomes)}")
        for reason, count in left_out.items():
            print(f"  {count} left out: {reason}")
    assert [test for test, how in result["ended"].items() if how == "failed"] == [], said
    assert result["ended"].keys() == set(expected), said
    assert len(result["ended"]) == len(reasons) - sum(left_out.values())
    assert outcomes["passed"] > 0
