"""Whatever learner code does in this interpreter, the check ends with a result and the interpreter is as before."""

import builtins
import gc
import io
import json
import linecache
import sys
import threading
import tokenize
import traceback
from textwrap import dedent

import pytest
from solutions import FIRST, PAGES, RIGHT, STEP, call, check_named, outcomes, problem, verdict, verdict_of

from lab.grading.child import capture
from lab.grading.child.call import Session
from lab.grading.grade import grade_here

OTHERS = "No tokens, no pages"


@pytest.fixture(autouse=True)
def interpreter_as_before():
    """What a check may never leave behind."""
    before = (
        dict(vars(builtins)),
        {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr", "__stdout__", "excepthook")},
        sys.getrecursionlimit(),
        sys.gettrace(),
        sys.getprofile(),
        sys.path[:],
        sys.modules.get("solution"),
    )
    modules = dict(sys.modules)
    yield
    assert {name: value for name, value in vars(builtins).items() if name != "_"} == before[0]
    assert {name: getattr(sys, name) for name in before[1]} == before[1]
    assert (sys.getrecursionlimit(), sys.gettrace(), sys.getprofile(), sys.path) == before[2:6]
    assert sys.modules.get("solution") is before[6]
    assert {name for name, module in modules.items() if sys.modules.get(name) is not module} == set()
    assert gc.isenabled()


# What is raised


@pytest.mark.parametrize(
    ("body", "outcome", "said"),
    [
        ("raise ValueError('no')", "failed", "It raised ValueError: no, in line 2."),
        ("raise KeyboardInterrupt", "failed", "It raised KeyboardInterrupt, in line 2."),
        ("raise BaseException('x')", "failed", "It raised BaseException: x, in line 2."),
        ("raise GeneratorExit", "failed", "It raised GeneratorExit, in line 2."),
        ("raise SystemExit", "crashed", "It ended Python instead of returning, in line 2."),
        ("import sys; sys.exit(0)", "crashed", "It ended Python instead of returning, in line 2."),
        ("exit()", "crashed", "It ended Python instead of returning, in line 2."),
        ("import sys; return [0] * (sys.maxsize // 2)", "stopped", "It needed more memory than there is."),
        ("import sys; return (0,) * (sys.maxsize // 2)", "stopped", "It needed more memory than there is."),
        ("import nowhere", "failed", "It raised ModuleNotFoundError: No module named 'nowhere', in line 2."),
        ("return input()", "failed", "nobody can answer input()"),
        ("import sys; return sys.stdin.readline()", "failed", "nobody can answer input()"),
        ("return 1 / 0", "failed", "It raised ZeroDivisionError: division by zero, in line 2."),
        ("return allocate_kv_pages(tokens)", "failed", "It raised RecursionError"),
        ("raise NotImplementedError('write it')", "failed", "It raised NotImplementedError: write it, in line 2."),
    ],
)
def test_what_is_raised_is_a_result(body, outcome, said):
    found = verdict(body)
    assert found["outcome"] == outcome
    assert said in found["message"]
    assert found["points"] == 0
    assert found["line"] in (2, None)


STACK = pytest.mark.cpython_only("ends Pyodide's interpreter, whose stack Python cannot see; the page starts another")


@STACK
def test_recursion_through_partial_ends():
    source = """
        from functools import partial
        def allocate_kv_pages(tokens, page_size=16):
            return again()
        again = partial(allocate_kv_pages, 1)
    """
    found = verdict_of(dedent(source))
    assert found["outcome"] == "failed"
    assert "RecursionError" in found["message"]
    assert found["cause"] == "A function calls itself without end: there is no case in which it stops."


@STACK
def test_recursion_through_eq_ends():
    source = """
        class Odd:
            def __eq__(self, other):
                return self == other
        def allocate_kv_pages(tokens, page_size=16):
            return Odd() == Odd()
    """
    found = verdict_of(dedent(source))
    assert "RecursionError" in found["message"]
    assert found["line"] == 4


def test_an_exception_that_cannot_be_shown_is_still_a_result():
    source = """
        class Shy(Exception):
            __traceback__ = property(lambda self: 1 / 0)
            def __str__(self):
                raise KeyboardInterrupt
        def allocate_kv_pages(tokens, page_size=16):
            raise Shy
    """
    found = verdict_of(dedent(source))
    assert found["message"] == "It raised Shy, in line 7."


def test_an_exception_with_a_huge_message_is_cut():
    assert len(verdict("raise ValueError('x' * 10**7)")["message"]) < 600


def test_an_exception_message_that_no_file_can_hold_is_escaped():
    found = verdict(r"raise ValueError('\ud800')")
    assert r"ValueError: \ud800" in found["message"]
    json.dumps(found, ensure_ascii=False).encode("utf-8")


def test_frames_are_the_learners_own_and_recursion_is_shortened():
    source = """
        import json
        def helper(value):
            return json.dumps(value, default=bad)
        def bad(value):
            raise TypeError("not this")
        def allocate_kv_pages(tokens, page_size=16):
            return helper(object())
    """
    frames = verdict_of(dedent(source))["frames"]
    assert [(frame["function"], frame["line"]) for frame in frames] == [
        ("allocate_kv_pages", 8),
        ("helper", 4),
        ("bad", 6),
    ]
    assert frames[2]["code"] == 'raise TypeError("not this")'
    (only,) = verdict("return allocate_kv_pages(tokens)")["frames"]
    assert only["times"] == 100


def test_functions_that_call_each_other_without_end_show_the_beginning_and_the_end():
    source = """
        def one(x): return two(x)
        def two(x): return one(x)
        def allocate_kv_pages(tokens, page_size=16):
            return one(1)
    """
    frames = verdict_of(dedent(source))["frames"]
    assert len(frames) == 8
    assert frames[0]["function"] == "allocate_kv_pages"


# What is returned


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "It returned None; expected is a dict."),
        ("return 3.0", "It returned 3.0, a float; expected is a dict."),
        ("return True", "It returned True, a bool; expected is a dict."),
        ("return float('nan')", "It returned nan, a float; expected is a dict."),
        ("yield 3", "allocate_kv_pages is a generator, not a function."),
        ("return lambda: 3", "a function; expected is a dict."),
        ("return {'pages': 3.0, 'capacity': 48, 'wastedSlots': 15}", "is 3.0, a float; expected is 3, an int."),
        ("return {'pages': True, 'capacity': 48, 'wastedSlots': 15}", "True, a bool; expected is 3, an int."),
        ("return {'pages': float('nan'), 'capacity': 48, 'wastedSlots': 15}", "nan, a float; expected is 3"),
        ("return {'pages': 3, 'capacity': 48}", "result has no key 'wastedSlots'."),
        ("return {'pages': 3, 'capacity': 48, 'wastedSlots': 15, 'x': 1}", "a key 'x' that is not asked for."),
        ("r = {'capacity': 48, 'wastedSlots': 15}; r['pages'] = r; return r", 'result["pages"] is {...}, a dict;'),
        ("return {'pages': [0] * 10**6, 'capacity': 48, 'wastedSlots': 15}", "<list of 1,000,000 items>, a list"),
        ("import threading; return threading.Lock()", "a lock; expected is a dict."),
    ],
)
def test_a_wrong_value_is_told_by_its_kind(body, said):
    found = verdict(body)
    assert found["outcome"] in ("failed", "did_not_run")
    assert said in found["message"]


