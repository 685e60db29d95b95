"""JSON text to plain data, strictly, with one-line errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

from lab.errors import InputError

PIECE = 2**20


class _WithRepeats(dict[str, Any]):
    """An object in which keys were written more than once."""

    repeats: tuple[str, ...] = ()


def repeated_keys(value: dict[str, Any]) -> tuple[str, ...]:
    """The keys written more than once in an object that `parse_json` read."""
    return value.repeats if isinstance(value, _WithRepeats) else ()


def _object_from(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    seen: set[str] = set()
    repeats = tuple(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    marked = _WithRepeats(plain)
    marked.repeats = repeats
    return marked


def _integer_from(digits: str) -> int:
    # Python refuses to convert thousands of digits. All beyond 40 are far too large for a file anyway, so the
    # first 40 say the same about the value: too large.
    return int(digits[:40])


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """The bytes of the file at `path`. Raises InputError if it cannot be read, or has more than `most` bytes."""
    source = str(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read() if most is None else _at_most(file, most + 1)
    except FileNotFoundError:
        raise InputError("there is no such file; check the path", source=source) from None
    except IsADirectoryError:
        raise InputError("is a folder; name a file in it", source=source) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason}); check the path and its permissions", source=source) from None
    if most is not None and len(data) > most:
        raise InputError(f"has more than {most} bytes, the most that is read; split it or give --max-mb", source=source)
    return data


def _at_most(file: BinaryIO, most: int) -> bytes:
    # In pieces: `read(most)` takes memory for `most` bytes before it knows how few there are.
    pieces = []
    while most and (piece := file.read(min(most, PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def parse_json(data: bytes | str, source: str) -> Any:
    """The value of the JSON text `data`. Objects with repeated keys are marked: see `repeated_keys`.

    Bytes are UTF-8, with or without a byte order mark. Raises InputError with `source`, line and column.
    """
    if isinstance(data, bytes):
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"is not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start}); save it as UTF-8",
                source=source,
            ) from None
    else:
        text = data.removeprefix("\ufeff")
    if not text.strip():
        raise InputError("is empty; write a JSON object", source=source)
    try:
        return json.loads(text, object_pairs_hook=_object_from, parse_int=_integer_from)
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not JSON ({error.msg}); mend the text there",
            source=source,
            place=f"line {error.lineno}, column {error.colno}",
        ) from None
    except RecursionError:
        raise InputError("is nested too deeply; a trace has three levels", source=source) from None
