"""The one error that bad input raises."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with line breaks and other control characters escaped, so that it stays on one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


class InputError(ValueError):
    """Input that the lab cannot use. `str()` is one line: ``file: place, field: what is wrong; remedy``.

    problem: what is wrong and what to do about it, without the place
    field:   the name of the offending field, such as ``prompt_tokens``, or None
    place:   where the field is, such as ``requests[3] (id "d")``, or None
    source:  the file or the call that the input came from, or None
    """

    def __init__(
        self, problem: str, *, field: str | None = None, place: str | None = None, source: str | None = None
    ) -> None:
        super().__init__(problem, field, place, source)
        self.problem = problem
        self.field = field
        self.place = place
        self.source = source

    def at(self, *, place: str | None = None, source: str | None = None) -> InputError:
        """The same error with its place and source filled in where they were not known yet."""
        return InputError(self.problem, field=self.field, place=self.place or place, source=self.source or source)

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.place, self.field) if part)
        return printable(": ".join(part for part in (self.source, where, self.problem) if part))
