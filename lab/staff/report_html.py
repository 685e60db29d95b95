"""report.html: the class at a glance and each student, in one file that needs nothing else and runs no script."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from lab.exercises import HIDDEN, Exercise
from lab.grading.judge import Verdict
from lab.staff.gradebook import Entry, Gradebook, Student, max_points
from lab.staff.isolation import WORDS
from lab.staff.trial import MEANING
from lab.staff.words import OUTCOMES, clean, points, problem_lines, verdict_lines

BUCKETS = 10
COMMON = 15
"""Wrong answers that are listed."""

_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--bar:#0b66c3;
--good:#1a7f37;--bad:#b3261e;--panel:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#3d444d;--bar:#5aa9f5;
--good:#56c271;--bad:#ff8b80;--panel:#1f242b}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem}
h2{font-size:1.25rem;margin-top:2.5rem;border-bottom:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.5rem 0 .25rem}
table{border-collapse:collapse;margin:.5rem 0}
th,td{text-align:left;padding:.2rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
.soft{color:var(--soft)}
.passed{color:var(--good)}
.bad{color:var(--bad)}
pre{background:var(--panel);padding:.5rem .7rem;overflow-x:auto;white-space:pre-wrap;
overflow-wrap:anywhere;margin:.25rem 0 .75rem}
svg{max-width:100%;height:auto}
rect{fill:var(--bar)}
text{fill:var(--ink);font:12px system-ui,sans-serif}
section.student{border-top:1px solid var(--line);padding-top:.25rem}
section:target{outline:3px solid var(--bar);outline-offset:.4rem}
a{color:inherit}
p,h3,code{overflow-wrap:anywhere}
""".strip()


def report_html(book: Gradebook) -> str:
    """The text of the file."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    body = "\n".join(_body(book))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>Grades</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _body(book: Gradebook) -> Iterator[str]:
    yield "<h1>Grades</h1>"
    yield f"<p>{len(book.students)} students, {len(book.entries)} solutions, {book.max_points} points possible.</p>"
    yield from _distribution(book)
    for exercise in book.exercises:
        yield from _hardest(book, exercise)
    yield from _common(book)
    yield from _compared(book)
    yield from _unplaced(book)
    yield from _students(book)
    yield from _isolation(book)
    yield "<h2>Student by student</h2>"
    yield '<p class="soft">Hidden checks are shown with all that they ask: this file is for staff.</p>'
    for number, student in enumerate(book.students):
        yield from _student(book, number, student)


def _t(text: object) -> str:
    return escape(clean(str(text)), quote=True)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Cells are HTML. A head that begins with # is of a column of numbers."""
    numbers = [title.startswith("#") for title in head]
    cells = "".join(f'<th scope="col"{_n(n)}>{t.lstrip("#")}</th>' for t, n in zip(head, numbers, strict=True))
    yield f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>'
    for row in rows:
        yield "<tr>" + "".join(f"<td{_n(n)}>{cell}</td>" for cell, n in zip(row, numbers, strict=True)) + "</tr>"
    yield "</tbody></table></div>"


def _n(number: bool) -> str:
    return ' class="n"' if number else ""


