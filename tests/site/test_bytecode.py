"""Bytecode that depends on its source alone."""

from __future__ import annotations

import marshal
from pathlib import Path

import pytest

from app.build import compiler
from app.build.canonical import canonical
from app.build.compiler import Unit, compile_units
from app.build.fetch import runtime_files
from app.build.node import Runtime
from app.build.paths import cache_folder
from app.build.store import Store

SOURCE = '''
"""A module with one of everything that bytecode holds."""
import os.path as p
NUMBERS = (1, 2**40, -2**90, 1.5, 2j, True, None, ...)
TEXTS = ("short", "x" * 300, "ünïcödé", b"bytes", "not a name", "😀")
SETS = 1 in {1, 2, 3}
def outer(a, /, b=(), *args, c=frozenset(), **kw):
    def inner():
        return [a + x for x in b if x not in ("a", "b")]
    try:
        return inner()
    except (ValueError, TypeError) as error:
        raise error from None
class Thing:
    name: str = "short"
    async def method(self):
        async with self as other:
            yield other
'''


@pytest.fixture
def runtime():
    with Runtime(runtime_files(Store(cache_folder()))) as unpacked:
        yield unpacked


def test_it_means_the_same() -> None:
    code = compile(SOURCE, "somewhere.py", "exec")
    again = marshal.loads(canonical(marshal.dumps(code)))
    assert again == code
    assert again.co_filename == code.co_filename
    first, second = {"__name__": "m"}, {"__name__": "m"}
    exec(code, first)
    exec(again, second)
    assert first["NUMBERS"] == second["NUMBERS"]
    assert first["TEXTS"] == second["TEXTS"]
    assert second["outer"](1, [2, 3]) == first["outer"](1, [2, 3]) == [3, 4]


def test_who_else_holds_a_constant_makes_no_difference() -> None:
    alone = marshal.dumps(compile(SOURCE, "somewhere.py", "exec"))
    code = compile(SOURCE, "somewhere.py", "exec")
    holding = [code, *code.co_consts, *code.co_names]  # reference counts are higher now
    held = marshal.dumps(code)
    assert holding
    assert alone != held, "without this there is nothing to put right"
    assert canonical(alone) == canonical(held)
    assert canonical(canonical(held)) == canonical(held)


def test_a_stream_that_is_no_bytecode_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown type"):
        canonical(b"{")
    with pytest.raises(ValueError, match="follow"):
        canonical(b"NN")


def test_compiled_by_the_runtimes_python_and_kept_by_content(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    units = [
        Unit("/a.py", b"'''doc'''\nx = 1\n", 0),
        Unit("/a.py", b"'''doc'''\nx = 1\n", 2),
        Unit("/b.py", b"def (", 0),
    ]
    made = compile_units(units, runtime, store)
    assert made[2] is None, "what is not Python is left out"
    assert made[0] and made[1] and made[0] != made[1]
    assert b"doc" in made[0] and b"doc" not in made[1]
    assert made[0][4:8] == (1).to_bytes(4, "little"), "tied to its source's hash, and not compared with it"

    def never(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(compiler, "_compile", never)
    assert compile_units(units, runtime, store) == made


def test_order_and_company_make_no_difference(runtime: Runtime, tmp_path: Path) -> None:
    one = Unit("/one.py", SOURCE.encode())
    other = Unit("/other.py", b"short = 'not a name'; inner = outer = None; y = {'b', 'a'}")
    together = compile_units([other, one], runtime, Store(tmp_path / "together"))[1]
    assert compile_units([one], runtime, Store(tmp_path / "alone")) == [together]
