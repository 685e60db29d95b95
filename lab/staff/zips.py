"""Reads what is in a zip, in memory and within bounds. Nothing is written anywhere, whatever the names in it say."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BIGGEST = 256_000_000
"""Bytes of a zip file, and of all that is read out of it."""

MOST_MEMBERS = 50_000
DEEPEST = 3
"""Zips inside zips."""

Whose = Callable[[tuple[str, ...]], tuple[str | None, str]]
"""From the parts of a member's name: the student, if the folders say so, and whose it is otherwise."""

_BAD = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error, struct.error)
_WANTED = (".py", ".json", ".zip")
_JUNK = ("__MACOSX", "__pycache__")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in a zip: `data` is None if it is not used, and then `problem` says why. `name` is empty for the zip."""

    name: str
    student: str | None
    otherwise: str
    data: bytes | None
    problem: str = ""


class _Budget:
    def __init__(self) -> None:
        self.left = BIGGEST


def common_folder(data: bytes) -> str | None:
    """The folder that everything in the zip is in, if it holds folders itself: a packed folder of students."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [_parts(name) for name in archive.namelist()[:MOST_MEMBERS]]
    except _BAD:
        return None
    names = [parts for parts in names if parts and not _junk(parts)]
    tops = {parts[0] for parts in names}
    return tops.pop() if len(tops) == 1 and any(len(parts) > 2 for parts in names) else None


def members(data: bytes, most_code: int, most_export: int, whose: Whose) -> Iterator[Member]:
    """The files in the zip, in order of name, those in inner zips among them."""
    yield from _members(data, "", whose, {".py": most_code, ".json": most_export, ".zip": BIGGEST}, _Budget(), 1)


def _members(
    data: bytes, before: str, whose: Whose, most: dict[str, int], budget: _Budget, depth: int
) -> Iterator[Member]:
    student, otherwise = whose(_parts(before) or ("",))
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BAD:
        yield Member(before, student, otherwise, None, "is no zip that can be read")
        return
    with archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            yield Member(before, student, otherwise, None, f"is a zip of more than {MOST_MEMBERS} files")
            return
        for info in sorted(infos, key=lambda info: info.filename):
            parts = _parts(info.filename)
            if info.is_dir() or not parts or _junk(parts):
                continue
            name = f"{before}/{info.filename}" if before else info.filename
            owner, otherwise = whose((*_parts(before), *parts))
            suffix = name[name.rfind(".") :].lower() if "." in parts[-1] else ""
            content, problem = _content(archive, info, suffix, most, budget)
            if content is not None and suffix == ".zip":
                if depth >= DEEPEST:
                    yield Member(name, owner, otherwise, None, "is a zip too deep inside others")
                else:
                    inner = _inside(whose, owner, otherwise)
                    yield from _members(content, name, inner, most, budget, depth + 1)
            else:
                yield Member(name, owner, otherwise, content, problem)


def _inside(whose: Whose, owner: str | None, otherwise: str) -> Whose:
    """An inner zip in a student's folder is that student's; one that lies with others is named for its student."""
    if owner is not None:
        return lambda parts: (owner, otherwise)

    def by_name(parts: tuple[str, ...]) -> tuple[str | None, str]:
        zips = [part[:-4] for part in parts if part.lower().endswith(".zip")]
        return (zips[0] if zips else None), otherwise

    return by_name


def _content(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, suffix: str, most: dict[str, int], budget: _Budget
) -> tuple[bytes | None, str]:
    """The bytes of a member, or None and why not. What it declares of its size is not believed."""
    if ".." in info.filename.replace("\\", "/").split("/") or info.filename.startswith(("/", "\\")):
        return None, "has a name that leads out of the zip"
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return None, "is a link or a device, and not a file"
    if suffix not in _WANTED:
        return b"", ""
    if info.flag_bits & 1:
        return None, "is encrypted"
    bound = min(most[suffix], budget.left)
    if info.file_size > bound:
        return None, _too_large(most[suffix])
    try:
        with archive.open(info) as file:
            content = file.read(bound + 1)
    except (*_BAD, MemoryError):
        return None, "is damaged"
    budget.left -= min(len(content), bound)
    return (content, "") if len(content) <= bound else (None, _too_large(most[suffix]))


def _too_large(most: int) -> str:
    return f"is larger than the {most / 1e6:.0f} MB that are read"


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def _junk(parts: tuple[str, ...]) -> bool:
    return any(part in _JUNK or (part.startswith(".") and part != "..") for part in parts)
