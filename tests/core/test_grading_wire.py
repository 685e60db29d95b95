"""Values on the wire: what is plain comes back the same, what is not is told apart."""

import json
import math
from collections import OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from random import Random

import pytest

from lab.grading.child import wire
from lab.grading.child.wire import NotPlain, decode, encode
from lab.grading.trust import is_wire

PLAIN = [
    None,
    True,
    False,
    0,
    -1,
    2**53 - 1,
    2**53,
    -(2**53),
    10**30,
    -(10**30),
    10**4000,
    0.0,
    0.1,
    1e308,
    5e-324,
    float("inf"),
    -float("inf"),
    "",
    "text",
    "变量 \n \0 é 😀",
    "\ud800",
    [],
    (),
    {},
    [1, 1.0, True, "1", None],
    (1, (2, [3])),
    {"a": [1], 1: "b", None: 0, (1, 2): {}, 1.5: True},
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:20])
def test_plain_values_come_back_equal_and_of_the_same_type(value):
    back = decode(json.loads(json.dumps(encode(value))))
    assert repr(back) == repr(value) if not isinstance(value, int) else back == value
    assert type(back) is type(value)


def test_nan_comes_back_as_nan():
    assert math.isnan(decode(json.loads(json.dumps(encode(math.nan)))))


def test_minus_zero_keeps_its_sign():
    assert math.copysign(1, decode(encode(-0.0))) == -1


def anything(random, depth=0):
    """A plain value."""
    kinds = 7 if depth > 4 else 10
    return (
        lambda: None,
        lambda: random.random() < 0.5,
        lambda: random.randrange(-10, 10),
        lambda: random.randrange(-(10**40), 10**40),
        lambda: random.uniform(-1e9, 1e9),
        lambda: "".join(chr(random.randrange(32, 0x3000)) for _ in range(random.randrange(6))),
        lambda: float(random.randrange(3)),
        lambda: [anything(random, depth + 1) for _ in range(random.randrange(4))],
        lambda: tuple(anything(random, depth + 1) for _ in range(random.randrange(4))),
        lambda: {f"k{i}": anything(random, depth + 1) for i in range(random.randrange(4))},
    )[random.randrange(kinds)]()


def test_random_plain_values_make_the_round_trip():
    random = Random(7)
    for _ in range(500):
        value = anything(random)
        assert repr(decode(json.loads(json.dumps(encode(value))))) == repr(value)


def test_what_is_decoded_is_new():
    value = {"a": [1]}
    back = decode(encode(value))
    back["a"].append(2)
    assert value == {"a": [1]}


class Always(int):
    __class__ = int

    def __eq__(self, other):
        return True

    __hash__ = int.__hash__

    def __repr__(self):
        raise RuntimeError


class Colour(IntEnum):
    RED = 1


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "base", "name"),
    [
        (Always(3), "int", "Always"),
        (Colour.RED, "int", "Colour"),
        (type("F", (float,), {})(1.5), "float", "F"),
        (type("S", (str,), {})("x"), "str", "S"),
        (type("L", (list,), {})([1]), "list", "L"),
        (Point(1, 2), "tuple", "Point"),
        (defaultdict(int), "dict", "defaultdict"),
        (OrderedDict(a=1), "dict", "OrderedDict"),
    ],
    ids=lambda value: value if isinstance(value, str) else "value",
)
def test_an_instance_of_a_subclass_is_none_of_its_base(value, base, name):
    encoded = encode(value)
    assert encoded[:3] == ["subclass", base, name]
    assert is_wire(encoded)


def test_the_preview_of_a_subclass_is_made_by_its_base():
    assert encode(Always(3))[3] == "3"


class Liar(type):
    def __repr__(cls):
        raise RuntimeError

    __name__ = "int"


class Pretender(metaclass=Liar):
    __class__ = int

    def __repr__(self):
        return "x" * 10**6


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Decimal(3), "Decimal"),
        (Fraction(3), "Fraction"),
        (3j, "complex"),
        ({1, 2}, "set"),
        (frozenset(), "frozenset"),
        (b"x", "bytes"),
        (range(3), "range"),
        (map(int, "3"), "map"),
        (deque([1]), "deque"),
        ({}.keys(), "dict_keys"),
        (object(), "object"),
        (int, "type"),
        (len, "builtin_function_or_method"),
        (Pretender(), "Pretender"),
    ],
)
def test_other_values_are_marked_with_their_real_type(value, name):
    encoded = encode(value)
    assert encoded[:2] == ["other", name]
    assert len(encoded[2]) <= wire.PREVIEW + 1
    assert is_wire(encoded)


