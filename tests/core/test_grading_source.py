"""A source is read as Python reads it, and what cannot be read is told with the learner's own line."""

import pytest
from solutions import PAGES, call, outcomes, problem

from lab.grading.child.source import Unusable, read
from lab.grading.report import code_sha256

NAME = "变量 = 'é'\ndef f(): return 变量\n"


@pytest.mark.parametrize(
    "source",
    [
        NAME,
        "\ufeff" + NAME,
        "# coding: latin-1\n" + NAME,
        NAME.replace("\n", "\r\n"),
        NAME.replace("\n", "\r"),
        NAME.encode(),
        b"\xef\xbb\xbf" + NAME.encode(),
        b"\xef\xbb\xbf# coding: utf-8\n" + NAME.encode(),
        NAME.replace("\n", "\r\n").encode(),
        "x = 'é'\ndef f(): return x\n".encode(),
        "# coding: latin-1\nx = 'é'\ndef f(): return x\n".encode("latin-1"),
        "#!/usr/bin/env python\n# -*- coding: cp1252 -*-\nx = 'é'\ndef f(): return x\n".encode("cp1252"),
        "# coding: gb18030\nx = '中文'[:0] + '\u00e9'\ndef f(): return x\n".encode("gb18030"),
    ],
    ids=range(13),
)
def test_encodings_and_line_ends_that_python_reads(source):
    from lab.grading.child.call import Session

    answer = Session(source, "f").run({"steps": [{"arguments": []}]})
    assert answer["steps"] == [{"returned": ["str", "é"], "arguments": []}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end):
    source = end.join(["def f():", "    x = 1", "", "    # \x0c \u2028", "    return x / 0", ""])
    (step,) = call(source)["steps"]
    assert step["raised"]["line"] == 5
    assert step["raised"]["frames"][0]["code"] == "return x / 0"


def test_the_learners_line_is_shown_in_its_own_encoding():
    from lab.grading.child.call import Session

    source = "# coding: latin-1\ndef f(): return 'é' + 1\n".encode("latin-1")
    answer = Session(source, "f").run({"steps": [{"arguments": []}]})
    assert answer["steps"][0]["raised"]["frames"][0]["code"] == "def f(): return 'é' + 1"


@pytest.mark.parametrize(
    ("source", "said", "line", "cause"),
    [
        ("def f(:\n  pass", "Line 1: SyntaxError:", 1, "missing bracket, colon or quote"),
        ("x = 1\ny = (1,\nz = 3\n", "SyntaxError:", None, "missing bracket"),
        ("def f():\nreturn 1", "Line 2: IndentationError:", 2, "fits no block"),
        ("if 1:\n        x = 1\n\ty = 2\n", "Line 3: TabError:", 3, "spaces only"),
        ("return 3", "Line 1: SyntaxError: 'return' outside function", 1, ""),
        ("x = 1\n\nprint 'hello'", "Line 3: SyntaxError:", 3, ""),
        ("x = 1\ny = 'a\0b'\n", "Line 2: a NUL character is no part of Python", 2, ""),
        (b"x = 1\r\n\r\ny = 'a\0b'\r\n", "Line 3: a NUL character", 3, ""),
        ("x = 1".encode("utf-16"), "Line 1: the file is saved as UTF-16; save it as UTF-8.", 1, ""),
        (b"x = 1\ny = '\xe9'\n", "SyntaxError: (unicode error) 'utf-8' codec", None, ""),
        (b"# coding: klingon\nx = 1", "SyntaxError: ", None, ""),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1", "SyntaxError: ", None, ""),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "Line 3: a NUL character", 3, ""),
        ("(" * 300 + ")" * 300, "too many nested parentheses", 1, ""),
    ],
)
def test_what_does_not_compile_did_not_run(source, said, line, cause):
    found = problem(source)
    assert found["outcome"] == "did_not_run"
    assert said in found["message"]
    assert line is None or found["line"] == line
    assert cause in found["cause"]
    assert set(outcomes(source).values()) == {"did_not_run"}


@pytest.mark.cpython_only("ends Pyodide's interpreter, whose stack Python cannot see; the page says the same of it")
@pytest.mark.parametrize(
    "expression",
    ["-" * 100_000 + "1", "a" + ".a" * 100_000, "not " * 50_000 + "1", "1 + " * 100_000 + "1"],
    ids=["minus", "attributes", "not", "sum"],
)
def test_source_too_deep_to_compile_did_not_run(expression):
    found = problem(f"x = {expression}")
    assert (found["outcome"], found["line"]) == ("did_not_run", None)
    assert found["message"] == "Nested too deeply for Python to compile."
    assert "in a loop" in found["cause"]


def test_a_syntax_error_names_the_column():
    assert problem("x = 1\ny = 2 +* 3\n")["column"] == 8


def test_a_megabyte_of_source_compiles():
    filler = "# a line of filler that says nothing at all\n" * 12_000 + "x = [1, 2, 3]\n" * 35_000
    assert len(filler) > 1_000_000
    assert set(outcomes(filler + PAGES.reference).values()) == {"passed"}


def test_a_warning_about_the_source_is_not_printed():
    answer = call("def f():\n    return 1 is 1\n")
    assert answer["output"] == {"text": "", "bytes": 0}


def test_the_future_imports_of_the_grader_are_not_the_learners():
    answer = call("def f(x: int): return 1\nf.__annotations__\ndef g(): return f.__annotations__['x'] is int", name="g")
    assert answer["steps"][0]["returned"] == ["bool", True]


def test_asserts_of_the_learner_are_kept():
    assert call("def f(): assert False, 'kept'")["steps"][0]["raised"]["message"] == "kept"


def test_the_problem_of_a_source_is_an_exception_with_plain_data():
    with pytest.raises(Unusable) as caught:
        read("x = (")
    assert caught.value.problem["kind"] == "syntax"
    assert read("x = 1\n").line(1) == "x = 1"
    assert read("x = 1\n").line(7) == read("x = 1\n").line(None) == ""


def test_code_is_known_by_its_bytes():
    assert code_sha256("x = 1") == code_sha256(b"x = 1")
    assert code_sha256("x = 1") != code_sha256("x = 1\n")
    assert code_sha256("é") == code_sha256("é".encode())
    assert len(code_sha256("\ud800")) == 64
    assert code_sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
