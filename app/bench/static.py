"""A folder in memory, served as a good static host serves it: compressed, and kept by browsers."""

from __future__ import annotations

from collections.abc import Mapping

import tornado.web

from app.build.compress import THOROUGH, siblings
from app.build.store import Store, sha256_hex
from app.serve.handler import TYPES, accepted
from app.serve.headers import ASK_EACH_TIME, FOREVER

CODINGS = (("br", "br"), ("gzip", "gz"))
PACKED = (".whl", ".zip")
"""Endings of what is compressed already. (The runtime's standard library is such an archive, too.)"""


def packed(files: Mapping[str, bytes], store: Store) -> dict[str, bytes]:
    """`files` with the `.br` and `.gz` that a host would send instead."""
    plain = {path: content for path, content in files.items() if not path.endswith(PACKED)}
    return {**files, **siblings(plain, THOROUGH, store)}


class StaticHandler(tornado.web.RequestHandler):
    """GET of any path of `files`; `page` is what the root answers with."""

    def initialize(self, files: Mapping[str, bytes], page: str) -> None:
        """As handed over by the application."""
        self.files = files
        self.page = page

    def get(self, path: str) -> None:
        """Sends the file in the best form that the browser takes."""
        name = path or self.page
        if name not in self.files:
            raise tornado.web.HTTPError(404)
        allowed = accepted(self.request.headers.get("Accept-Encoding", ""))
        content = self.files[name]
        for coding, ending in CODINGS:
            if coding in allowed and f"{name}.{ending}" in self.files:
                self.set_header("Content-Encoding", coding)
                content = self.files[f"{name}.{ending}"]
                break
        self.set_header("Content-Type", TYPES.get(name.rsplit(".", 1)[-1], "application/octet-stream"))
        self.set_header("Cache-Control", FOREVER if "/" in name else ASK_EACH_TIME)
        self.set_header("Vary", "Accept-Encoding")
        self.set_header("Etag", f'"{sha256_hex(content)[:32]}"')
        if self.check_etag_header():
            self.set_status(304)
            return
        self.write(content)

    def compute_etag(self) -> str | None:
        """Set by `get`."""
        return None


def static_application(files: Mapping[str, bytes], page: str) -> tornado.web.Application:
    """The application that serves `files`."""
    return tornado.web.Application([(r"/(.*)", StaticHandler, {"files": files, "page": page})])