def test_a_generator_is_marked_and_not_run():
    ran = []
    generator = (ran.append(i) for i in range(3))
    assert encode(generator)[:2] == ["other", "generator"]
    assert ran == []


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt, RecursionError, MemoryError])
def test_a_repr_that_raises_costs_only_the_preview(error):
    def fail(self):
        raise error

    assert encode(type("Bad", (), {"__repr__": fail})()) == ["other", "Bad", ""]


def test_a_repr_without_end_costs_only_the_preview():
    assert encode(type("Deep", (), {"__repr__": lambda self: repr(self)})())[:2] == ["other", "Deep"]


def test_a_repr_that_is_a_subclass_of_str_is_cut_by_str_itself():
    class Text(str):
        def __getitem__(self, key):
            raise RuntimeError

        def __str__(self):
            raise RuntimeError

    shown = encode(type("Sly", (), {"__repr__": lambda self: Text("y" * 1000)})())[2]
    assert type(shown) is str
    assert shown == "y" * wire.PREVIEW + "…"


def test_a_value_inside_itself_is_marked_where_it_closes():
    value = [1]
    value.append({"again": value})
    assert encode(value) == ["list", [["int", 1], ["dict", [[["str", "again"], ["cycle", "list"]]]]]]


def test_the_same_list_twice_is_no_cycle():
    part = [1]
    assert decode(encode([part, part])) == [[1], [1]]


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_nesting_is_told_from_one_level_too_deep_on():
    assert decode(encode(nested(wire.MAX_DEPTH))) == nested(wire.MAX_DEPTH)
    with pytest.raises(NotPlain):
        decode(encode(nested(wire.MAX_DEPTH + 1)))
    assert is_wire(encode(nested(10_000)))


@pytest.mark.parametrize(
    ("value", "mark"),
    [
        ([0] * (wire.MAX_NODES + 1), ["large", "list", wire.MAX_NODES + 1]),
        (tuple(range(wire.MAX_NODES + 1)), ["large", "tuple", wire.MAX_NODES + 1]),
        ("x" * (wire.MAX_CHARS + 1), ["large", "str", wire.MAX_CHARS + 1]),
        (1 << wire.MAX_INT_BITS, ["large", "int", wire.MAX_INT_BITS + 1]),
        (-1 << 10**7, ["large", "int", 10**7 + 1]),
    ],
    ids=["list", "tuple", "str", "int", "huge int"],
)
def test_what_is_too_large_is_marked_with_its_size(value, mark):
    assert encode(value) == mark
    assert is_wire(mark)


def test_the_largest_values_still_go_through():
    assert decode(encode("x" * wire.MAX_CHARS)) == "x" * wire.MAX_CHARS
    assert decode(encode((1 << wire.MAX_INT_BITS) - 1)) == (1 << wire.MAX_INT_BITS) - 1
    assert len(decode(encode([0] * (wire.MAX_NODES - 1)))) == wire.MAX_NODES - 1


def test_many_names_of_one_list_do_not_multiply_without_end():
    value = ["x"]
    for _ in range(60):
        value = [value] * 10
    encoded = encode(value)
    assert len(json.dumps(encoded)) < 20 * wire.MAX_NODES
    assert is_wire(encoded)


@pytest.mark.parametrize(
    "junk",
    [
        None,
        5,
        "text",
        {},
        [],
        [[]],
        ["int"],
        ["int", True],
        ["int", 1.0],
        ["int", "x"],
        ["int", "0x" + "f" * 20_000],
        ["bool", 1],
        ["none", None],
        ["str", 5],
        ["float", 1.5],
        ["float", "0x1p99999"],
        ["float", "many"],
        ["list", {}],
        ["list", [5]],
        ["dict", [["str", "a"]]],
        ["dict", [[["list", []], ["none"]]]],
        ["dict", {}],
        ["subclass", "int"],
        ["large", "list", -1],
        ["large", "list", 10**5000],
        ["other", "X", 5],
        ["unknown", 1],
    ],
    ids=lambda junk: type(junk).__name__,
)
def test_what_is_no_wire_value_is_refused(junk):
    with pytest.raises(NotPlain):
        decode(junk)
    # A dict with a list as its key can be written down, and is refused where it is rebuilt.
    assert not is_wire(junk) or junk[0] == "dict"


def test_nesting_without_end_is_refused_and_not_followed():
    junk = ["none"]
    for _ in range(100_000):
        junk = ["list", [junk]]
    assert not is_wire(junk)
    with pytest.raises(NotPlain):
        decode(junk)
    while len(junk) == 2:  # or taking it apart would recurse
        junk = junk[1][0]
