"""The page itself, made in a process of its own: `python -m app.build.page SPEC OUT`.

Panel reads its settings when it is first imported and numbers its models as they are made. A fresh process lets the
builder say where styles come from, and gives the same numbers every time.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.build.content import NEVER, Content
from app.build.errors import BuilderFault
from app.build.folders import Folder
from app.build.paths import ROOT, SITE_SOURCES
from app.serve.headers import meta_policy

NOT_ASSETS = (".html", ".py", ".pyc")
"""Endings in app/site of what the page's folder does not hold: templates, and what makes app/site a package."""

SERVICE_WORKER = "sw.js"
"""Stands at the site's root, where its scope is the whole site."""

SAMPLE = "sample.measurement.json"
"""In app/site: what `make prove` measured on a real GPU, for the page to open. There need not be one."""

PREVIEW_WORKER = "sw-preview.js"
"""Stands there under the same name while an author looks at a preview."""


def make_page(spec: Mapping[str, Any], content: Content) -> dict[str, bytes]:
    """index.html and the files of `assets-…`, by path from the site's root.

    `spec` is the site's config, with all folders known but `assets`.
    """
    spec = {**spec, "title": content.title}
    with tempfile.TemporaryDirectory(prefix="serving-lab-page-") as folder, content.folder() as own:
        out = Path(folder)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "app.build.page", json.dumps(spec), str(out)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={
                **os.environ,
                "PANEL_CDN_ROOT": spec["folders"]["vendor"],
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": os.pathsep.join(
                    filter(None, [str(own) if own else None, str(ROOT), os.environ.get("PYTHONPATH")])
                ),
            },
        )
        if done.returncode:
            raise BuilderFault(f"The page could not be made:\n{done.stderr.strip()[-4000:]}")
        return {
            path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()
        }


def assets() -> dict[str, bytes]:
    """The static sources of the page, by file name."""
    return {
        path.relative_to(SITE_SOURCES).as_posix(): path.read_bytes()
        for path in sorted(SITE_SOURCES.rglob("*"))
        if path.is_file() and path.suffix not in NOT_ASSETS and path.name not in (SERVICE_WORKER, PREVIEW_WORKER)
    }


def modules_of(files: Mapping[str, bytes], first: str) -> list[str]:
    """The modules that `first` imports at once, directly or not, for a page to fetch side by side."""
    found: list[str] = []
    todo = [first]
    while todo:
        text = files[todo.pop()].decode()
        for name in re.findall(r"""^(?:import|export)\b[^"';]*["']\./([\w-]+\.js)["']""", text, re.MULTILINE):
            if name in files and name != first and name not in found:
                found.append(name)
                todo.append(name)
    return sorted(found)


def render(spec: Mapping[str, Any]) -> dict[str, bytes]:
    """What `make_page` gives, made in this very process."""
    import jinja2

    from app.page.exercises import exercises_file
    from app.page.option_fields import link_fields
    from app.page.prerender import prerender
    from app.page.shell import page_context, script_safe, traces_file

    folder = Folder(
        "assets", {**assets(), **prerender(), **exercises_file(solutions=spec["solutions"] != NEVER), **traces_file()}
    )
    config = {
        **spec,
        "folders": {**spec["folders"], "assets": folder.name},
        "options": link_fields(),
        "sample": SAMPLE if SAMPLE in folder.files else None,
    }
    title = config.pop("title")
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(SITE_SOURCES),
        autoescape=True,
        keep_trailing_newline=True,
    )
    text = templates.get_template("index.html").render(
        **page_context(title),
        folders=config["folders"],
        version=config["version"],
        policy=meta_policy(),
        preview=spec["preview"],
        modules=modules_of(folder.files, "boot.js"),
        config=script_safe(json.dumps(config, sort_keys=True)),
    )
    return {"index.html": text.encode(), **folder.paths()}


def _number_identifiers() -> None:
    """Makes the unique names that Bokeh gives documents and elements the same in every build."""
    numbers = itertools.count(1)
    uuid.uuid4 = lambda: uuid.UUID(int=next(numbers), version=4)


def main(spec: str, out: str) -> None:
    """Writes the files below `out`. `spec` is JSON text."""
    _number_identifiers()
    for name, content in render(json.loads(spec)).items():
        path = Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
