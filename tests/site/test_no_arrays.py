"""What stands in for numpy: it answers what Panel and Bokeh ask of lists, and refuses arrays in a sentence."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from app.build.paths import APP
from app.page import no_arrays


@pytest.fixture
def numpy() -> Any:
    return no_arrays.module()


@pytest.mark.parametrize("value", [[1, 2], (1,), 3, 2.5, True, "text", None, b"bytes"])
def test_no_value_is_an_array_or_a_number_of_numpys(numpy: Any, value: object) -> None:
    assert not isinstance(value, (numpy.ndarray, numpy.bool_, numpy.integer, numpy.datetime64, numpy.timedelta64))
    assert not numpy.issubdtype(type(value), numpy.floating)


def test_types_of_numbers_can_be_told_apart(numpy: Any) -> None:
    kinds = {numpy.dtype(numpy.int8), numpy.dtype(numpy.float64), numpy.dtype("int8")}
    assert len(kinds) == 2
    assert numpy.dtype(numpy.uint8) not in kinds


def test_an_emptied_field_is_not_a_number(numpy: Any) -> None:
    assert numpy.isnan(math.nan)
    assert not numpy.isnan(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda np: np.array([1]),
        lambda np: np.asarray([1]),
        lambda np: np.ndarray((3,)),
        lambda np: np.float64(3),
        lambda np: np.linspace(0, 1, 5),
    ],
)
def test_whoever_wants_an_array_is_told_what_to_give_instead(numpy: Any, make: Any) -> None:
    with pytest.raises((AttributeError, TypeError), match=r"^numpy\.\w+ is not here: .* Give Panel and Bokeh lists"):
        make(numpy)


def test_a_site_is_built_without_any_wheel_from_elsewhere() -> None:
    """So none of the places that have numpy for this runtime can keep a build waiting."""
    document = json.loads((APP / "sources.json").read_text(encoding="utf-8"))
    assert set(document) == {"schema_version", "runtime"}
    assert {source["kind"] for source in document["runtime"]["sources"]} == {"npm"}
