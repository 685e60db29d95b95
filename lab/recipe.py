"""What a generated trace is made from: a recipe, checked value by value, and the flags that say the same.

A recipe is a JSON object. Keys, with their ranges:

``seed``      an integer from 0 to 2**53 - 1
``requests``  how many, an integer from 1 to 100000
``arrivals``  ``{"kind": "at-once"}``: all in iteration time 0;
              ``{"kind": "steady", "gap": G}``: request i arrives at floor(i * G);
              ``{"kind": "poisson", "gap": G}``: gaps are exponential of mean G, rounded down as a sum; the first at 0;
              ``{"kind": "bursty", "gap": G, "size": N}``: N requests at once, at times as of `poisson`.
              G is in iterations, a number above 0, at most 1000000, such as 2.5; N an integer from 1 to 100000
``prompt_tokens`` and ``output_tokens``
              ``{"kind": "fixed", "tokens": T}``; ``{"kind": "uniform", "min": A, "max": B}``, both included;
              ``{"kind": "lognormal", "median": M, "sigma": S, "min": A, "max": B}``: M * exp(S * z), z normal, rounded
              to the nearest integer and brought to A … B.
              T, A, B, M are integers from 1 to 1000000, A at most B (default: 1 and 1000000); S a number from 0 to 4
``mix``       instead of the two lengths: ``{"chat": W, "rag": W}``, whole weights from 0 to 1000000, not all 0; the
              requests are shared out by them as exactly as whole requests allow, in random order. See `KINDS`
``name``      of the trace (default: ``generated``)
``limits``    as in a trace file (default: `LIMITS`)
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from lab.errors import InputError
from lab.values import MAX_NUMBER, check_choice, check_integer, check_text, shown
from lab.workload import Limits

MOST_REQUESTS = 100_000
MOST_TOKENS = 1_000_000
MOST_GAP = 1_000_000
MOST_SIGMA = 4

LIMITS = Limits(max_num_seqs=4, num_pages=128, page_size=16)
"""The limits of a generated trace, unless its recipe has its own."""

NAME = "generated"

Length = dict[str, Any]

KINDS: dict[str, dict[str, Length]] = {
    "chat": {
        "prompt_tokens": {"kind": "lognormal", "median": 40, "sigma": 0.7, "min": 4, "max": 256},
        "output_tokens": {"kind": "lognormal", "median": 24, "sigma": 0.6, "min": 2, "max": 128},
    },
    "rag": {
        "prompt_tokens": {"kind": "lognormal", "median": 256, "sigma": 0.5, "min": 64, "max": 768},
        "output_tokens": {"kind": "lognormal", "median": 16, "sigma": 0.5, "min": 2, "max": 64},
    },
}
"""Chat: short prompts, middling answers. RAG: long prompts (found passages), short answers. Of a size for a lab."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A checked recipe; fields as in the module's docstring. Exactly one of both lengths, or `mix`, is there."""

    seed: int
    requests: int
    arrivals: dict[str, Any]
    prompt_tokens: Length | None = None
    output_tokens: Length | None = None
    mix: dict[str, int] | None = None
    name: str = NAME
    limits: Limits = LIMITS


def recipe_from(value: object) -> Recipe:
    """The recipe in plain JSON data. Raises InputError naming the field, such as ``arrivals.gap``."""
    optional = ("prompt_tokens", "output_tokens", "mix", "name", "limits")
    plain = _object(value, "recipe", ("seed", "requests", "arrivals"), optional)
    lengths: dict[str, Any]
    if "mix" in plain:
        for key in ("prompt_tokens", "output_tokens"):
            if key in plain:
                raise InputError("cannot stand beside mix, which has lengths of its own; leave one out", field=key)
        lengths = {"mix": _mix(plain["mix"])}
    else:
        for key in ("prompt_tokens", "output_tokens"):
            if key not in plain:
                raise InputError("is missing; say how long they are, or give a mix", field=key)
        lengths = {key: _length(plain[key], key) for key in ("prompt_tokens", "output_tokens")}
    return Recipe(
        seed=_integer(plain["seed"], "seed", 0, MAX_NUMBER),
        requests=_integer(plain["requests"], "requests", 1, MOST_REQUESTS),
        arrivals=_arrivals(plain["arrivals"]),
        name=check_text(plain.get("name", NAME), "name"),
        limits=_limits(plain["limits"]) if "limits" in plain else LIMITS,
        **lengths,
    )


def command(recipe: Recipe, *, limits: bool = True) -> str:
    """The command line that generates the same trace; `limits`: with the flags of limits that are not LIMITS."""
    words = [f"serving-lab trace generate --seed {recipe.seed} --requests {recipe.requests}"]
    words.append(f"--arrivals {_spelled(recipe.arrivals)}")
    if recipe.mix is not None:
        words.append("--mix " + ",".join(f"{kind}={weight}" for kind, weight in recipe.mix.items()))
    else:
        assert recipe.prompt_tokens is not None and recipe.output_tokens is not None
        words.append(f"--prompt-tokens {_spelled(recipe.prompt_tokens)}")
        words.append(f"--output-tokens {_spelled(recipe.output_tokens)}")
    if recipe.name != NAME:
        # A name that begins like a flag is only taken for a name behind an equals sign.
        words.append("--name" + ("=" if recipe.name.startswith("-") else " ") + shlex.quote(recipe.name))
    if limits:
        for name, value in asdict(recipe.limits).items():
            if value != getattr(LIMITS, name):
                words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}"))
    return " ".join(words)


