"""The compiled core in the site: that it is there, comes to the same as the plain one, and can be done without."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.build import wasm_core as module
from app.build.archive import unzip_bytes
from app.build.crossbuild import SYSCONFIG, make_crossbuild, target_of
from app.build.errors import BuildError
from app.build.fetch import runtime_files
from app.build.node import Runtime, node
from app.build.paths import cache_folder
from app.build.site import Site
from app.build.store import Store
from app.build.wasm_core import SUFFIX, Without, check_imports, wasm_core
from app.setup import toolchain
from lab import core

EXTENSIONS = {f"lab/{core.extension_of(name, SUFFIX)}" for name in core.HOT}
NOTE = f"lab/{core.note_name(SUFFIX)}"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with Runtime(runtime_files(Store(cache_folder()))) as unpacked:
        yield unpacked


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


@pytest.fixture
def not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(core.ASKED, raising=False)


def archive(site: Site, name: str) -> dict[str, bytes]:
    return unzip_bytes(next(content for path, content in site.files.items() if path.endswith(f"/{name}.zip")))


# ---- in the site ----------------------------------------------------------------------------------------------------


def test_the_app_gets_it_and_learners_do_not(site: Site) -> None:
    names = set(archive(site, "app"))
    there = EXTENSIONS & names
    assert there == (EXTENSIONS if NOTE in names else set())
    assert {name for name in names if name.startswith("lab/compiled.")} <= {NOTE}  # no note on this machine's own
    assert {f"{name.replace('.', '/')}.pyc" for name in core.HOT} <= names  # SERVING_LAB_CORE=pure works there too
    if os.environ.get(core.ASKED) == core.COMPILED:  # as in CI
        assert there == EXTENSIONS
    assert not [name for name in archive(site, "learner") if name.endswith(".so") or name.startswith("lab/compiled.")]


def test_both_cores_come_to_the_same_in_the_runtime(site: Site, run_node: Callable[..., Any]) -> None:
    if NOTE not in archive(site, "app"):
        pytest.skip("the site has the plain core only")
    answer = run_node("cores.mjs")
    refused = answer.pop("refused")
    assert refused["core"] == "pure" and refused["file"].endswith("/advance.pyc")
    assert refused["why"].startswith("pure Python core: the extension of lab.advance does not load (")
    kinds = {kind: (said["core"], said["why"]) for kind, said in answer.items()}
    assert kinds == {
        "": ("compiled", "compiled core"),
        "pure": ("pure", "pure Python core: SERVING_LAB_CORE=pure asks for it"),
    }
    assert answer[""]["file"].endswith(SUFFIX) and answer["pure"]["file"].endswith("/advance.pyc")
    assert answer[""]["figures"] == answer["pure"]["figures"]
    assert answer[""]["preempted"] > 100


# ---- without --------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_emcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with Node.js on it and nothing else."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").symlink_to(node())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.usefixtures("no_emcc", "not_asked")
def test_without_emscripten_the_core_is_pure_and_one_line_says_so(
    runtime: Runtime, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wasm_core(runtime, store) == {}
    (line,) = capsys.readouterr().err.splitlines()
    assert "the page gets the pure Python core: no emcc on the PATH; on Debian, as root: apt-get install" in line


@pytest.mark.usefixtures("no_emcc")
def test_what_is_required_and_cannot_be_had_ends_the_build(
    runtime: Runtime, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(core.ASKED, "compiled")
    with pytest.raises(BuildError, match=r"^SERVING_LAB_CORE=compiled, but .* no emcc on the PATH; .*$"):
        wasm_core(runtime, store)
    monkeypatch.setenv(core.ASKED, "quick")
    with pytest.raises(BuildError, match="must be compiled or pure, not 'quick'"):
        wasm_core(runtime, store)


@pytest.mark.usefixtures("no_emcc", "not_asked")
def test_what_was_compiled_once_needs_no_toolchain(
    runtime: Runtime, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {"lab/advance.so": b"code", NOTE: b"{}"}
    with monkeypatch.context() as once:
        once.setattr(toolchain, "emcc", lambda: "/usr/bin/emcc")
        once.setattr(module, "_compile", lambda project, runtime: made)
        assert wasm_core(runtime, store) == made
        once.setattr(module, "_compile", None)
        assert wasm_core(runtime, store) == made
    assert wasm_core(runtime, store) == made
    monkeypatch.setenv(core.ASKED, "pure")
    assert wasm_core(runtime, store) == {}
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("not_asked")
def test_another_emcc_compiles_again(
    tmp_path: Path, runtime: Runtime, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = iter([{"lab/advance.so": b"old"}, {"lab/advance.so": b"new"}])
    (tmp_path / "real").mkdir()
    script(tmp_path / "real" / "emcc", "")
    (tmp_path / "emcc").symlink_to(tmp_path / "real" / "emcc")  # as Debian has it
    monkeypatch.setattr(toolchain, "emcc", lambda: str(tmp_path / "emcc"))
    monkeypatch.setattr(module, "_compile", lambda project, runtime: next(made))
    release = tmp_path / "real" / "emscripten-version.txt"
    for version, code in (("3.1.6", b"old"), ("3.1.58", b"new")):
        release.write_text(f'"{version}"')
        for _ in range(2):
            assert wasm_core(runtime, store) == {"lab/advance.so": code}
    assert capsys.readouterr().err == ""

    def fails(project: object, runtime: object) -> None:
        raise Without("it does not start")

    release.write_text('"4.0"')
    monkeypatch.setattr(module, "_compile", fails)
    assert wasm_core(runtime, store) == {"lab/advance.so": b"new"}
    assert "the compiled core that was made before: it does not start" in capsys.readouterr().err


def test_an_environment_that_no_longer_runs_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def make(command: list[str], *_: object, handles: Sequence[int]) -> None:
        ran.append(command[2])
        if command[2] == "venv":
            (Path(command[-1]) / "bin").mkdir(exist_ok=True, parents=True)
            script(Path(command[-1]) / "bin" / "python", "exit 0")

    monkeypatch.setenv("SERVING_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "_run", make)
    python = toolchain.HostPython(sys.executable, tmp_path)
    for _ in range(2):
        folder = module._pyodide_build(python)
    assert ran == ["venv", "pip"]
    script(folder / "python", "exit 1")
    module._pyodide_build(python)
    assert ran == ["venv", "pip"] * 2


def test_two_builds_at_once_install_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def slowly(command: list[str], *_: object, handles: Sequence[int]) -> None:
        ran.append(command[2])
        assert [os.fstat(handle) for handle in handles]  # what a child inherits, so that it keeps others out
        if command[2] == "venv":
            (Path(command[-1]) / "bin").mkdir(exist_ok=True, parents=True)
            script(Path(command[-1]) / "bin" / "python", "exit 0")
        else:
            time.sleep(0.2)

    monkeypatch.setenv("SERVING_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "_run", slowly)
    python = toolchain.HostPython(sys.executable, tmp_path)
    with ThreadPoolExecutor(3) as builds:
        (folder,) = set(builds.map(module._pyodide_build, [python] * 3))
    assert ran == ["venv", "pip"] and (folder.parent / "done").exists()


@pytest.mark.usefixtures("not_asked")
def test_a_build_that_fails_says_its_last_line(
    tmp_path: Path, runtime: Runtime, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / "pyodide", "echo first; echo 'nothing works today' >&2; exit 1")
    monkeypatch.setattr(module, "_run", run_without_spaces(module._run))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "with a space"))
    (tmp_path / "with a space").mkdir()
    python = toolchain.HostPython(sys.executable, headers(tmp_path))
    monkeypatch.setattr(toolchain, "emcc", lambda: "/usr/bin/emcc")
    monkeypatch.setattr(toolchain, "host_python", lambda: python)
    monkeypatch.setattr(module, "_pyodide_build", lambda python: tmp_path)
    assert wasm_core(runtime, store) == {}
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.endswith("the page gets the pure Python core: pyodide build failed: nothing works today")
    monkeypatch.setattr(toolchain, "host_python", lambda: None)
    assert wasm_core(runtime, store) == {}
    assert "no Python 3.12 with its headers runs here; install one, or uv" in capsys.readouterr().err


def run_without_spaces(run: Callable[..., None]) -> Callable[..., None]:
    """`run`, and no path in what it is given has a space: pip and compilers would take it for several."""

    def checked(command: list[str], problem: str, folder: Path, variables: dict[str, str], first: Path) -> None:
        places = [*command[1:], str(folder), variables["TMPDIR"], variables["PYODIDE_XBUILDENV_PATH"]]
        assert [place for place in places if " " in place] == []
        run(command, problem, folder, variables, first)

    return checked


# ---- what it is made with -------------------------------------------------------------------------------------------


def side_module(*names: str) -> bytes:
    """A WebAssembly module that imports functions of these names and does nothing."""

    def section(kind: int, content: bytes) -> bytes:
        return bytes([kind, len(content)]) + content

    def entry(name: str) -> bytes:
        return b"\x03env" + bytes([len(name)]) + name.encode() + b"\x00\x00"

    imports = bytes([len(names)]) + b"".join(map(entry, names))
    return b"\x00asm\x01\x00\x00\x00" + section(1, b"\x01\x60\x00\x00") + section(2, imports)


def test_a_module_that_imports_what_the_runtime_lacks_is_refused(runtime: Runtime) -> None:
    check_imports({"lab/good.so": side_module("PyLong_FromLong", "memcpy", "invoke_vii")}, runtime)
    bad = side_module("PyLong_FromLong", "PyLong_FromNowhere")
    with pytest.raises(Without, match=r"^lab/bad.so imports what the runtime does not have: PyLong_FromNowhere$"):
        check_imports({"lab/good.so": side_module("PyLong_FromLong"), "lab/bad.so": bad}, runtime)


def test_every_import_of_the_compiled_core_is_in_the_runtime(site: Site, runtime: Runtime) -> None:
    extensions = {name: code for name, code in archive(site, "app").items() if name.endswith(".so")}
    assert extensions or os.environ.get(core.ASKED) != core.COMPILED
    check_imports(extensions, runtime)


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def headers(folder: Path) -> Path:
    (folder / "include").mkdir()
    (folder / "include" / "Python.h").write_text("#include <pyconfig.h>\n")
    config = "#define SIZEOF_LONG 8\n/* #undef HAVE_FORK */\n#define HAVE_NOTHING_OF_THE_KIND 1\n"
    (folder / "include" / "pyconfig.h").write_text(config)
    return folder / "include"


def test_the_headers_are_the_targets(tmp_path: Path, runtime: Runtime) -> None:
    target = target_of(runtime.files)
    assert (target.pyodide, target.minor, target.abi) == ("0.27.8", "3.12", "2024_0")
    make_crossbuild(runtime.files, headers(tmp_path), tmp_path / "made")
    root = tmp_path / "made" / "xbuildenv" / "xbuildenv" / "pyodide-root"
    python = root / "cpython" / "installs" / f"python-{target.python}"
    lines = (python / "include" / "python3.12" / "pyconfig.h").read_text().splitlines()
    assert {"#define SIZEOF_LONG 4", "#define HAVE_FORK 1", "/* #undef HAVE_NOTHING_OF_THE_KIND */"} < set(lines)
    # Debian's is a switch to one of several.
    (tmp_path / "x86_64-linux-gnu" / "include").mkdir(parents=True)
    (tmp_path / "include" / "pyconfig.h").rename(tmp_path / "x86_64-linux-gnu" / "include" / "pyconfig.h")
    (tmp_path / "include" / "pyconfig.h").write_text("# include <x86_64-linux-gnu/python3.12/pyconfig.h>\n")
    make_crossbuild(runtime.files, tmp_path / "include", tmp_path / "again")
    (same,) = (tmp_path / "again").glob("0*/**/pyconfig.h")
    assert same.read_text().splitlines() == lines
    space: dict[str, Any] = {}
    exec((python / "sysconfigdata" / f"{SYSCONFIG}.py").read_text(), space)
    assert str(tmp_path) in space["build_time_vars"]["prefix"]
    assert f"export PYVERSION={target.python}\n" in (root / "Makefile.envs").read_text()


def test_a_python_that_does_not_run_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = script(tmp_path / "shim", "echo 'python3.12: command not found' >&2; exit 127")
    without_headers = script(tmp_path / "bare", "exit 1")
    good = script(tmp_path / "good", f"echo {tmp_path}/include")
    order = [str(tmp_path / "none"), shim, without_headers, good, shim]
    monkeypatch.setattr(toolchain, "_candidates", lambda minor: iter(order))
    assert toolchain.host_python() == toolchain.HostPython(good, tmp_path / "include")
    monkeypatch.setattr(toolchain, "_candidates", lambda minor: iter(order[:3]))
    assert toolchain.host_python() is None


def test_the_programs_that_emscripten_calls_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "llvm").mkdir()
    script(tmp_path / "llvm" / "clang-14", "exit 0")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "clang-14").symlink_to(tmp_path / "llvm" / "clang-14")
    script(tmp_path / "em-config", f"echo {tmp_path}/links")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = toolchain.emscripten_variables(script(tmp_path / "emcc", "exit 0"))
    assert str(tmp_path / "llvm") in found["PATH"].split(":")
    monkeypatch.setenv("EMSDK_PYTHON", "mine")
    assert "EMSDK_PYTHON" not in toolchain.emscripten_variables(shutil.which("emcc") or "emcc")
