"""Rows of text in columns."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "   "


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """A line a row; the first `left` columns are flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