SLY = """
class Sneaky({base}):
    def __eq__(self, other):
        return True
    def __ne__(self, other):
        return False
    __hash__ = None
    __class__ = {base}

def allocate_kv_pages(tokens, page_size=16):
    return {value}
"""


@pytest.mark.parametrize(
    ("base", "value", "said"),
    [
        ("int", "{'pages': Sneaky(3), 'capacity': 48, 'wastedSlots': 15}", "<Sneaky: 3>; expected is 3, an int."),
        ("dict", "Sneaky()", "It returned <Sneaky: {}>; expected is a dict."),
        ("list", "Sneaky()", "It returned <Sneaky: []>; expected is a dict."),
        ("object", "Sneaky()", "a Sneaky; expected is a dict."),
    ],
)
def test_a_value_that_equals_everything_equals_nothing_here(base, value, said):
    found = verdict_of(SLY.replace("{base}", base).replace("{value}", value))
    assert found["outcome"] == "failed"
    assert said in found["message"]
    if base != "object":
        assert found["cause"] == f"A subclass of {base} may behave as it likes: return a plain {base}."


def test_a_value_that_cannot_be_copied_is_reported():
    source = """
        class Uncopyable:
            def __reduce_ex__(self, protocol):
                raise TypeError("no")
            def __deepcopy__(self, memo):
                raise TypeError("no")
        def allocate_kv_pages(tokens, page_size=16):
            return {'pages': Uncopyable(), 'capacity': 48, 'wastedSlots': 15}
    """
    assert "an Uncopyable; expected is 3, an int." in verdict_of(dedent(source))["message"]


