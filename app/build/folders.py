"""Folders of the site that are named for their content, so that browsers may keep them for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from app.build.store import sha256_hex

LENGTH = 16
"""Hexadecimal digits of the hash in a folder's name."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One hashed folder: `files` maps paths inside it to content."""

    kind: str
    files: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """`kind-<hash>/`, relative to the site's root; equal files give an equal name."""
        return f"{self.kind}-{content_hash(self.files)}/"

    def paths(self) -> dict[str, bytes]:
        """The files by their path from the site's root."""
        return {self.name + path: content for path, content in self.files.items()}


def content_hash(files: Mapping[str, bytes]) -> str:
    """A hash of paths and contents."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{path}\n{sha256_hex(files[path])}\n".encode())
    return total.hexdigest()[:LENGTH]
