"""What is measured, made ready to be served: our site, plain `panel convert`, and a bare runtime."""

from __future__ import annotations

from pathlib import Path

import tornado.web

from app.bench.plain import PAGE, RUNTIME, plain_files
from app.bench.static import packed, static_application
from app.build import fetch
from app.build.compress import THOROUGH
from app.build.out import write_site
from app.build.paths import cache_folder
from app.build.say import say
from app.build.site import make_site
from app.build.store import Store
from app.serve.command import make_application
from app.serve.inputs import fingerprint
from app.serve.ready import forget_old
from app.serve.site_folder import is_whole, open_site

HERE = Path(__file__).resolve().parent
BARE = ("bare.html", "bare.js", "bare-worker.js")


def application(name: str, store: Store) -> tornado.web.Application:
    """What serves `site`, `plain`, `plain-lite` or `bare`. Raises BuildError when it cannot be made."""
    say(f"making {name}")
    if name == "site":
        site = open_site(_site(store))
        assert site is not None
        return make_application(site)
    runtime = fetch.runtime_files(store)
    if name == "bare":
        files = {file: (HERE / file).read_bytes() for file in BARE} | {
            RUNTIME + file: runtime[file] for file in _parts()
        }
        return static_application(packed(files, store), BARE[0])
    return static_application(packed(plain_files(runtime, store, lite=name == "plain-lite"), store), PAGE)


def _parts() -> tuple[str, ...]:
    return ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def _site(store: Store) -> Path:
    """The folder of our site as `serving-lab build` makes it; the one made last when nothing has changed since."""
    sites = cache_folder() / ".bench"
    folder = sites / fingerprint(THOROUGH)
    if not is_whole(folder):
        write_site(make_site(store, THOROUGH), folder)
        forget_old(sites, folder)
    return folder
