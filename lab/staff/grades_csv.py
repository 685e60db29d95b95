"""grades.csv: a header, a row of maximum points, and one row a student, as gradebooks import it."""

from __future__ import annotations

import csv
import io

from lab.staff.gradebook import Gradebook, max_points
from lab.staff.words import OUTCOMES

MAXIMUM = "Points possible"

_FORMULA = ("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠")


def grades_csv(book: Gradebook) -> str:
    """The text of the file. A grade that a fault of ours kept from being known is left empty."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    ids = [one.id for one in book.exercises]
    rows.writerow(["student", "name", *ids, "total", "late", *(f"{one}: outcome" for one in ids)])
    rows.writerow([MAXIMUM, "", *map(max_points, book.exercises), book.max_points, "", *("" for _ in ids)])
    for student in book.students:
        entries = [student.entries.get(one) for one in ids]
        points = [entry.points if entry is not None else 0 for entry in entries]
        total = student.points(book.exercises)
        rows.writerow(
            [
                as_text(student.key),
                as_text(student.name),
                *("" if one is None else one for one in points),
                "" if total is None else total,
                "late" if student.late else "",
                *(OUTCOMES[entry.result["outcome"]] if entry is not None else "nothing handed in" for entry in entries),
            ]
        )
    return out.getvalue()


def as_text(cell: str) -> str:
    """`cell` as a spreadsheet takes it for text: what begins like a formula gets an apostrophe before it."""
    text = " ".join(cell.split())
    return "'" + text if text.startswith(_FORMULA) else text
