"""junit.xml: a suite a student and exercise, a case a check. For staff: it has the hidden checks' contents."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from lab.staff.gradebook import Entry, Gradebook
from lab.staff.words import problem_lines, verdict_lines

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAULTS = ("grader_error", "did_not_run", "crashed", "stopped")


def junit(book: Gradebook) -> str:
    """The text of the file."""
    suites = [_suite(student.key, entry) for student, entry in book.entries]
    cases = sum(len(entry.result["checks"]) for _, entry in book.entries)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="serving-lab" tests="{cases}">\n' + "".join(suites) + "</testsuites>\n"
    )


def _suite(student: str, entry: Entry) -> str:
    result = entry.result
    checks = result["checks"]
    errors = sum(check["outcome"] in _FAULTS for check in checks)
    failures = sum(check["outcome"] == "failed" for check in checks)
    name = _attribute(f"{student}: {result['exercise']}")
    lines = [f'  <testsuite name={name} tests="{len(checks)}" failures="{failures}" errors="{errors}">\n']
    lines.append("    <properties>\n")
    for key in ("outcome", "points", "max_points", "code_sha256", "checks_sha256", "lab_version"):
        lines.append(f'      <property name="{key}" value={_attribute(str(result[key]))}/>\n')
    lines.append("    </properties>\n")
    why = "\n".join(problem_lines(result["problem"])) if result["problem"] is not None else ""
    for check in checks:
        group = _attribute(f"{student}.{result['exercise']}")
        lines.append(f"    <testcase name={_attribute(check['name'])} classname={group}")
        if check["outcome"] == "passed":
            lines.append("/>\n")
            continue
        tag = "error" if check["outcome"] in _FAULTS else "failure"
        text = why or "\n".join(verdict_lines(check))
        message = _attribute(check["message"])
        lines.append(f'>\n      <{tag} type="{check["outcome"]}" message={message}>{_text(text)}</{tag}>\n')
        lines.append("    </testcase>\n")
    lines.append("  </testsuite>\n")
    return "".join(lines)


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
