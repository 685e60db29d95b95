"""Zip archives that depend on nothing but what is in them: sorted, stored, with one fixed time."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold. Stored entries unpack by copying, and compress better as one whole."""


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """An archive of `files` (path → content)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, TIME)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name])
    return out.getvalue()


def unzip_bytes(content: bytes) -> dict[str, bytes]:
    """The files of an archive, by path."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