def _distribution(book: Gradebook) -> Iterator[str]:
    known = [total for student in book.students if (total := student.points(book.exercises)) is not None]
    most = book.max_points
    if not known or not most:
        return
    counts = [0] * (BUCKETS + 1)
    for total in known:
        counts[total * BUCKETS // most] += 1
    yield "<h2>Distribution</h2>"
    ordered = sorted(known)
    mean = f"{sum(known) / len(known):.1f}"
    yield f"<p>Mean {mean}, median (lower) {ordered[(len(known) - 1) // 2]}, of {most} points.</p>"
    labels = [f"{100 * i // BUCKETS}–{100 * (i + 1) // BUCKETS}%" for i in range(BUCKETS)] + ["100%"]
    words = ", ".join(f"{label}: {count}" for label, count in zip(labels, counts, strict=True))
    width, height, top = 60, 120, max(counts)
    yield f'<svg viewBox="0 0 {width * len(counts)} {height + 40}" role="img" aria-label="{_t(words)}">'
    for i, (label, count) in enumerate(zip(labels, counts, strict=True)):
        tall = round(height * count / top)
        yield f'<rect x="{i * width + 6}" y="{height + 16 - tall}" width="{width - 12}" height="{tall}"/>'
        middle = i * width + width // 2
        yield f'<text x="{middle}" y="{height + 10 - tall}" text-anchor="middle">{count or ""}</text>'
        yield f'<text x="{middle}" y="{height + 32}" text-anchor="middle">{label}</text>'
    yield "</svg>"


def _verdicts(book: Gradebook, exercise: Exercise) -> Iterator[tuple[Student, Verdict]]:
    for student in book.students:
        entry = student.entries.get(exercise.id)
        if entry is not None and entry.result["outcome"] != "grader_error":
            yield from ((student, verdict) for verdict in entry.result["checks"])


def _hardest(book: Gradebook, exercise: Exercise) -> Iterator[str]:
    passed: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for _, verdict in _verdicts(book, exercise):
        asked[verdict["name"]] += 1
        passed[verdict["name"]] += verdict["outcome"] == "passed"
    yield f"<h2>{_t(exercise.title)}: hardest checks</h2>"
    if not asked:
        yield "<p>Nothing was handed in.</p>"
        return
    checks = sorted(exercise.checks(hidden=True), key=lambda check: passed[check.name] / max(1, asked[check.name]))
    rows = (
        (
            _t(check.name) + (' <span class="soft">(hidden)</span>' if check.visibility == HIDDEN else ""),
            str(check.points),
            f"{passed[check.name]} of {asked[check.name]}",
        )
        for check in checks[:COMMON]
    )
    yield from _table(("Check", "#Points", "#Passed"), rows)


def _common(book: Gradebook) -> Iterator[str]:
    count: Counter[tuple[str, str, str, str]] = Counter()
    for exercise in book.exercises:
        for _, verdict in _verdicts(book, exercise):
            if verdict["outcome"] == "failed":
                said = verdict["returned"] or verdict["message"]
                count[exercise.title, verdict["name"], said[:300], verdict["cause"]] += 1
    rows = [(key, n) for key, n in count.items() if n > 1]
    rows.sort(key=lambda row: (-row[1], row[0]))
    if rows:
        yield "<h2>Common wrong answers</h2>"
        yield from _table(
            ("Exercise", "Check", "Came back", "Likely cause", "#Students"),
            ((_t(e), _t(c), f"<code>{_t(r)}</code>", _t(why), str(n)) for (e, c, r, why), n in rows[:COMMON]),
        )


def _compared(book: Gradebook) -> Iterator[str]:
    if book.compared is None:
        return
    changed, new, gone = (book.compared[key] for key in ("changed", "new", "gone"))
    yield "<h2>Against the earlier run</h2>"
    yield f"<p>{len(changed)} changed, {book.compared['same']} the same, {len(new)} new, {len(gone)} gone.</p>"
    if changed:
        yield from _table(
            ("Student", "Exercise", "#Before", "#After", "Checks"),
            (
                (
                    _t(one["student"]),
                    _t(one["exercise"]),
                    f"{one['before']['points']} of {one['before']['max_points']}",
                    f"{one['after']['points']} of {one['after']['max_points']}",
                    "<br>".join(_t(_change(check)) for check in one["checks"]),
                )
                for one in changed
            ),
        )


def _change(check: dict[str, dict[str, object] | None]) -> str:
    before, after = check["before"], check["after"]
    return f"{check['name']}: {before['outcome'] if before else '–'} → {after['outcome'] if after else '–'}"


def _unplaced(book: Gradebook) -> Iterator[str]:
    if book.unplaced:
        yield "<h2>Not graded</h2>"
        rows = ((f"<code>{_t(one.place)}</code>", _t(one.student or "–"), _t(one.reason)) for one in book.unplaced)
        yield from _table(("File", "Student", "Why"), rows)


def _students(book: Gradebook) -> Iterator[str]:
    yield "<h2>Students</h2>"
    head = ("Student", "Name", *(_t(one.title) for one in book.exercises), "#Points", "")
    rows = (
        (
            f'<a href="#s{number}">{_t(student.key)}</a>',
            _t(student.name),
            *(_cell(student.entries.get(one.id)) for one in book.exercises),
            _total(book, student),
            "late" if student.late else "",
        )
        for number, student in enumerate(book.students)
    )
    yield from _table(head, rows)


def _total(book: Gradebook, student: Student) -> str:
    total = student.points(book.exercises)
    return "?" if total is None else str(total)


def _cell(entry: Entry | None) -> str:
    if entry is None:
        return '<span class="soft">nothing handed in</span>'
    outcome = entry.result["outcome"]
    kind = "passed" if outcome == "passed" else "bad"
    told = f"{'?' if entry.points is None else entry.points}/{entry.result['max_points']}"
    return f'{told} <span class="{kind}">{OUTCOMES[outcome]}</span>'


def _isolation(book: Gradebook) -> Iterator[str]:
    yield "<h2>How solutions were shut off</h2>"
    limits = book.plan.limits
    python = _t(book.plan.interpreter.python)
    yield f"<p>{limits.timeout:g} s a check, {limits.memory} MiB a solution, run by {python}.</p>"
    holds = book.plan.isolation()
    words = {**WORDS, **MEANING}
    yield from _table(
        ("Layer", "", "Why not"),
        ((_t(words[name]), "on" if on else "off", _t(book.plan.off.get(name, ""))) for name, on in holds.items()),
    )


def _student(book: Gradebook, number: int, student: Student) -> Iterator[str]:
    yield f'<section class="student" id="s{number}">'
    name = f"{student.key} – {student.name}" if student.name else student.key
    missing = "" if student.on_roster in (None, True) else ' <span class="bad">not on the roster</span>'
    yield f"<h3>{_t(name)}{missing}</h3>"
    yield f"<p>{points(student.points(book.exercises), book.max_points)}</p>"
    for exercise in book.exercises:
        entry = student.entries.get(exercise.id)
        if entry is None:
            yield f"<p>{_t(exercise.title)}: 0 of {max_points(exercise)} points, nothing handed in</p>"
        else:
            yield from _entry(exercise, entry)
    yield "</section>"


def _entry(exercise: Exercise, entry: Entry) -> Iterator[str]:
    result = entry.result
    late = " · late" if entry.late else ""
    place = _t(entry.submission.place)
    yield f"<p><strong>{_t(exercise.title)}</strong>: {_cell(entry)}{late} · <code>{place}</code></p>"
    for note in entry.submission.notes:
        yield f'<p class="bad">{_t(note)}</p>'
    if result["problem"] is not None:
        yield f"<pre>{_lines(problem_lines(result['problem']))}</pre>"
        return
    for verdict in result["checks"]:
        if verdict["outcome"] != "passed":
            hidden = ", hidden" if verdict["visibility"] == HIDDEN else ""
            told = f"{OUTCOMES[verdict['outcome']]}, {points(verdict['points'], verdict['max_points'])}{hidden}"
            yield f'<p><span class="bad">{_t(verdict["name"])}</span> ({told})</p>'
            yield f"<pre>{_lines(verdict_lines(verdict))}</pre>"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(_t(line) for line in lines)
