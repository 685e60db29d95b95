"""A built site on disk, as the server sees it: only what site.json lists exists."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.build.out import SITE_FILE, site_document
from app.build.store import sha256_hex

ENCODINGS = (("br", "br"), ("gzip", "gz"))
"""Names in Accept-Encoding, best first, with the ending of the file that holds the form."""


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a file that can be sent as it is."""

    path: Path
    size: int
    etag: str


@dataclass(frozen=True, slots=True)
class SiteFolder:
    """`forms`: path from the root → encoding ("" for plain) → form."""

    version: str
    frame_ancestors: tuple[str, ...]
    forms: dict[str, dict[str, Form]]


def open_site(folder: Path) -> SiteFolder | None:
    """The site in `folder`; None when there is none of ours."""
    document = site_document(folder)
    if document is None:
        return None
    forms = {name: _forms(folder / name, facts) for name, facts in document["files"].items()}
    content = (folder / SITE_FILE).read_bytes()
    forms[SITE_FILE] = {"": Form(folder / SITE_FILE, len(content), f'"{sha256_hex(content)[:32]}"')}
    return SiteFolder(document["version"], tuple(document["frame_ancestors"]), forms)


def is_whole(folder: Path) -> bool:
    """True when every file that site.json lists is there, with its content."""
    document = site_document(folder)
    if document is None:
        return False
    return all(
        _same(folder / f"{name}{ending}", facts)
        for name, entry in document["files"].items()
        for ending, facts in [("", entry), *((f".{kind}", entry[kind]) for kind in ("br", "gz") if kind in entry)]
    )


def _forms(path: Path, facts: dict[str, Any]) -> dict[str, Form]:
    tag = facts["sha256"][:32]
    found = {"": Form(path, facts["bytes"], f'"{tag}"')}
    for encoding, ending in ENCODINGS:
        if ending in facts:
            found[encoding] = Form(path.with_name(f"{path.name}.{ending}"), facts[ending]["bytes"], f'"{tag}-{ending}"')
    return found


def _same(path: Path, facts: dict[str, Any]) -> bool:
    try:
        return sha256_hex(path.read_bytes()) == facts["sha256"]
    except OSError:
        return False
