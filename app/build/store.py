"""A cache on disk that believes nothing it has not checked.

Every entry is one file: the SHA-256 of the content, then the content. An entry that does not match its own digest
is as good as absent, so a half-written or damaged cache heals by being filled again. Writing goes through a
temporary file and an atomic rename, so two builds at once cannot see each other's half-done work.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of `data` in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Puts `data` at `path` in one step: a reader sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


class Store:
    """Content kept under a kind and a key, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kind: str, key: str) -> Path:
        """The file that holds the entry, if there is one. `key` is hashed, so it may be any text."""
        digest = sha256_hex(key.encode())
        return self.folder / kind / digest[:2] / digest[2:]

    def get(self, kind: str, key: str) -> bytes | None:
        """The entry's content, or None when it is absent or damaged."""
        path = self.path(kind, key)
        try:
            entry = path.read_bytes()
        except OSError:
            return None
        content = entry[_DIGEST:]
        if hashlib.sha256(content).digest() != entry[:_DIGEST]:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return content

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Keeps `content`; a cache that cannot be written to costs time, not the build."""
        with contextlib.suppress(OSError):
            write_atomically(self.path(kind, key), hashlib.sha256(content).digest() + content)
