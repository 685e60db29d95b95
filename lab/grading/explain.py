"""One clear sentence on a difference, and one on its likely cause."""

from __future__ import annotations

from difflib import get_close_matches

from lab.grading.child.wire import Wire, decode
from lab.grading.compare import Difference, Place
from lab.grading.show import printable, show

_SHORT = 80
_NAMES = {"none": "None", "str": "text"}


def kind_of(wire: Wire) -> str:
    """The kind of `wire` in words: ``a float``, ``None``, ``a Fraction``."""
    kind = wire[0]
    if kind == "subclass":
        return f"{_a(printable(wire[2]))}, a subclass of {wire[1]}"
    if kind in ("other", "cycle", "deep", "large"):
        return _a(printable(wire[1]))
    return _NAMES.get(kind, _a(kind))


def _a(name: str) -> str:
    return f"an {name}" if name[:1].lower() in tuple("aeiou") else f"a {name}"


def _capital_a(name: str) -> str:
    text = _a(name)
    return text[0].upper() + text[1:]


def place_text(place: Place) -> str:
    """`place` as Python writes it: ``result["running"][0]``."""
    return "result" + "".join(f'["{step}"]' if isinstance(step, str) else f"[{step}]" for step in place)


def sentence(difference: Difference) -> str:
    """What is different, in one sentence."""
    here = place_text(difference.place)
    expected, returned = difference.expected, difference.returned
    if difference.kind == "missing" or returned is None:
        return f"{place_text(difference.place[:-1])} has no key {difference.place[-1]!r}."
    if difference.kind == "extra" or expected is None:
        return f"{place_text(difference.place[:-1])} has a key {difference.place[-1]!r} that is not asked for."
    if difference.kind == "length":
        return _length_sentence(here, expected, returned)
    if difference.kind == "type":
        value = show(returned, _SHORT)
        told = value if returned[0] in ("none", "subclass") else f"{value}, {kind_of(returned)}"
        if not difference.place:
            return f"It returned {told}; expected is {kind_of(expected)}."
        return f"{here} is {told}; expected is {show(expected, _SHORT)}, {kind_of(expected)}."
    return f"{here} is {show(returned, _SHORT)}, expected {show(expected, _SHORT)}."


def _length_sentence(here: str, expected: Wire, returned: Wire) -> str:
    wanted, given = _ids(expected), _ids(returned)
    if wanted is not None and given is not None:
        return f"{here} lists {', '.join(given) or 'nobody'}; expected {', '.join(wanted) or 'nobody'}."
    return f"{here} has {_entries(len(returned[1]))}, expected {len(expected[1])}."


def _ids(wire: Wire) -> list[str] | None:
    """The ids in a list of requests, or None if it is none, or long."""
    found = []
    for entry in wire[1]:
        ids = [v[1] for k, v in entry[1] if k == ["str", "id"] and v[0] == "str"] if entry[0] == "dict" else []
        if not ids:
            return None
        found.append(printable(ids[0][:20]))
    return found if len(found) <= 12 else None


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def likely_cause(difference: Difference, *, printed: bool = False) -> str:
    """One sentence on why such a difference usually comes about; empty if nothing can be said.

    printed: whether the call printed something
    """
    expected, returned = difference.expected, difference.returned
    if expected is None:
        return ""
    if returned is None:
        return ""
    if difference.kind == "type":
        return _type_cause(expected, returned, whole=not difference.place, printed=printed)
    if difference.kind == "length":
        return ""
    if difference.kind == "value" and expected[0] == "int":
        return _number_cause(expected, returned)
    return ""


def renamed_key(all_differences: list[Difference]) -> str:
    """A sentence if a missing and an extra key of one dict look like one name spelt in two ways."""
    missing = [d.place for d in all_differences if d.kind == "missing"]
    extra = [d.place for d in all_differences if d.kind == "extra"]
    for place in missing:
        wanted = str(place[-1])
        spellings = {_plain_name(str(other[-1])): str(other[-1]) for other in extra if other[:-1] == place[:-1]}
        close = get_close_matches(_plain_name(wanted), spellings, n=1, cutoff=0.75)
        if close:
            return f"The key is called {wanted!r}, not {spellings[close[0]]!r}: spelling counts."
    return ""


def reordered(difference: Difference) -> str:
    """A sentence if a list holds the right entries in another order."""
    expected, returned = difference.expected, difference.returned
    if expected is None or returned is None or expected[0] != "list" or returned[0] not in ("list", "tuple"):
        return ""
    if expected[1] != returned[1] and sorted(map(repr, expected[1])) == sorted(map(repr, returned[1])):
        return f"{place_text(difference.place)} has the right entries in another order."
    return ""


def _plain_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _type_cause(expected: Wire, returned: Wire, *, whole: bool, printed: bool) -> str:
    wanted, given = expected[0], returned[0]
    shown = show(returned, _SHORT)
    if given == "none":
        if whole and printed:
            return "A function hands its result back with return; what it prints, nobody can compare."
        return "A path through the function ends without return, or returns nothing." if whole else ""
    if given == "large":
        return "The value is far larger than anything that was asked for."
    if given == "cycle":
        return "The value refers to itself, so that it never ends."
    if given == "subclass":
        return f"A subclass of {returned[1]} may behave as it likes: return a plain {returned[1]}."
    if wanted == "int":
        return _int_cause(returned, shown)
    if wanted in ("dict", "list") and given == "other" and returned[1] in _LAZY:
        return f"{_capital_a(returned[1])} has not made its entries yet: {wanted}(...) makes a plain {wanted} of it."
    if wanted == "dict" and given in ("list", "tuple"):
        keys = ", ".join(str(decode(key)) for key, _ in expected[1])
        return f"The result is a dict with the keys {keys}." if whole else "A dict with named entries is asked for."
    if wanted == "list" and given == "tuple":
        return "This exercise asks for a list; list(...) makes one of a tuple."
    if wanted == "str" and given == "dict":
        return "Only the id is asked for, not the whole request."
    return f"Convert it, or build {kind_of(expected)} from the start."


_LAZY = ("generator", "map", "filter", "zip", "range", "reversed", "dict_keys", "dict_values", "dict_items", "deque")


def _int_cause(returned: Wire, shown: str) -> str:
    given = returned[0]
    if given == "float":
        value = decode(returned)
        if value != value:
            return "nan means that a calculation had no result; it equals nothing, not even itself."
        return f"{shown} is a float, and a count is an int: use // rather than /, which also stays exact."
    if given == "bool":
        return f"{shown} is a bool, the outcome of a comparison; a count is an int."
    if given == "str":
        return "Text that looks like a number is no number: leave out the quotes or str(...)."
    if given == "other":
        return (
            f"{_capital_a(returned[1])} is not an int: do the whole calculation in ints, which are exact at any size."
        )
    return "Hand back the count itself."


def _number_cause(expected: Wire, returned: Wire) -> str:
    wanted, given = decode(expected), decode(returned)
    if abs(wanted) > 2**53 and abs(wanted - given) * 2**40 < abs(wanted):
        return (
            "Close, but not exact: floats carry some 16 digits and Decimal 28. Python's ints carry all: "
            "stay with //, + and *."
        )
    return ""
