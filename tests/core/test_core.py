"""Which core runs, and that both come to the same."""

import json
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from figure_ways import WAYS, outcome
from strategies import large_case, seeded_case

import lab
from lab import core, figures

LAB = Path(lab.__file__).parent
REPORT = "from lab import core, advance; print(core.core(), advance.__file__, core.why(), sep='\\n')"
BOTH = ("static", "continuous")

needs_compiled = pytest.mark.skipif(core.core() == core.PURE, reason=core.why())
in_processes = pytest.mark.cpython_only("starts processes")


def test_what_is_required_is_there():
    core.check()  # CI requires the compiled one
    assert core.why().startswith("compiled core" if core.core() == core.COMPILED else "pure Python core: ")


def test_the_modules_that_run_are_what_is_said_of_them():
    for name in core.HOT:
        __import__(name)
        plain = sys.modules[name].__file__.endswith((".py", ".pyc"))
        assert plain is (core.core() == core.PURE)


# ---- both come to the same ------------------------------------------------------------------------------------------


@pytest.fixture
def plain_kernel(monkeypatch):
    """The plain kernel beside the compiled one; calling it makes `lab.figures` use it."""
    loader = SourceFileLoader("plain_advance", str(LAB / "advance.py"))
    spec = spec_from_file_location(loader.name, loader.path, loader=loader)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda: monkeypatch.setattr(figures, "Advance", module.Advance)


@needs_compiled
@pytest.mark.parametrize("way", WAYS)
def test_both_cores_agree_on_random_traces(plain_kernel, way):
    samples = [*map(seeded_case, range(1000, 1150)), *map(large_case, range(100, 104))]
    compiled = [outcome(sample, policy, way) for sample in samples for policy in BOTH]
    plain_kernel()
    plain = [outcome(sample, policy, way) for sample in samples for policy in BOTH]
    assert plain == compiled
    assert sum(metrics["preemptions"] for metrics, _, _ in plain) > 100


@in_processes
@needs_compiled
def test_the_figures_pass_their_tests_on_the_pure_core_too():
    here = Path(__file__).parent
    files = [here / "test_figures_only.py", here / "test_spans.py"]
    printed = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files, ask=core.PURE)
    assert re.search(r"^\d\d+ passed in", printed.splitlines()[-1]), printed


@in_processes
@needs_compiled
def test_both_cores_print_the_same_bytes(tmp_path):
    trace = tmp_path / "trace.json"
    recipe = ["--arrivals", "poisson:gap=2", "--mix", "chat=70,rag=30", "--num-pages", "300"]
    assert run("-m", "lab", "trace", "generate", "--seed", "6", "--requests", "300", *recipe, "--out", trace) == ""
    printed = [run("-m", "lab", "replay", trace, "--json", ask=ask) for ask in (core.COMPILED, core.PURE)]
    assert printed[0] == printed[1] and json.loads(printed[0])["policies"].keys() == set(BOTH)


# ---- which one is chosen --------------------------------------------------------------------------------------------


