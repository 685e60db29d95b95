"""Answers requests for the files of a built site."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable, Collection

import tornado.web
from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError

from app.serve.headers import COMMON, headers_for, page_policy
from app.serve.site_folder import ENCODINGS, Form, SiteFolder

PAGE = "index.html"

TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/vnd.microsoft.icon",
    "txt": "text/plain; charset=utf-8",
    "wasm": "application/wasm",
    "zip": "application/zip",
}
"""Content type by ending, the same on every machine; the system's own table is not asked."""

PART = 256 * 1024
"""Bytes written between two looks at whether the browser is still there."""

STATUS_WORDS = {403: "Not for this name", 404: "Not here", 405: "Not that way"}


def accepted(header: str) -> set[str]:
    """The codings that an Accept-Encoding header allows."""
    found = set()
    for item in header.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        refused = any(p.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for p in parameters)
        if name and not refused:
            found.add(name)
    return found


def host_name(header: str) -> str:
    """The name in a Host header, without the port, in lower case."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].split("]", 1)[0]
    return name.split(":", 1)[0]


class FileHandler(tornado.web.RequestHandler):
    """GET and HEAD of any path."""

    SUPPORTED_METHODS = ("GET", "HEAD")

    def initialize(
        self, site: SiteFolder | Callable[[], SiteFolder], hosts: Collection[str] | None, offer: str | None = None
    ) -> None:
        """`site`: or what gives it now; `hosts`: names under which it may be asked for, None when any will do.

        offer: what the page is told about the GPU's API (`app.serve.headers.cuda_offer`); None where there is none
        """
        self.site = site if isinstance(site, SiteFolder) else site()
        self.hosts = hosts
        self.offer = offer

    def set_default_headers(self) -> None:
        """What also an error page carries."""
        self.clear_header("Server")
        for name, value in COMMON.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuses a request under a name that is not ours: a page elsewhere may have pointed its name at us."""
        if self.hosts is not None and host_name(self.request.host or "") not in self.hosts:
            raise tornado.web.HTTPError(403)

    async def head(self, path: str) -> None:
        """As `get`, without the content."""
        await self.get(path)

    async def get(self, path: str) -> None:
        """Sends the file at `path`, in the best form that the browser takes."""
        name = path or PAGE
        forms = self.site.forms.get(name)
        if forms is None or name.startswith("_"):
            raise tornado.web.HTTPError(404)
        form = self._choose(forms)
        for key, value in headers_for(name, self.site.frame_ancestors).items():
            self.set_header(key, value)
        self.set_header("Content-Type", TYPES.get(name.rsplit(".", 1)[-1], "application/octet-stream"))
        if name == PAGE and self.offer is not None:
            self.set_header("Server-Timing", self.offer)
        self.set_header("Etag", form.etag)
        if len(forms) > 1:
            self.set_header("Vary", "Accept-Encoding")
        if self.check_etag_header():
            self.set_status(304)
            return
        self.set_header("Content-Length", str(form.size))
        if self.request.method == "HEAD":
            return
        await self._send(form)

    def _choose(self, forms: dict[str, Form]) -> Form:
        allowed = accepted(self.request.headers.get("Accept-Encoding", ""))
        for encoding, _ending in ENCODINGS:
            if encoding in forms and encoding in allowed:
                self.set_header("Content-Encoding", encoding)
                return forms[encoding]
        return forms[""]

    async def _send(self, form: Form) -> None:
        try:
            file = form.path.open("rb")
        except OSError:  # the site was deleted under us
            raise tornado.web.HTTPError(404) from None
        # A browser that goes away in the middle is nothing to report.
        with file, contextlib.suppress(StreamClosedError):
            while part := file.read(PART):
                self.write(part)
                await self.flush()

    def compute_etag(self) -> str | None:
        """The tag is set by `get`; Tornado's own would read the whole answer."""
        return None

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """A small page of our own that says what is the matter."""
        words = STATUS_WORDS.get(status_code, "That did not work")
        self._headers = HTTPHeaders()
        self.set_default_headers()
        self.set_header("Content-Security-Policy", page_policy())
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", TYPES["html"])
        if status_code == 405:
            self.set_header("Allow", "GET, HEAD")
        self.finish(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{words}</title>'
            f"<h1>{status_code}: {words}</h1><p>{self._advice(status_code)}</p></html>"
        )

    def _advice(self, status_code: int) -> str:
        if status_code == 403:
            name = html.escape(host_name(self.request.host or ""))
            return (
                f"This server answers to its own machine only, and was asked as “{name}”. If that is meant, "
                f"start it with --allow-host {name}."
            )
        if status_code == 404:
            return "The lab has no such page. Its start page is one folder up, or at the address printed on start."
        return "The lab only hands out files."