def _spelled(spec: Mapping[str, Any]) -> str:
    values = ",".join(f"{key}={value}" for key, value in spec.items() if key != "kind")
    return spec["kind"] + (f":{values}" if values else "")


def spec_from(text: str, field: str) -> dict[str, Any]:
    """``kind:key=value,…`` as the object it stands for; values become numbers where they are some.

    Raises InputError naming `field` when the text is not of that form.
    """
    kind, _, rest = text.partition(":")
    return {"kind": kind, **pairs_from(rest, field, "kind:key=value,key=value")} if rest else {"kind": kind}


def pairs_from(text: str, field: str, form: str = "key=value,key=value") -> dict[str, Any]:
    """``key=value,…`` as an object; values become numbers where they are some.

    Raises InputError naming `field`, and the `form` that was expected.
    """
    pairs: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise InputError(f"must be of the form {form}, not {shown(part)}; correct it", field=field)
        if key in pairs:
            raise InputError(f"says {key} twice; keep one of the two", field=field)
        pairs[key] = _number_or_text(value)
    return pairs


def _number_or_text(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text) if text.isascii() and len(text) <= 40 and "_" not in text else text
        except ValueError:
            pass
    return text


def _arrivals(value: object) -> dict[str, Any]:
    gap, size = ("gap", _gap), ("size", lambda number, field: _integer(number, field, 1, MOST_REQUESTS))
    return _kind(value, "arrivals", {"at-once": (), "steady": (gap,), "poisson": (gap,), "bursty": (gap, size)})


def _length(value: object, field: str) -> Length:
    least, most = ("min", _tokens), ("max", _tokens)
    kinds: dict[str, tuple[Any, ...]] = {
        "fixed": (("tokens", _tokens),),
        "uniform": (least, most),
        "lognormal": (("median", _tokens), ("sigma", _sigma), least, most),
    }
    if isinstance(value, dict) and value.get("kind") == "lognormal":
        value = {"kind": "lognormal", **{"min": 1, "max": MOST_TOKENS}, **value}
    length = _kind(value, field, kinds)
    if length["kind"] != "fixed" and length["min"] > length["max"]:
        raise InputError(
            f"must be at most max ({length['max']}), not {length['min']}; swap the two", field=f"{field}.min"
        )
    return length


Check = Callable[[object, str], Any]


def _kind(value: object, field: str, kinds: Mapping[str, tuple[tuple[str, Check], ...]]) -> dict[str, Any]:
    """`value`, an object with a `kind` and the values that belong to it, checked, in a fixed order."""
    if not isinstance(value, dict):
        raise InputError(f'must be an object, not {shown(value)}; write {{"kind": …}}', field=field)
    kind = check_choice(value.get("kind"), f"{field}.kind", kinds)
    values = kinds[kind]
    _object(value, field, ("kind", *(key for key, _ in values)), ())
    return {"kind": kind, **{key: check(value[key], f"{field}.{key}") for key, check in values}}


def _mix(value: object) -> dict[str, int]:
    plain = _object(value, "mix", (), tuple(KINDS))
    mix = {kind: _integer(plain[kind], f"mix.{kind}", 0, MOST_TOKENS) for kind in KINDS if kind in plain}
    if not any(mix.values()):
        raise InputError(f"needs a weight above 0 for one of {', '.join(KINDS)}; such as chat 70, rag 30", field="mix")
    return mix


def _limits(value: object) -> Limits:
    known = tuple(asdict(LIMITS))
    plain = _object(value, "limits", ("max_num_seqs", "num_pages", "page_size"), known)
    try:
        return Limits(**plain)
    except InputError as error:
        raise InputError(error.problem, field=f"limits.{error.field}") from None


def _integer(value: object, field: str, least: int, most: int) -> int:
    number = check_integer(value, field, least)
    if number > most:
        raise InputError(f"must be at most {most}, not {number}; write a smaller number", field=field)
    return number


def _tokens(value: object, field: str) -> int:
    return _integer(value, field, 1, MOST_TOKENS)


def _gap(value: object, field: str) -> int | float:
    number = _decimal(value, field)
    if not 0 < number <= MOST_GAP:
        raise InputError(f"must be above 0 and at most {MOST_GAP}, not {shown(value)}; such as 2.5", field=field)
    return number


def _sigma(value: object, field: str) -> int | float:
    number = _decimal(value, field)
    if not 0 <= number <= MOST_SIGMA:
        raise InputError(f"must be from 0 to {MOST_SIGMA}, not {shown(value)}; such as 0.8", field=field)
    return number


def _decimal(value: object, field: str) -> int | float:
    if type(value) is not int and (type(value) is not float or not math.isfinite(value)):
        raise InputError(f"must be a number, not {shown(value)}; such as 2.5", field=field)
    return int(value) if value == int(value) else value  # 4.0 and 4 are one recipe


def _object(value: object, field: str, required: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Any]:
    """`value` if it is an object with all of `required` and nothing beyond these and `optional`."""
    dotted = "" if field == "recipe" else f"{field}."
    if not isinstance(value, dict):
        raise InputError(f"must be an object, not {shown(value)}; write {{...}}", field=field)
    known = tuple(dict.fromkeys((*required, *optional)))
    for key in value:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"{shown(key)} is not known here; {remedy}", field=f"{dotted}{key}"[:60])
    for key in required:
        if key not in value:
            raise InputError("is missing; add it", field=f"{dotted}{key}")
    return value
