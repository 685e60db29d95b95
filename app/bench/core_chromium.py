"""Workers of the benchmark in Chromium: a page each, which keeps a Pyodide in a web worker."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page, Playwright, sync_playwright

from app.setup.browser import ARGUMENTS, chromium
from lab.bench.lines import SECONDS, WorkerError, understood

HERE = Path(__file__).resolve().parent
TYPES = {"mjs": "text/javascript", "js": "text/javascript", "wasm": "application/wasm", "html": "text/html"}
PAGE = """<!doctype html><meta charset="utf-8"><title>benchmark</title><script>
const core = location.hash.slice(1);
const worker = new Worker("/core_browser.mjs", { type: "module", name: core });
const next = () => new Promise((resolve) => {
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => resolve(JSON.stringify({ problem: message }));
  setTimeout(() => resolve(""), SECONDS * 1000);
});
const ready = next();
async function ask(line) {
  const said = await ready;
  if (said !== "ready") return said;
  const answer = next();
  worker.postMessage(line);
  return answer;
}
</script>"""


class Chromium:
    """A browser, and a server of what its pages load. To be closed."""

    def __init__(self, runtime: Mapping[str, bytes], archive: bytes) -> None:
        """Raises WorkerError when there is no Chromium."""
        path = chromium()
        if path is None:
            raise WorkerError("no Chromium: install one, or name it in the environment variable CHROMIUM")
        files = {f"/runtime/{name}": content for name, content in runtime.items()}
        for name in ("core_browser.mjs", "core_answers.mjs"):
            files[f"/{name}"] = (HERE / name).read_bytes()
        files |= {"/lab.zip": archive, "/page.html": PAGE.replace("SECONDS", str(SECONDS)).encode()}
        self._server = _serve(files)
        self._playwright: Playwright = sync_playwright().start()
        try:
            self._browser: Browser = self._playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error as error:
            self._playwright.stop()
            self._server.shutdown()
            self._server.server_close()
            raise WorkerError(f"Chromium does not start: {error.message.splitlines()[0]}") from None
        self.version = self._browser.version

    def worker(self, name: str, core: str) -> PageWorker:
        """A worker that measures under `core`, ``compiled`` or ``pure``."""
        page = self._browser.new_page()
        page.goto(f"http://127.0.0.1:{self._server.server_address[1]}/page.html#{core}")
        return PageWorker(name, page)

    def close(self) -> None:
        """End the browser and the server."""
        self._browser.close()
        self._playwright.stop()
        self._server.shutdown()
        self._server.server_close()


class PageWorker:
    """A worker in a page."""

    def __init__(self, name: str, page: Page) -> None:
        self.name = name
        self._page = page

    def ask(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to `case`. Raises WorkerError."""
        try:
            self._page.bring_to_front()  # what is in front runs at full speed
            line: str = self._page.evaluate("line => ask(line)", json.dumps(case))
        except Error as error:
            raise WorkerError(f"{self.name}: {error.message.splitlines()[0]}") from None
        return understood(self.name, line, case)

    def close(self) -> None:
        """Close the page."""
        self._page.close()


def _serve(files: Mapping[str, bytes]) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Type", TYPES.get(self.path.rsplit(".", 1)[-1], "application/octet-stream"))
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
