"""Stands where Panel and Bokeh look for numpy, in a page that has only lists.

Panel and Bokeh import numpy to ask of a value whether it is an array. Here no value is one, so those questions have an
answer without the 3 MB and the second of a start that numpy's wheel costs. Whatever would make or calculate with an
array is refused in one sentence, so nothing can quietly be other than numpy would have it.
"""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

NUMBERS = (
    *("generic", "number", "integer", "floating", "bool_", "int_"),
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64"),
)
"""The types of numbers that are asked for by name."""

MOMENTS = ("datetime64", "timedelta64")
"""The types of times; Bokeh makes one of each when it is imported, to compare with."""


def _refusal(name: str) -> str:
    return (
        f"numpy.{name} is not here: this page starts without numpy and has no arrays. "
        "Give Panel and Bokeh lists, or array.array where the bytes matter."
    )


class _Refused:
    """A type that no value has. Raises TypeError when one is to be made."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(_refusal(cls.__name__))


class _Moment:
    """A time that nothing is equal to but itself. `unit` is numpy's, such as ms."""

    def __init__(self, value: int, unit: str) -> None:
        self.value, self.unit = value, unit


class dtype:
    """The name of a type of numbers, to be compared and looked up, no more. `of` is one of the types or a name."""

    def __init__(self, of: Any) -> None:
        self.name: str = getattr(of, "__name__", None) or str(of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def _not_there(name: str) -> Any:
    # What Python itself looks for in a module is simply not there.
    raise AttributeError(name if name.startswith("__") else _refusal(name))


def module() -> ModuleType:
    """The stand-in, as a module of the name numpy."""
    made = ModuleType("numpy", __doc__)
    made.__dict__.update(
        {name: type(name, (_Refused,), {}) for name in ("ndarray", *NUMBERS)},
        **{name: type(name, (_Moment,), {}) for name in MOMENTS},
        dtype=dtype,
        issubdtype=issubclass,  # Bokeh asks it of a value's type
        isnan=math.isnan,
        nan=math.nan,
        inf=math.inf,
        __getattr__=_not_there,
    )
    return made


def install() -> None:
    """Puts the stand-in where `import numpy` finds it, unless numpy itself was imported before."""
    sys.modules.setdefault("numpy", module())
