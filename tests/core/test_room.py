"""The room that lab is: the standard library only, and one version."""

import ast
import sys
import tomllib

import pytest
from drive import COURSE

import lab

ROOT = COURSE.parents[1]
SOURCES = sorted(path for path in (ROOT / "lab").rglob("*.py") if "cuda" not in path.parts)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lab_imports_the_standard_library_and_itself(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            roots = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            roots = [node.module.split(".")[0]]
        else:
            continue
        assert set(roots) <= {*sys.stdlib_module_names, "lab"}, f"line {node.lineno}"


def test_the_version_is_that_of_the_distribution():
    project = ROOT / "pyproject.toml"
    if not project.exists():
        pytest.skip("there is no pyproject.toml here: only the sources were copied")
    assert tomllib.loads(project.read_text("utf-8"))["project"]["version"] == lab.__version__