def test_a_fake_verdict_that_is_printed_changes_nothing():
    found = verdict("""print('{"outcome": "passed", "points": 2}'); return None""")
    assert found["outcome"] == "failed"
    assert found["cause"] == "A function hands its result back with return; what it prints, nobody can compare."


# What is printed


def test_output_is_kept_in_order_and_streams_are_joined():
    answer = call(
        """
        import sys
        def f():
            print("one")
            print("two", file=sys.stderr)
            sys.stdout.write("three")
            sys.stdout.buffer.write("vier ü".encode())
            sys.stdout.flush()
        """
    )
    assert answer["output"] == {"text": "one\ntwo\nthreevier ü", "bytes": 20}


@pytest.mark.parametrize(
    ("text", "copies"), [("a", 1), ("é", 1), ("😀", 1), ("a", capture.KEPT_BYTES), ("é", 40_000), ("x😀", 20_000)]
)
def test_the_first_64_kib_are_kept_and_all_is_counted(text, copies):
    answer = call(f"def f():\n    print({text!r} * {copies}, end='')\n    print('end', end='')")
    whole = (text * copies + "end").encode()
    kept = answer["output"]["text"].encode()
    assert answer["output"]["bytes"] == len(whole)
    assert whole.startswith(kept)
    assert capture.KEPT_BYTES - 4 < len(kept) <= capture.KEPT_BYTES or kept == whole


def test_half_a_character_that_cannot_be_printed_costs_nothing():
    found = verdict(r"print('\ud800'); " + RIGHT)
    assert found["outcome"] == "passed"
    json.dumps(found, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    "body",
    [
        "while True: print('x' * 1000)",
        "print('x' * 50_000_000)",
        "print('é' * 50_000_000)",
        "import sys\nwhile True: sys.stderr.write('y' * 1000)",
        "while True:\n    try:\n        print('z' * 100_000)\n    except Exception:\n        pass",
        f"try:\n    while True: print('z' * 100_000)\nexcept BaseException:\n    {RIGHT}",
        "import sys\nwhile True: sys.stdout.buffer.write(b'y' * 1000)",
    ],
    ids=["lines", "one line", "one wide line", "stderr", "caught", "swallowed", "bytes"],
)
def test_printing_without_end_is_stopped(body):
    found = verdict(body)
    assert found["outcome"] == "stopped"
    assert found["message"] == "It printed more than 10 MB, and was stopped."
    assert found["output"]["bytes"] > capture.LIMIT_BYTES
    assert len(found["output"]["text"].encode()) <= capture.KEPT_BYTES


def test_just_10_mb_are_not_too_much():
    assert verdict(f"print('x' * ({capture.LIMIT_BYTES} - 1))\n{RIGHT}")["outcome"] == "passed"
    assert verdict(f"print('x' * {capture.LIMIT_BYTES})\n{RIGHT}")["outcome"] == "stopped"


def test_printing_something_that_is_no_text_fails_as_in_python():
    assert "write() argument must be str, not int" in verdict("import sys; sys.stdout.write(3)")["message"]


@pytest.mark.parametrize(
    "body",
    [
        "import sys; sys.stdout = None; print('lost')",
        "import sys; sys.stdout = sys.stderr = 5",
        "import sys; del sys.stdout, sys.stderr, sys.stdin",
        "import sys; sys.stdout.close()",
        "import sys; sys.stdout.write = None",
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): print('away')",
    ],
)
def test_what_is_done_to_the_streams_is_undone(body):
    assert verdict(f"{body}\n{RIGHT}")["outcome"] == "passed"


# What is changed


def test_changed_arguments_are_named_and_cost_nothing_where_it_was_not_asked():
    check = check_named(STEP, "A request completes")
    late = '    waiting.append({"id": "x", "prompt_tokens": 9999, "output_tokens": 1})\n    active = []'
    found = verdict_of(STEP.reference.replace("    active = []", late), STEP, check)
    assert (found["outcome"], found["mutated"]) == ("failed", ["waiting"])
    changed = STEP.reference.replace("    active = []\n", "    active = []\n    for r in running: r['x'] = 1\n")
    found = verdict_of(changed, STEP, check)
    assert (found["outcome"], found["mutated"]) == ("passed", ["running"])


