"""Fixtures: the site as it is built from this checkout, once for all tests of a run."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.build.compress import QUICK
from app.build.node import node
from app.build.out import write_site
from app.build.paths import cache_folder
from app.build.site import Site, make_site
from app.build.store import Store

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def site() -> Site:
    """The site in memory. What was compiled or fetched before comes from the same cache as for a user."""
    return make_site(Store(cache_folder()), QUICK, ["https://courses.example.org"])


@pytest.fixture(scope="session")
def site_folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site on disk."""
    folder = tmp_path_factory.mktemp("built") / "site"
    write_site(site, folder)
    return folder


@pytest.fixture(scope="session")
def run_node(site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Runs a script of this folder under Node with the site's own files, and returns the JSON that it wrote."""

    def run(script: str, *arguments: str) -> Any:
        work = tmp_path_factory.mktemp("node")
        # Node takes a .js file for a script of the old kind unless a package.json beside it says otherwise.
        for name in ("unpack", "snapshot"):
            shutil.copy(HERE.parent.parent / "app" / "site" / f"{name}.js", work / f"{name}.mjs")
        answer = work / "answer.json"
        done = subprocess.run(
            [node(), str(HERE / script), str(site_folder), str(work), str(answer), *arguments],
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return json.loads(answer.read_text(encoding="utf-8"))

    return run
