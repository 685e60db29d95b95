"""Fills in the service worker: which version it is, and what belongs to it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from app.build.store import sha256_hex

PLACE = "/* filled in by the builder */ null"
"""What stands in app/site/sw.js where the builder puts the site's version and files."""


def service_worker(template: str, version: str, files: Mapping[str, bytes]) -> bytes:
    """The script. `files` is everything that the site needs to work offline, by path from its root."""
    if template.count(PLACE) != 1:
        raise ValueError("app/site/sw.js does not have its one place for the list of files")
    known = {path: sha256_hex(files[path]) for path in sorted(files)}
    return template.replace(PLACE, json.dumps({"version": version, "files": known}, indent=1)).encode()