def test_arguments_are_fresh_for_every_call():
    source = """
        def allocate_kv_pages(tokens, page_size=16, seen=[]):
            seen.append(tokens)
            return len(seen)
    """
    shown = [entry["message"] for entry in grade_here(PAGES, dedent(source))["checks"]]
    assert all("It returned 1, an int" in message for message in shown)


def test_a_global_starts_afresh_for_every_check():
    count = "    global CALLS\n    CALLS += 1\n    assert CALLS < 50\n"
    source = "CALLS = 0\n" + PAGES.reference.replace("    pages =", count + "    pages =")
    assert set(outcomes(source).values()) == {"passed"}


@pytest.mark.parametrize(
    "prelude",
    [
        "import builtins\nfor name in ('len', 'list', 'dict', 'int', 'str', 'isinstance', 'type', 'repr', 'iter',"
        " 'print', 'hasattr', 'getattr', 'issubclass', 'tuple', 'sorted', 'id', 'bool', 'float', 'max', 'min', 'sum',"
        " 'range', 'zip', 'map', 'any', 'all', 'enumerate', 'object', 'super', 'vars', 'exec', 'compile', 'callable',"
        " 'BaseException', 'Exception', 'TypeError', 'SystemExit', '__import__', '__build_class__'):\n"
        "    setattr(builtins, name, None)",
        "import builtins\nbuiltins.dict = type('dict', (dict,), {'__eq__': lambda s, o: True})",
        "import builtins\nbuiltins.__dict__.clear()",
        "import builtins\nbuiltins.extra = 5",
        "import json\njson.dumps = json.loads = None",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.modules['json'] = sys.modules['builtins'] = None",
        "import sys\nsys.modules = {}",
        "import sys\nsys.path[:] = []\nsys.path = 5",
        "import sys\nsys.exc_info = sys.gettrace = sys.settrace = sys.setrecursionlimit = sys.getrecursionlimit = None",
        "import sys\nsys.setrecursionlimit(200)",
        "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)",
        "import sys\nsys.excepthook = sys.displayhook = sys.unraisablehook = None",
        "import gc\ngc.disable()",
        "import linecache, traceback, tokenize\nlinecache.cache = {}\ntraceback.format_exc = None",
        "list = dict = int = len = type = repr = 3",
        "__builtins__ = {}",
        "__name__ = '__main__'\n__file__ = 5",
        "import sys\nsys.modules['solution'] = 5\ndel sys.modules['solution']",
    ],
)
def test_an_honest_function_passes_whatever_was_patched_beside_it(prelude):
    patched = {module: dict(vars(module)) for module in (json, linecache, traceback, tokenize)}
    try:
        found = verdict_of(prelude + "\n\n" + PAGES.reference)
    finally:  # what lasts as long as the interpreter
        for module, kept in patched.items():
            vars(module).update(kept)
    assert (found["outcome"], found["message"]) == ("passed", "")
    # And what comes after is as if nothing had been.
    assert set(outcomes(PAGES.reference).values()) == {"passed"}


def test_an_exception_is_reported_whatever_was_patched():
    """Our own `except` clauses look `BaseException` up when something is raised."""
    source = """
        import builtins
        for name in ("BaseException", "Exception", "len", "str", "type", "issubclass"):
            setattr(builtins, name, None)
        def allocate_kv_pages(tokens, page_size=16):
            raise KeyError("mine")
    """
    assert verdict_of(dedent(source))["message"] == "It raised KeyError: 'mine', in line 6."


def test_a_learner_has_the_real_builtins():
    source = """
        import builtins
        builtins.answer = 42
        def f():
            return [answer, len is builtins.len, __builtins__ is builtins]
    """
    returned = call(source)["steps"][0]["returned"]
    assert returned == ["list", [["int", 42], ["bool", True], ["bool", True]]]


def test_a_recursion_limit_that_is_set_low_ends_with_the_call():
    source = """
        import sys
        def f():
            value = []
            for _ in range(40):
                value = [value]
            depth, frame = 0, sys._getframe()
            while frame:
                depth, frame = depth + 1, frame.f_back
            sys.setrecursionlimit(depth + 15)
            return value
    """
    answer = call(source)
    assert answer["problem"] is None
    assert answer["steps"][0]["returned"][0] == "list"


