"""Which files of which packages may go to the browser, read from what is installed on this machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.build.paths import ROOT

HOST_PACKAGES = (
    *("panel", "bokeh", "param", "pyviz_comms", "jinja2", "markupsafe", "yaml", "packaging", "tqdm"),
    *("markdown", "markdown_it", "mdit_py_plugins", "mdurl", "linkify_it", "uc_micro", "typing_extensions"),
)
"""Import names of the pure-Python packages that Panel and Bokeh need to start, taken from this machine.

Not among them, as nothing imports them at start: pandas, Pillow, contourpy, narwhals, xyzservices, bleach, tornado,
requests; nor numpy, for which app.page.no_arrays stands in. (MarkupSafe and PyYAML do without their C parts.)
"""

OUR_PACKAGES = ("lab", "app", "traces", "checks")
OUR_NAME = "serving-lab"

NEVER = (
    # What only developers or a server of Panel's need.
    *("panel/dist/", "panel/command/", "panel/package-lock.json", "panel/tsconfig.json", "panel/eslint.config.js"),
    *("bokeh/server/static/", "bokeh/server/views/", "bokeh/command/", "bokeh/sampledata/", "bokeh/sphinxext/"),
    # Ours: what makes and serves the site, what only a command line uses, what learners are not to read.
    *("app/build/", "app/serve/", "app/setup/", "app/site/", "app/stats/", "app/sources.json", "app/__main__.py"),
    *("lab/cuda/", "lab/staff/", "lab/bench/", "app/bench/"),
    "lab/compiled.",  # on the extensions of this machine; the runtime's come with a note of their own
)
"""Paths that never go to the browser."""

NEVER_PARTS = ("tests", "__pycache__", "node_modules")
"""Folders that never go to the browser, wherever they are."""

EXERCISE_FILES = ("exercise.json", "checks.json", "starter.py")
"""Of an exercise's folder, only these go to the browser: the others hold what a learner is to find out alone."""

DATA = (".html", ".css", ".js", ".json", ".txt", ".jinja", ".so", ".jsonl", ".csv", ".md", ".svg")
"""Endings of files that are read at run time and are not Python."""

VERSIONS = ".dist-info/METADATA"
"""Ending of the files that say which version of a package is there."""

LEVELS = {"lab": 0, "app": 0, "traces": 0, "checks": 0}
"""Optimisation level by package, else 2 (no docstrings, no assertions)."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files by their path in site-packages."""

    files: dict[str, bytes]

    def of(self, ending: str) -> Iterator[str]:
        """The paths with this ending, sorted."""
        return iter(sorted(name for name in self.files if name.endswith(ending)))


def candidates() -> Candidates:
    """Every file that may be needed in the browser, before it is known which are."""
    files: dict[str, bytes] = {}
    for package in HOST_PACKAGES:
        path = installed(package)
        if path is not None:
            files.update(_package_files(path))
    files.update(_versions())
    files.update(our_files())
    return Candidates(files)


def our_files() -> dict[str, bytes]:
    """The files of `lab`, `app`, `traces` and `checks` that go to the browser, by path."""
    files: dict[str, bytes] = {}
    for package in OUR_PACKAGES:
        files.update(_package_files(ROOT / package))
    files.update([_version(OUR_NAME)])  # a result says which lab made it
    return files


def wanted(name: str) -> bool:
    """True when a file with this path may go to the browser."""
    parts = name.split("/")
    return (
        name.endswith((".py", *DATA))
        and not name.startswith(NEVER)
        and not any(part in NEVER_PARTS for part in parts[:-1])
        and not (parts[0] == "checks" and name.endswith(".schema.json"))  # for authors' editors and for tests
        and (parts[0] != "checks" or len(parts) == 2 or (len(parts) == 3 and parts[2] in EXERCISE_FILES))
    )


def is_ours(name: str) -> bool:
    """True for a path in site-packages of what is ours and not another package's."""
    return name.split("/")[0] in OUR_PACKAGES or name.startswith(f"{OUR_NAME.replace('-', '_')}-")


def level(name: str) -> int:
    """The optimisation level for a module's path."""
    return LEVELS.get(name.split("/")[0], 2)


def installed(package: str) -> Path | None:
    """The folder (or the single file) of an installed package; None when this machine does without it.

    Which of them Panel needs differs from release to release; a start that misses one says so by its name.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    return path.parent if path.name == "__init__.py" else path


def _versions() -> Iterator[tuple[str, bytes]]:
    """For `importlib.metadata.version`, which Bokeh asks for its own: each package's name and version, no more."""
    distributions = importlib.metadata.packages_distributions()
    for name in sorted({name for package in HOST_PACKAGES for name in distributions.get(package, ())}):
        yield _version(name)


def _version(name: str) -> tuple[str, bytes]:
    version = importlib.metadata.version(name)
    folder = f"{name.replace('-', '_')}-{version}{VERSIONS}"
    return folder, f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()


def _package_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The wanted files of a package folder or of a single-file module, with their path in site-packages."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        name = file.relative_to(path.parent).as_posix()
        if wanted(name) and file.is_file() and not file.name.endswith(".so"):
            yield name, file.read_bytes()
