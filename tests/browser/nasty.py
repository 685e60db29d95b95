"""Code that learners may write, by mistake or on purpose, and what has to come of it.

ONCE: bodies of a function that is called instead of a right solution, for one check only: `solution` puts several of
them, each on a check of its own, into one source whose other checks are right. WHOLE and RIGHT: whole sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lab.driver import drive_replay
from lab.exercises import Exercise
from lab.grading.child.wire import encode
from lab.grading.traces import workload
from lab.workload import Limits, Request

FAILED, STOPPED, CRASHED, ABSENT = "failed", "stopped", "crashed", "did_not_run"
ANY = (FAILED, STOPPED, CRASHED)
"""For what may end in more than one way, by the size of a browser's stack or the speed of the machine."""

ENDLESS = {
    "loop": ("while True: pass", STOPPED),
    "loop that prints": ("while True: print('x')", STOPPED),
    "sleep": ("import time\ntime.sleep(1000)", STOPPED),
    "ten million lines": ("for i in range(10**7): print(i)", STOPPED),
    "a line of 50 MB": ("print('x' * 50_000_000)", STOPPED),
    "a list of 10**9": ("return [0] * 10**9", STOPPED),
    "a list of a range": ("return list(range(10**9))", STOPPED),
    "a list that grows": ("x = []\nwhile True: x.append(bytearray(10**6))", STOPPED),
}
DEADLY = {
    "recursion": ("return again(args)", FAILED),
    "recursion through partial": ("import functools\nf = lambda: g()\ng = functools.partial(f)\nreturn g()", ANY),
    "recursion through __eq__": ("class E:\n    def __eq__(self, other): return self == other\nreturn E() == E()", ANY),
    "recursion without a limit": ("import sys\nsys.setrecursionlimit(10**9)\nreturn again(args)", ANY),
    "a repr without end": ("x = []\nfor _ in range(10**6): x = [x]\nreturn repr(x)", ANY),
    "sys.exit()": ("import sys\nsys.exit()", CRASHED),
    "os._exit(0)": ("import os\nos._exit(0)", CRASHED),
    "os.abort()": ("import os\nos.abort()", CRASHED),
    "every name of the grader's set": (
        "import sys\nfor name, module in list(sys.modules.items()):\n"
        "    if name.startswith(('lab', 'app')):\n"
        "        for key in [key for key in vars(module) if not key.startswith('__')]:\n"
        "            setattr(module, key, lambda *a, **k: {'outcome': 'passed'})",
        ANY,
    ),
}
RAISED = {
    "KeyboardInterrupt": ("raise KeyboardInterrupt", FAILED),
    "BaseException": ("raise BaseException", FAILED),
    "input()": ("return input()", FAILED),
    "threads": ("import threading\nthreading.Thread(target=print).start()", FAILED),
    "an import that is not there": ("import numpy", FAILED),
    "import js": ("import js\njs.postMessage('passed')", FAILED),
    "import pyodide": ("from pyodide.code import run_js\nrun_js('postMessage(1)')", FAILED),
    "a trace function": ("import sys\nsys.settrace(lambda *a: 1 / 0)", FAILED),
    "builtins set": (
        "import builtins\nfor name in ('len', 'isinstance', 'type', 'str', 'repr', 'print', 'dict', 'list', 'int'):\n"
        "    setattr(builtins, name, None)",
        FAILED,
    ),
    "json set": (
        "import json, json.encoder, json.decoder\njson.dumps = json.loads = None\n"
        "json.encoder.c_make_encoder = json.JSONEncoder.encode = json.JSONEncoder.iterencode = None",
        FAILED,
    ),
    "modules cleared": ("import sys\nsys.modules.clear()", FAILED),
    "a flood past sys.stdout": ("import os\nfor _ in range(1000): os.write(1, b'x' * 100)", FAILED),
}
RETURNED = {
    "None": ("return None", FAILED),
    "a float": ("return 3.0", FAILED),
    "a bool": ("return True", FAILED),
    "NaN": ("return float('nan')", FAILED),
    "a dict that equals all": (
        "class D(dict):\n    __eq__ = lambda self, other: True\n    __ne__ = lambda self, other: False\nreturn D()",
        FAILED,
    ),
    "an int that equals all": (
        "class I(int):\n    __eq__ = lambda self, other: True\n    __hash__ = int.__hash__\n"
        "return {key: I(3) for key in ('pages', 'capacity', 'wastedSlots')}",
        FAILED,
    ),
    "itself": ("x = {}\nx['x'] = x\nreturn x", FAILED),
    "what cannot be copied": ("import types\nreturn {'pages': types.ModuleType('m')}", FAILED),
    "a verdict that is printed": ('print(\'{"outcome": "passed", "points": 999}\')\nprint(\'passed\')', FAILED),
}
ONCE = {**ENDLESS, **DEADLY, **RAISED, **RETURNED}