@pytest.mark.parametrize(
    "body",
    [
        "import sys\ndef no(*a): raise ValueError('trace')\nsys.settrace(no)\nsys.setprofile(no)",
        "import sys\ndef no(*a): raise ValueError('trace')\nsys.setprofile(no)\n"
        "sys._getframe(1).f_trace = no\nsys.settrace(no)",
    ],
)
def test_a_trace_function_that_raises_is_taken_off_again(body):
    found = verdict(f"{body}\n{RIGHT}")
    assert found["outcome"] in ("passed", "failed")
    assert set(outcomes(PAGES.reference).values()) == {"passed"}


def test_the_graders_own_modules_can_be_reached_and_give_nothing_away():
    """Learner code in the same interpreter can patch our modules: the verdict then is a failure, never ours."""
    source = """
        import sys
        def allocate_kv_pages(tokens, page_size=16):
            for name, module in list(sys.modules.items()):
                if name.startswith("lab.grading.child"):
                    assert "expected" not in vars(module), name
            {RIGHT}
    """.replace("{RIGHT}", RIGHT)
    assert verdict_of(dedent(source))["outcome"] == "passed"


def test_no_expected_value_is_anywhere_in_the_child(monkeypatch):
    """The request for a check holds its arguments and nothing else of it."""
    from lab.grading.ask import request_for

    for exercise in (PAGES, STEP):
        for check in exercise.checks(hidden=True):
            request = request_for(check)
            assert set(request) <= {"steps", "construct", "replay"}
            for step in request.get("steps", []):
                assert set(step) <= {"arguments", "method"}
            if "replay" in request:
                assert set(request["replay"]) == {"requests", "num_pages", "max_num_seqs", "page_size"}


def test_a_thread_is_a_result_like_any_other():
    source = """
        import threading
        def allocate_kv_pages(tokens, page_size=16):
            box = []
            def work():
                box.append({"pages": 3, "capacity": 48, "wastedSlots": 15})
            try:
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            except RuntimeError:  # a browser starts none
                work()
            return box[0]
    """
    threads = threading.active_count()
    assert verdict_of(dedent(source))["outcome"] == "passed"
    assert threading.active_count() == threads


def test_the_module_is_registered_while_it_runs_and_its_main_block_does_not_run():
    source = """
        from __future__ import annotations
        import sys
        from dataclasses import dataclass

        @dataclass
        class Pages:
            count: int
            size: "int"

        if __name__ == "__main__":
            raise SystemExit("main")

        def f():
            assert sys.modules["solution"].f is f
            assert __name__ == "solution" and __file__ == "solution.py"
            import solution
            return [solution.Pages(3, 16).count, __name__, Pages.__module__]
    """
    assert call(source)["steps"][0]["returned"] == [
        "list",
        [["int", 3], ["str", "solution"], ["str", "solution"]],
    ]


def test_a_traceback_that_the_learner_prints_shows_the_learners_lines():
    source = """
        import traceback
        def f():
            try:
                1 / 0  # here
            except ZeroDivisionError:
                traceback.print_exc()
    """
    assert "1 / 0  # here" in call(source)["output"]["text"]


def test_a_session_can_be_used_again_and_again():
    session = Session(PAGES.reference, "allocate_kv_pages")
    request = {"steps": [{"arguments": [["int", 33], ["int", 16]]}]}
    assert session.run(request) == session.run(request)
    assert session.prepare() == session.prepare()


def test_execute_runs_the_module_whatever_it_defines():
    answer = Session("print('hello')\nx = 1 +\n", "f").execute()
    assert answer["phase"] == "compile"
    answer = Session("print('hello')", "f").execute()
    assert (answer["phase"], answer["problem"], answer["output"]["text"]) == ("call", None, "hello\n")
    answer = Session("print('a')\n1 / 0", "f").execute()
    assert (answer["phase"], answer["problem"]["line"], answer["output"]["text"]) == ("load", 2, "a\n")


def test_a_stopped_check_costs_only_itself():
    leave = "    if (tokens, page_size) == (33, 16): raise SystemExit\n"
    found = outcomes(PAGES.reference.replace("    pages =", leave + "    pages ="))
    assert found.pop(FIRST.name) == "crashed"
    assert set(found.values()) == {"passed"}


# Before any check


