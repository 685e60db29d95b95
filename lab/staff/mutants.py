"""Small changes to a right solution, one at a time. Good checks catch every one that changes what it does."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_BINARY: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.FloorDiv,),
    ast.FloorDiv: (ast.Mult, ast.Mod, ast.Div),
    ast.Div: (ast.FloorDiv,),
    ast.Mod: (ast.FloorDiv,),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """name: ``line 3: a + b → a - b``; code: the whole changed solution"""

    name: str
    code: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of `source`, in its order. A change that comes out as the same text as another is made once."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for number, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            changed = copy.deepcopy(tree)
            target = next(other for i, other in enumerate(ast.walk(changed)) if i == number)
            before = _shown(target)
            after = change(target)
            code = ast.unparse(changed) + "\n"
            if code not in seen:
                seen.add(code)
                yield Mutant(f"line {_line(node)}: {before} → {after}", code)


class _Change:
    """Sets one field of a node, or one entry of it. Called with the node, tells how it then looks."""

    def __init__(self, field: str, value: object, at: int | None = None) -> None:
        self._field, self._value, self._at = field, value, at

    def __call__(self, node: ast.AST) -> str:
        if self._at is None:
            setattr(node, self._field, self._value)
        else:
            getattr(node, self._field)[self._at] = self._value
        return _shown(node)


def _changes(node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            yield from (_Change("ops", other(), i) for other in _COMPARE.get(type(operator), ()))
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        yield from (_Change("op", other()) for other in _BINARY.get(type(node.op), ()))
    elif isinstance(node, ast.BoolOp):
        yield _Change("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield _Change("op", ast.UAdd())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _Change("value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield from (_Change("value", value) for value in (node.value + 1, node.value - 1))


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:80]