def run(*arguments, ask="", folder=LAB.parent, status=0):
    """What Python prints with `folder` first on its path, asked for a core; of a failure, the last line on stderr."""
    command = [sys.executable, *map(str, arguments)]
    env = {**os.environ, core.ASKED: ask, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr.strip().splitlines()[-1]


@pytest.fixture
def copied(tmp_path):
    """A copy of the lab with its extensions, to be damaged."""
    shutil.copytree(LAB, tmp_path / "lab", ignore=shutil.ignore_patterns("__pycache__", "cuda", "staff", "grading"))
    return tmp_path


def report(folder, ask=""):
    which, file, why = run("-c", REPORT, ask=ask, folder=folder).splitlines()
    assert Path(file).parent == folder / "lab"
    return which, Path(file).suffix, why


@in_processes
@needs_compiled
def test_the_compiled_core_runs_where_it_is(copied):
    assert report(copied) == ("compiled", Path(core.extension_of("lab.advance")).suffix, "compiled core")
    assert report(copied, "compiled")[0] == "compiled"


@in_processes
def test_the_pure_core_runs_where_it_is_asked_for(copied):
    assert report(copied, "pure") == ("pure", ".py", "pure Python core: SERVING_LAB_CORE=pure asks for it")


@in_processes
@needs_compiled
@pytest.mark.parametrize("file", ["advance.py", "advance.pxd"])
def test_an_extension_of_another_source_does_not_run(copied, file):
    with (copied / "lab" / file).open("a") as source:
        source.write("# edited\n")
    which, suffix, why = report(copied)
    assert (which, suffix) == ("pure", ".py")
    assert why == f"pure Python core: {file} changed since it was compiled; {core.AGAIN}"


@in_processes
@needs_compiled
def test_a_missing_extension_is_named(copied):
    (copied / "lab" / core.extension_of("lab.advance")).unlink()
    which, suffix, why = report(copied)
    assert (which, suffix) == ("pure", ".py")
    assert why == f"pure Python core: the extension of lab.advance is missing; {core.AGAIN}"


@in_processes
@needs_compiled
@pytest.mark.parametrize("kept", [0, 5_000, -1])
def test_a_damaged_extension_is_not_even_looked_into(copied, kept):
    extension = copied / "lab" / core.extension_of("lab.advance")
    extension.write_bytes(extension.read_bytes()[:kept])  # one of 5,000 bytes would end the process
    which, suffix, why = report(copied)
    assert (which, suffix) == ("pure", ".py")
    assert why == f"pure Python core: the extension of lab.advance is damaged; {core.AGAIN}"


@in_processes
@needs_compiled
def test_an_extension_that_the_system_does_not_load_is_done_without(copied):
    extension, note = copied / "lab" / core.extension_of("lab.advance"), copied / "lab" / core.note_name()
    extension.write_bytes(b"for another machine")
    said = json.loads(note.read_text())
    note.write_text(json.dumps({**said, "extensions": {extension.name: sha256(extension.read_bytes()).hexdigest()}}))
    which, suffix, why = report(copied)
    assert (which, suffix) == ("pure", ".py")
    assert why.startswith("pure Python core: the extension of lab.advance does not load (") and core.AGAIN not in why


@in_processes
@pytest.mark.parametrize("note", ["", "{", "[]", "null", "{}", '{"sources": 3}', '{"sources": {}}', '"sources"'])
def test_a_damaged_note_is_said(copied, note):
    (copied / "lab" / core.note_name()).write_text(note)
    which, suffix, why = report(copied)
    assert (which, suffix) == ("pure", ".py")
    assert why == f"pure Python core: lab/{core.note_name()} is damaged; {core.AGAIN}"


@in_processes
def test_without_a_note_nothing_is_believed(copied):
    (copied / "lab" / core.note_name()).unlink(missing_ok=True)
    which, suffix, why = report(copied)
    assert (which, suffix) == ("pure", ".py")
    assert why == f"pure Python core: it was not compiled for this Python; {core.AGAIN}"


@in_processes
def test_the_note_says_why_there_is_none(copied):
    (copied / "lab" / core.note_name()).write_text('{"without": "no C compiler was there"}')
    assert report(copied) == ("pure", ".py", "pure Python core: no C compiler was there")
    line = run("-m", "lab", "replay", LAB.parent / "traces" / "course.json", ask="compiled", folder=copied, status=2)
    assert line.endswith("asks for the compiled core, and this is the pure Python core: no C compiler was there")


def test_another_wish_is_refused(lab, monkeypatch):
    monkeypatch.setenv(core.ASKED, "fast")
    status, out, err = lab("replay", "traces/course.json")
    assert (status, out) == (2, "")
    assert err == "serving-lab: SERVING_LAB_CORE: must be compiled or pure, not 'fast'; correct it, or leave it out\n"