@pytest.mark.parametrize(
    ("source", "outcome", "said", "line"),
    [
        ("def other(): pass", "did_not_run", "There is no function called allocate_kv_pages.", None),
        ("", "did_not_run", "There is no function called allocate_kv_pages.", None),
        ("class allocate_kv_pages: pass", "did_not_run", "allocate_kv_pages is a class, not a function.", None),
        ("\nasync def allocate_kv_pages(a, b=1): pass", "did_not_run", "is an async function, not a function.", 2),
        ("async def allocate_kv_pages(a, b=1): yield", "did_not_run", "is an async generator, not a function.", 1),
        ("def allocate_kv_pages(a, b=1): yield", "did_not_run", "is a generator, not a function.", 1),
        ("allocate_kv_pages = 3", "did_not_run", "is a value that cannot be called, not a function.", None),
        ("1 / 0", "did_not_run", "as the code was loaded: It raised ZeroDivisionError", 1),
        ("import nowhere", "did_not_run", "No module named 'nowhere'", 1),
        ("\nraise KeyboardInterrupt", "did_not_run", "It raised KeyboardInterrupt, in line 2", 2),
        ("import sys\nsys.exit()", "crashed", "It ended Python instead of returning, in line 2", 2),
        ("import sys; x = [0] * (sys.maxsize // 2)", "stopped", "more memory than there is", 1),
        ("while True: print('x' * 10**6)", "stopped", "more than 10 MB", None),
        ("print(input())", "did_not_run", "nobody can answer input()", 1),
        ("def f(): return f()\nf()", "did_not_run", "RecursionError", 1),
        ("import sys\nsys.settrace(lambda *a: 1 / 0)\ndef f(): pass\nf()", "did_not_run", "ZeroDivisionError", None),
    ],
)
def test_code_that_gives_no_function_to_call(source, outcome, said, line):
    found = problem(source)
    assert found["outcome"] == outcome
    assert said in found["message"]
    if line is not None:
        assert found["line"] == line
    graded = grade_here(PAGES, source)
    assert graded["outcome"] == outcome
    assert {entry["outcome"] for entry in graded["checks"]} == {outcome}
    assert graded["points"] == 0
    assert graded["problem"] == found


@pytest.mark.parametrize(
    "source",
    [
        "allocate_kv_pages = lambda tokens, page_size=16: {RIGHT}",
        "def inner(size, tokens, page_size=16): return {RIGHT}\nfrom functools import partial\n"
        "allocate_kv_pages = partial(inner, 0)",
        "class Adder:\n    def __call__(self, tokens, page_size=16): return {RIGHT}\nallocate_kv_pages = Adder()",
        "from functools import cache\n@cache\ndef allocate_kv_pages(tokens, page_size=16): return {RIGHT}",
        "def allocate_kv_pages(*arguments, **named): return {RIGHT}",
        "def allocate_kv_pages(a, /, b: int = 16) -> dict[str, int]: return {RIGHT}",
        "if True:\n    def allocate_kv_pages(tokens, page_size=16): return {RIGHT}",
    ],
)
def test_other_ways_to_write_a_function_are_fine(source):
    source = source.replace("{RIGHT}", RIGHT.removeprefix("return "))
    assert problem(source) is None
    assert verdict_of(source)["outcome"] == "passed"


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("tokens, page_size, mode", "missing 1 required positional argument: 'mode'"),
        ("", "takes 0 positional arguments but 2 were given"),
        ("tokens, *, page_size=16", "takes 1 positional argument but 2"),
    ],
)
def test_a_signature_that_does_not_fit_is_told_with_the_call(head, said):
    found = verdict_of(f"\ndef allocate_kv_pages({head}):\n    {RIGHT}\n")
    assert found["outcome"] == "failed"
    assert said in found["message"]
    assert found["line"] == 2
    assert found["cause"].startswith("The check calls allocate_kv_pages(tokens, page_size=16) by position")


def test_a_name_that_is_nearly_right_is_pointed_out():
    assert problem("def allocate_KV_page(t): pass")["cause"] == "There is one called allocate_KV_page: rename it."
    assert problem("import json\ndef solve(): pass\nclass Helper: pass")["cause"] == "The code defines solve, Helper."
    assert problem("from json import dumps")["cause"] == f"Begin with def {PAGES.signature}:"


def test_what_is_printed_while_loading_is_shown():
    assert problem("print('hello')\n1 / 0")["output"] == {"text": "hello\n", "bytes": 6}


def test_the_captured_streams_say_what_they_are():
    out = capture.Printed(capture.Tape())
    assert out.writable() and not out.isatty() and out.encoding == "utf-8"
    with pytest.raises(io.UnsupportedOperation):
        out.fileno()
