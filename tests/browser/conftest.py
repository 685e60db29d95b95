"""A real browser for the tests of this room: the Chromium named by CHROMIUM, or the one that is installed."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_server import LabServer
from playwright.sync_api import Browser, sync_playwright

from app.build.compress import QUICK
from app.build.content import NEVER, Content
from app.build.out import write_site
from app.build.paths import cache_folder
from app.build.site import make_site
from app.build.store import Store
from app.setup.browser import ARGUMENTS, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for the whole session. Without one these tests fail: a page that nobody opened is not tested."""
    path = chromium()
    if path is None:
        pytest.fail("no Chromium found: install one, or name it in the environment variable CHROMIUM", pytrace=False)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `serving-lab serve` makes it."""
    return _built(tmp_path_factory.mktemp("site") / "lab")


@pytest.fixture(scope="session")
def second_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another version of the site: the same, but that it keeps the solutions to itself."""
    return _built(tmp_path_factory.mktemp("second") / "lab", Content(solutions=NEVER))


def _built(out: Path, content: Content | None = None) -> Path:
    # Packed quickly, as for one's own machine: packing well is a minute of work that no test looks at.
    write_site(make_site(Store(cache_folder()), QUICK, content=content), out)
    return out


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[LabServer]:
    """The site, served."""
    with LabServer(site) as running:
        yield running


@pytest.fixture(scope="session")
def node_package(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`node_package("axe-core@4.14.1")`: the folder of an npm package, fetched by npm for these tests alone."""
    folder = tmp_path_factory.mktemp("npm")

    def fetch(spec: str) -> Path:
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), spec],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=180,
        )
        return folder / "node_modules" / spec.rsplit("@", 1)[0]

    return fetch
