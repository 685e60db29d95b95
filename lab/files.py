"""Writing result files: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TextIO

from lab.errors import InputError


class Writable(Protocol):
    """What an exporter needs of a file."""

    def write(self, text: str, /) -> int: ...


class Output:
    """A UTF-8 text file that appears under `name` when it is committed, and not at all when it is discarded.

    It is written to a temporary file in the same folder and then renamed. A pipe or a device is written to
    directly. Every method but `discard` raises InputError, naming the file, if the system refuses.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._temporary: Path | None = None
        with self._refusals_named():
            self._mode = _mode(Path(name))
            if self._mode is None or stat.S_ISREG(self._mode):
                # With symbolic links resolved, since a rename would replace the link and not the file.
                self._target = Path(os.path.realpath(name))
                temporary = self._target.with_name(f".{self._target.name[:100]}.{secrets.token_hex(4)}.tmp")
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
                self._temporary = temporary
                self._out: TextIO = os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")
            else:
                self._out = Path(name).open("w", encoding="utf-8", newline="\n")  # noqa: SIM115

    def write(self, text: str) -> int:
        """Write `text`; returns how many characters that are."""
        with self._refusals_named():
            return self._out.write(text)

    def commit(self) -> None:
        """Close the file and give it its name."""
        with self._refusals_named():
            self._out.close()
            if self._temporary is not None:
                if self._mode is not None:
                    self._temporary.chmod(stat.S_IMODE(self._mode))
                self._temporary.replace(self._target)
                self._temporary = None

    def discard(self) -> None:
        """Close the file and take it away."""
        with contextlib.suppress(OSError):
            self._out.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _refusals_named(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a path with a null character
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be written ({reason}); choose another path", source=self.name) from None


def _mode(path: Path) -> int | None:
    """The mode of what `path` points to, None if there is nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def whole_file(name: str) -> Iterator[Output]:
    """An `Output` that is committed when the block ends well, and discarded when it does not."""
    out = Output(name)
    try:
        yield out
        out.commit()
    except BaseException:
        out.discard()
        raise


def write_text(name: str, text: str) -> None:
    """Write a whole file at once; ``-`` is stdout. Raises InputError, naming the file, if the system refuses."""
    if name == "-":
        print(text, end="")
        return
    with whole_file(name) as out:
        out.write(text)
