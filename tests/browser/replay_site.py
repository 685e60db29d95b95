"""The replay component alone on a page: its own files, a strict policy for scripts, and documents made by `lab`."""

import functools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from app.page.palette import colors_for
from lab.replay import run
from lab.workload import Limits, Trace

SITE = Path(__file__).resolve().parents[2] / "app" / "site"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>replay</title>
<link rel="icon" href="icon.svg"><link rel="stylesheet" href="tokens.css"><link rel="stylesheet" href="replay.css">
<script type="module" src="page.js"></script><body><section id="replay"></section></body></html>"""
SCRIPT = """import {ReplayView} from "./replay.js";
const options = Object.fromEntries(new URLSearchParams(location.search));
window.load = async (name) => (await fetch(`${name}.json`)).json();
window.heard = [];
const root = document.getElementById("replay");
const hear = (event) => heard.push([event.type, event.detail]);
for (const type of ["lab-iteration", "lab-highlight"]) root.addEventListener(type, hear);
window.view = new ReplayView(root, {storageKey: options.key, guess: options.guess !== "no"});
view.show(await load(options.document ?? "course"));
document.documentElement.dataset.ready = "";
"""


def payload(trace: Trace, limits: Limits | None = None) -> dict[str, Any]:
    """What Python sends the page for `trace`."""
    return {
        "replay": run(trace, limits).to_document(),
        "colors": colors_for(request.id for request in trace.requests),
    }


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}  # noqa: RUF012

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing: the tests read what the browser reports."""


@contextmanager
def served(folder: Path, documents: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Write the page and `documents` into `folder`, serve it on a free loopback port, and give its address."""
    for source in [*SITE.glob("replay*.js"), SITE / "replay.css", SITE / "tokens.css", SITE / "icon.svg"]:
        (folder / source.name).write_bytes(source.read_bytes())
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "page.js").write_text(SCRIPT, encoding="utf-8")
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
