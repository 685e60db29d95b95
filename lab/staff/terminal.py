"""What a grading run says on the terminal: progress while it runs, a summary in the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from lab.staff.gradebook import Gradebook
from lab.staff.words import OUTCOMES

LISTED = 20
"""Entries of a list that are shown; the rest are in the files."""

SECONDS_A_LINE = 0.2


class Progress:
    """One line on a terminal that says how far a run has come."""

    def __init__(self, out: TextIO, total: int) -> None:
        self._out, self._total, self._done, self._shown, self._due = out, total, 0, 0, 0.0

    def step(self, student: str) -> None:
        """One more is graded."""
        self._done += 1
        if time.monotonic() >= self._due or self._done == self._total:
            self._due = time.monotonic() + SECONDS_A_LINE
            line = f"graded {self._done} of {self._total} ({student[:40]})"
            self._out.write("\r" + line.ljust(self._shown))
            self._out.flush()
            self._shown = len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._out.write("\r" + " " * self._shown + "\r")
            self._out.flush()
            self._shown = 0


def summary(book: Gradebook, kept: int, out: str) -> Iterator[str]:
    """The lines of the summary. kept: results that held from an earlier run; out: the folder written to."""
    entries = book.entries
    yield f"{_count(len(book.students), 'student')}, {_count(len(entries), 'solution')}: " + (
        ", ".join(f"{n} {OUTCOMES[outcome]}" for outcome, n in _outcomes(book)) or "nothing to grade"
    )
    if kept:
        yield f"{kept} of them unchanged since an earlier run, and not run again (--force runs all)"
    for one in book.exercises:
        points = [e.points for s in book.students if (e := s.entries.get(one.id)) is not None and e.points is not None]
        if points:
            most = next(e.result["max_points"] for s in book.students if (e := s.entries.get(one.id)) is not None)
            yield f"{one.id}: mean {sum(points) / len(points):.1f} of {most} points over {len(points)}"
    late = [student.key for student in book.students if student.late]
    if late:
        yield f"late: {_list(late)}"
    missing = [student.key for student in book.students if not student.entries]
    if missing:
        yield f"handed nothing in: {_list(missing)}"
    strangers = [student.key for student in book.students if student.on_roster is False]
    if strangers:
        yield f"not on the roster: {_list(strangers)}"
    if book.unplaced:
        yield f"not graded, {_count(len(book.unplaced), 'file')}:"
        for left in book.unplaced[:LISTED]:
            whose = f" ({left.student})" if left.student and left.student not in left.place else ""
            yield f"  {left.place}{whose}: {left.reason}"
        if len(book.unplaced) > LISTED:
            yield f"  and {len(book.unplaced) - LISTED} more, in the report"
    if book.compared is not None:
        changed = book.compared["changed"]
        yield f"against the earlier run: {len(changed)} changed, {book.compared['same']} the same"
        for change in changed[:LISTED]:
            before, after = change["before"]["points"], change["after"]["points"]
            yield f"  {change['student']}, {change['exercise']}: {before} → {after} points"
        if len(changed) > LISTED:
            yield f"  and {len(changed) - LISTED} more, in the report"
    holds = book.plan.isolation()
    off = [name for name, on in holds.items() if not on]
    yield f"isolation: {len(holds) - len(off)} of {len(holds)} on" + (f"; off: {', '.join(off)}" if off else "")
    yield f"report: {out}/report.html"


def _outcomes(book: Gradebook) -> list[tuple[str, int]]:
    counts = Counter(entry.result["outcome"] for _, entry in book.entries)
    return [(outcome, counts[outcome]) for outcome in OUTCOMES if counts[outcome]]


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _list(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
