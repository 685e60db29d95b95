"""The tests of the core once more, inside the runtime that the page uses: the same files, run by pytest in Pyodide.

All of them run on the core that the site gets, which is the compiled one where it can be compiled (in CI it must be).
Those of the figures run on the plain one as well, and tests/core/test_core.py compares the two on random traces.
"""

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
from app.build.wasm_core import wasm_core
from lab.core import COMPILED, PURE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

CHECKOUT = ("lab", "traces", "checks", "tests/core", "tests/conftest.py", "tests/pyodide")
"""What the tests of the core stand on."""

PACKAGES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "sortedcontainers")
"""Import names of pytest and what it and hypothesis stand on, taken from this interpreter: all pure Python."""

HYPOTHESIS = ("hypothesis", "_hypothesis_globals", "_hypothesis_ftz_detector", "_hypothesis_pytestplugin")
"""Import names of hypothesis, which is pure Python up to a certain version."""

ON_BOTH = "tests/core/test_figures_only.py"
"""What is run on the plain core too: all ways to come to the figures, laid beside the records, on random traces."""

ELSEWHERE = {
    "tests/core/test_exercises.py::test_every_check_catches": "test_solutions_in_pyodide judges every mistake",
    "tests/core/test_exercises.py::test_a_known_mistake": "test_solutions_in_pyodide judges every mistake",
}
"""Beginnings of node ids of tests that would take a fifth of the time to see again what another test sees."""

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
    return {
        test: reason
        or import_reason(test, native)
        or next((ELSEWHERE[one] for one in ELSEWHERE if test.startswith(one)), "")
        for test, reason in reasons.items()
    }


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
        unwanted = shutil.ignore_patterns("__pycache__", "*.so", "compiled.*.json")  # extensions of this machine
        shutil.copytree(source, target, ignore=unwanted, dirs_exist_ok=True)
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


def run_in_pyodide(
    folder: Path, tests: list[str], core: str, extensions: dict[str, bytes]
) -> tuple[dict[str, Any], str]:
    """What the plugin noted inside Pyodide, and what pytest printed there. `core` is the one that is asked for."""
    for name in CHECKOUT:
        copy(ROOT / name, folder / "checkout" / name)
    for name in (*PACKAGES, *(HYPOTHESIS if hypothesis_is_pure() else ())):
        copy_package(name, folder / "packages")
    for path, content in extensions.items():
        (folder / "checkout" / path).write_bytes(content)
    (folder / "checkout" / "pytest.ini").write_text("[pytest]\n")
    (folder / "arguments.json").write_text(json.dumps([*OPTIONS, *tests]))
    with Runtime(runtime_files(Store(cache_folder()))) as runtime:
        done = subprocess.run(
            [node(), f"--stack-size={STACK_KB}", str(HERE / "run.mjs"), str(runtime.path), str(folder), core],
            preexec_fn=allow_deep_stack,
            capture_output=True,
            text=True,
            timeout=PYODIDE_SECONDS,
        )
    said = (done.stdout + done.stderr)[-6000:]
    running = folder / "result.json.running"
    assert done.returncode == 0, f"{said}\nin {running.read_text() if running.exists() else 'no test yet'}"
    return json.loads((folder / "result.json").read_text(encoding="utf-8")), said


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Node id of each test of the core → why it cannot run in Pyodide, empty for all others."""
    return collected_by_cpython(tmp_path_factory.mktemp("collected"))


@pytest.fixture(scope="module")
def extensions() -> dict[str, bytes]:
    """What the site gets of the compiled core, by path; empty where it cannot be compiled."""
    store = Store(cache_folder())
    with Runtime(runtime_files(store)) as runtime:
        return wasm_core(runtime, store)


def check_in_pyodide(
    folder: Path, reasons: dict[str, str], core: str, extensions: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """All tests that `reasons` has no reason for pass in Pyodide; says how many ran, and which did not."""
    expected = [test for test, reason in reasons.items() if not reason]
    left_out = Counter(reason for reason in reasons.values() if reason)
    files = sorted({test.split("::")[0] for test in expected})
    unwanted = [f"--deselect={test}" for test, reason in reasons.items() if reason and test.split("::")[0] in files]
    result, said = run_in_pyodide(folder, [*files, *unwanted], core, extensions)
    outcomes = Counter(result["ended"].values())
    with capsys.disabled():
        ran = f"{len(result['ended'])} run in Pyodide on the {core} core"
        print(f"\ncore tests: {len(reasons)} in CPython, {ran}: {dict(outcomes)}")
        for reason, count in left_out.items():
            print(f"  {count} left out: {reason}")
    assert [test for test, how in result["ended"].items() if how == "failed"] == [], said
    assert result["ended"].keys() == set(expected), said
    assert outcomes["passed"] > 0
    compared = [how for test, how in result["ended"].items() if "test_both_cores_agree" in test]
    assert core == PURE or set(compared) == {"passed"}, said


@pytest.mark.timeout(PYODIDE_SECONDS)
def test_the_core_passes_its_tests_inside_pyodide(
    tmp_path: Path, reasons: dict[str, str], extensions: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    check_in_pyodide(tmp_path, reasons, COMPILED if extensions else PURE, extensions, capsys)


@pytest.mark.timeout(PYODIDE_SECONDS)
def test_the_figures_are_the_same_on_the_plain_core(
    tmp_path: Path, reasons: dict[str, str], extensions: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    if not extensions:
        pytest.skip("the plain core has just passed all tests: it is what the site gets here")
    of_figures = {test: reason for test, reason in reasons.items() if test.startswith(ON_BOTH)}
    check_in_pyodide(tmp_path, of_figures, PURE, extensions, capsys)