WHOLE = {
    "an async function": ("async def NAME(*args): return 1", ABSENT),
    "a generator": ("def NAME(*args): yield 1", ABSENT),
    "a class": ("class NAME: pass", ABSENT),
    "no such function": ("x = 1", ABSENT),
    "no parameters": ("def NAME(): return 1", FAILED),
    "one parameter too many": ("def NAME(a, b, c, d, e, f): return 1", FAILED),
    "a syntax error": ("def NAME(:\n    pass", ABSENT),
    "tabs and spaces": ("def NAME(*args):\n\tif 1:\n        return 1\n", ABSENT),
    "a NUL byte": ("x = 1\n\0\n", ABSENT),
    "a source too deep": ("x = " + "-" * 100_000 + "1", ABSENT),
    "half of a surrogate pair": ("x = '\ud800'\n", ABSENT),
    "a loop outside of functions": ("while True: pass", STOPPED),
    "an exit outside of functions": ("import os\nos._exit(3)", CRASHED),
}


def right(exercise: Exercise) -> dict[str, str]:
    """Unusual sources that are right."""
    name, source = exercise.name, exercise.reference or ""
    return {
        "a lambda": f"{source}\n_f = {name}\n{name} = lambda *args: _f(*args)\n",
        "CRLF": source.replace("\n", "\r\n"),
        "a BOM": "\ufeff" + source,
        "1 MB": source + ("# " + "y" * 78 + "\n") * 13_000,
        "names in Chinese": source + "\n令牌 = 1\ndef 页(数): return 数\n",
        "names of builtins taken": source + "\nid = hash = zip = map = 3\n",
        "a global that changes between calls": (
            f"{source}\n_f, seen = {name}, []\ndef {name}(*args):\n    seen.append(args)\n    return _f(*args)\n"
        ),
    }


def places(exercise: Exercise) -> list[int]:
    """The visible checks that can carry a case: one call of the function, as no other check makes it."""
    made: Counter[str] = Counter()
    for check in exercise.visible:
        if check.replay is None:
            made.update(repr(list(call.arguments)) for call in check.calls)
        else:
            made.update(_replayed(exercise, *workload(check.replay)))
    return [
        index
        for index, check in enumerate(exercise.visible)
        if len(check.calls) == 1 and made[repr(list(check.calls[0].arguments))] == 1
    ]


def _replayed(exercise: Exercise, requests: Sequence[Request], limits: Limits) -> list[str]:
    """The calls that a right solution gets in a replay."""
    module: dict[str, Any] = {}
    exec(exercise.reference or "", module)
    made: list[str] = []

    def call(arguments: list[Any]) -> Any:
        made.append(repr(arguments))
        return encode(module[exercise.name](*arguments))

    drive_replay(requests, limits, call)
    return made


def solution(exercise: Exercise, names: list[str]) -> tuple[str, dict[int, str]]:
    """A right solution but for `names` of ONCE, each on one check; and which check has which."""
    chosen = dict(zip(places(exercise), names, strict=False))
    assert len(chosen) == len(names), "more cases than checks that can carry one"
    lines = [exercise.reference or "", "_right = " + exercise.name, "_nasty = {}"]
    for number, (index, name) in enumerate(chosen.items()):
        body = "\n".join(f"    {line}" for line in ONCE[name][0].split("\n"))
        lines.append(f"def _case{number}(args):\n    again = _case{number}\n{body}")
        lines.append(f"_nasty[{repr(list(exercise.visible[index].calls[0].arguments))!r}] = _case{number}")
    lines.append(
        f"def {exercise.name}(*args):\n"
        "    case = _nasty.get(repr(list(args)))\n"
        "    return case(args) if case else _right(*args)\n"
    )
    return "\n".join(lines), chosen


def allowed(expected: str | tuple[str, ...]) -> tuple[str, ...]:
    """The outcomes that a case may have."""
    return (expected,) if isinstance(expected, str) else expected
