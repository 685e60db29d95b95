"""Comparison at its edges: types count, places are named, causes are told."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from lab.grading.child.wire import encode
from lab.grading.compare import differences
from lab.grading.explain import likely_cause, renamed_key, reordered, sentence
from lab.grading.show import show, show_call


def found(expected, returned, **options):
    return differences(encode(expected), encode(returned), **options)


def said(expected, returned):
    return [sentence(difference) for difference in found(expected, returned)]


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 10**30, -(2**53), 1.5, -0.0, "", "x", [], [1, [2]], {}, {"a": {"b": [None]}}, float("inf")],
    ids=repr,
)
def test_a_value_differs_nowhere_from_itself(value):
    assert found(value, value) == []


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        (1, True),
        (0, False),
        (True, 1),
        (3, 3.0),
        (3.0, 3),
        (2**53, float(2**53)),
        (10**30, 10**30 + 1),
        (10**30, 1e30),
        (3, "3"),
        (3, Decimal(3)),
        (3, Fraction(3)),
        (3, None),
        (0, None),
        ([], None),
        ([], {}),
        ({}, []),
        ([], ""),
        ([1], [1, 1]),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {}),
        ({"1": 1}, {1: 1}),
        ({"a": 1}, {"A": 1}),
        ("a", "á"),
        ("\u00e9", "e\u0301"),
        (1.5, 1.5000000000000002),
        (None, False),
        ((1,), [1]),
        ([1], type("L", (list,), {})([1])),
        ({"a": 1}, type("D", (dict,), {})(a=1)),
    ],
)
def test_what_is_nearly_the_same_differs(expected, returned):
    assert len(found(expected, returned)) >= 1


@pytest.mark.parametrize("expected", [0.5, 0, None, "nan", [math.nan]])
def test_nan_equals_nothing(expected):
    assert found(expected, math.nan)
    assert found(math.nan, math.nan)


def test_minus_zero_is_zero():
    assert found(0.0, -0.0) == []


def test_a_tuple_passes_for_a_list_unless_it_is_refused():
    assert found([1, [2]], (1, (2,))) == []
    assert [d.kind for d in found([1, [2]], (1, (2,)), tuples=False)] == ["type"]
    assert found([1], (2,))[0].place == (0,)


def test_the_order_of_keys_does_not_count():
    assert found({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_places_lead_to_the_difference():
    expected = {"running": [{"id": "a", "pages": 3}, {"id": "b", "pages": 4}], "free": 1}
    returned = {"running": [{"id": "a", "pages": 3}, {"id": "b", "pages": 5}], "free": 2}
    assert [d.place for d in found(expected, returned)] == [("running", 1, "pages"), ("free",)]
    assert said(expected, returned)[0] == 'result["running"][1]["pages"] is 5, expected 4.'


def test_differences_are_not_counted_without_end():
    assert len(found([0] * 1000, [1] * 1000)) == 20


@pytest.mark.parametrize(
    ("expected", "returned", "text"),
    [
        (3, 4, "result is 4, expected 3."),
        (3, None, "It returned None; expected is an int."),
        ([1], {1: 2}, "It returned {1: 2}, a dict; expected is a list."),
        ({"a": 1}, {"a": None}, 'result["a"] is None; expected is 1, an int.'),
        ({"a": "x"}, {"a": 5}, "result[\"a\"] is 5, an int; expected is 'x', text."),
        ({"a": 1}, {}, "result has no key 'a'."),
        ({}, {"a": 1}, "result has a key 'a' that is not asked for."),
        ({"a": {"b": 1}}, {"a": {}}, "result[\"a\"] has no key 'b'."),
        ([1, 2], [1], "result has 1 entry, expected 2."),
        ([{"id": "a"}], [], "result lists nobody; expected a."),
        ([{"id": "a"}], [{"id": "a"}, {"id": "b"}], "result lists a, b; expected a."),
        ([1], [1] * 5, "result has 5 entries, expected 1."),
        (1, 2 << 40_000, "It returned <int of 40,002 bits>, an int; expected is an int."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sentences(expected, returned, text):
    assert said(expected, returned)[0] == text


@pytest.mark.parametrize(
    ("expected", "returned", "words"),
    [
        (3, 3.0, "3.0 is a float, and a count is an int: use // rather than /"),
        (3, math.nan, "nan means that a calculation had no result"),
        (1, True, "True is a bool, the outcome of a comparison"),
        (3, "3", "leave out the quotes"),
        (3, Decimal(3), "A Decimal is not an int"),
        (3, type("Sneaky", (int,), {})(3), "return a plain int"),
        (3, None, "ends without return"),
        (10**30, int(1e30), "floats carry some 16 digits"),
        ({"a": 1}, (1,), "The result is a dict with the keys a."),
        ([1], map(int, "1"), "A map has not made its entries yet: list(...)"),
        ([1], {1: 2}.keys(), "A dict_keys has not made its entries yet"),
        ("a", {"id": "a"}, "Only the id is asked for"),
        (1, 1 << 20_000, "far larger"),
        ({"a": 1}, {"a": [1]}, "Hand back the count itself"),
        ({"a": [1]}, {"a": 1}, "Convert it, or build a list"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_likely_causes(expected, returned, words):
    found_here = found(expected, returned)
    causes = [likely_cause(d) for d in found_here]
    assert words in " ".join(causes)


def test_near_is_only_near_far_out():
    assert likely_cause(found(10, 11)[0]) == ""
    assert likely_cause(found(10**30, 10**29)[0]) == ""


def test_what_was_printed_instead_of_returned_is_told():
    (difference,) = found(3, None)
    assert "what it prints" in likely_cause(difference, printed=True)
    assert "what it prints" not in likely_cause(found({"a": 1}, {"a": None})[0], printed=True)


def test_a_key_spelt_otherwise_is_told():
    assert renamed_key(found({"wastedSlots": 1}, {"wasted_slots": 1})) == (
        "The key is called 'wastedSlots', not 'wasted_slots': spelling counts."
    )
    assert "'pages', not 'page'" in renamed_key(found({"pages": 1}, {"page": 1}))
    assert renamed_key(found({"pages": 1}, {"tokens": 1})) == ""
    assert renamed_key(found({"pages": 1}, {})) == ""


def test_the_right_entries_in_another_order_are_told():
    expected, returned = encode(["a", "b"]), encode(["b", "a"])
    from lab.grading.compare import Difference

    assert "another order" in reordered(Difference((), "value", expected, returned))
    assert reordered(Difference((), "value", expected, encode(["a", "c"]))) == ""


@pytest.mark.parametrize(
    "value",
    [None, True, 5, -(10**30), 1.5, "it's", [1, (2,), ()], {"a": [1], 2: None}, {"é": "\n"}],
    ids=repr,
)
def test_plain_values_are_shown_as_python_writes_them(value):
    assert show(encode(value)) == repr(value)


def test_what_is_shown_is_short():
    assert show(encode(list(range(10_000))), 50) == repr(list(range(10_000)))[:50] + "…"
    assert show(encode("x" * 1000), 10) == "'xxxxxxxxx…"
    assert len(show(encode([["x" * 100] * 1000] * 1000))) <= 401
    assert show(encode(1 << 15_000)) == "<int of 15,001 bits>"
    assert show_call("f", [encode(33), encode("a")]) == "f(33, 'a')"
