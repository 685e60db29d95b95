"""Runs one check in this interpreter: a fresh module, the calls, and what came back as plain data.

A request is plain data:

``{"steps": [{"arguments": [wire, ...]}, ...]}``            calls of the function
``{"construct": [wire, ...], "steps": [{"method": ..., "arguments": [...]}, ...]}``   of an object's methods
``{"replay": plan}``                                        see `drive`

The answer is plain data too:

phase:   how far it got: ``compile``, ``load`` (executing the module), ``find`` (the function) or ``call``
problem: what ended it there, or None; see `failure.describe` and `find.find`
steps:   one entry a call: ``{"returned": wire, "arguments": [wire, ...]}`` (the arguments as they are after the
         call), or ``{"raised": problem}``
output:  ``{"text": the first 64 KiB printed, "bytes": all that was printed}``
ended:   ``"output"`` if too much was printed, else None

Nothing of what a learner's code does makes these functions raise, short of ending the interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .capture import Tape
from .drive import drive
from .failure import describe
from .find import find, first_line
from .pristine import BUILTINS
from .restore import Interpreter
from .source import FILENAME, MODULE, Problem, Source, Unusable, read
from .wire import decode, encode

globals()["__builtins__"] = BUILTINS

Answer = dict[str, Any]
Tell = Callable[[dict[str, Any]], object]

ENDINGS = ("exit", "memory", "output", "interrupt")
"""Kinds of problems after which a script of calls does not go on."""

_NONE: Problem = {"kind": ""}
_builtins_module = sys.modules["builtins"]


def _nobody(step: dict[str, Any]) -> None:
    """Told of a step that nobody waits for."""


class Session:
    """One solution in this interpreter. `name` is what the exercise asks for, `kind` function or class."""

    def __init__(self, source: bytes | str, name: str, kind: str = "function") -> None:
        self._name = name
        self._kind = kind
        self._source: Source | None = None
        self._unusable: Problem | None = None
        try:
            self._source = read(source)
        except Unusable as error:
            self._unusable = error.problem

    def prepare(self) -> Answer:
        """Compile, execute once, and find the function: whether there is anything to check."""
        return self._guarded(lambda attempt, source: _answer("call", None))

    def execute(self, tape: Tape | None = None) -> Answer:
        """Compile and execute once, as a program: what a learner's Run does. What is printed goes to `tape`."""
        return self._guarded(None, tape)

    def run(self, request: dict[str, Any], tell: Tell = _nobody) -> Answer:
        """Run one check, in a module executed afresh. Each step of a replay goes to `tell` as it comes back."""
        if "replay" in request:
            return self._guarded(lambda attempt, source: _replay(attempt, request["replay"], tell))
        return self._guarded(lambda attempt, source: _calls(attempt, request))

    def _guarded(self, body: Callable[[_Attempt, Source], Answer] | None, tape: Tape | None = None) -> Answer:
        if self._source is None:
            return _answer("compile", self._unusable)
        tape = tape or Tape()
        interpreter = Interpreter()
        before = sys.modules.get(MODULE)
        try:
            interpreter.enter(tape)
            answer = self._loaded(interpreter, body)
        except BaseException as error:  # a trace function, an exception from another thread
            answer = _answer("call", describe(error, self._source))
        finally:
            interpreter.restore()
            if before is None:
                interpreter.forget(MODULE)
        answer["output"] = tape.summary()
        answer["ended"] = "output" if tape.over else None
        return answer

    def _loaded(self, interpreter: Interpreter, body: Callable[[_Attempt, Source], Answer] | None) -> Answer:
        source = self._source
        assert source is not None
        name = MODULE if body is not None else "__main__"
        module = ModuleType(name)
        module.__file__ = FILENAME
        # Without this, exec would hand our own copy of the builtins to the learner's functions.
        module.__dict__["__builtins__"] = _builtins_module
        interpreter.put(name, module)
        attempt = _Attempt(interpreter, source)
        _, problem = attempt(exec, (source.code, module.__dict__))
        if problem is not None:
            return _answer("load", problem)
        if body is None:
            return _answer("call", None)
        attempt.function, problem = find(module.__dict__, self._name, self._kind)
        if problem is not None:
            return _answer("find", problem)
        return body(attempt, source)


class _Attempt:
    """Calls learner code and comes back whatever happens."""

    def __init__(self, interpreter: Interpreter, source: Source) -> None:
        self._settle = interpreter.settle
        self._source = source
        self.function: Any = None

    def __call__(self, function: Callable[..., Any], arguments: tuple[Any, ...] | list[Any]) -> tuple[Any, Any]:
        """What `function` returned and None, or None and the problem."""
        value = failure = None
        try:
            value = function(*arguments)
        except BaseException as error:
            failure = error
        self._settle()
        if failure is None:
            return value, None
        problem = describe(failure, self._source)
        if problem["line"] is None:  # refused before its first line: a call that does not fit the signature
            problem["line"] = first_line(function)
            problem["kind"] = "signature" if problem["type"] == "TypeError" else problem["kind"]
        return None, problem

    def step(self, function: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
        """One call as an entry of `steps`."""
        value, problem = self(function, arguments)
        if problem is not None:
            return {"raised": problem}
        return {"returned": encode(value), "arguments": [encode(argument) for argument in arguments]}


def _answer(phase: str, problem: Problem | None, steps: list[dict[str, Any]] | None = None) -> Answer:
    return {
        "phase": phase,
        "problem": problem,
        "steps": steps or [],
        "output": {"text": "", "bytes": 0},
        "ended": None,
    }


def _calls(attempt: _Attempt, request: dict[str, Any]) -> Answer:
    target = attempt.function
    if "construct" in request:
        target, problem = attempt(attempt.function, [decode(wire) for wire in request["construct"]])
        if problem is not None:
            return _answer("call", problem)
    steps: list[dict[str, Any]] = []
    for step in request["steps"]:
        function = target
        if "method" in step:
            function, problem = attempt(getattr, (target, step["method"]))
            if problem is not None:
                steps.append({"raised": problem})
                continue
        steps.append(attempt.step(function, [decode(wire) for wire in step["arguments"]]))
        if steps[-1].get("raised", _NONE)["kind"] in ENDINGS:
            break
    return _answer("call", None, steps)


def _replay(attempt: _Attempt, plan: dict[str, Any], tell: Tell) -> Answer:
    steps: list[dict[str, Any]] = []

    def call(arguments: list[Any]) -> Any:
        value, problem = attempt(attempt.function, arguments)
        steps.append({"raised": problem} if problem is not None else {"returned": encode(value)})
        tell(steps[-1])
        return steps[-1].get("returned")

    for _ in drive(plan, call):
        pass
    return _answer("call", None, steps)
