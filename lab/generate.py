"""Makes a trace from a recipe. The same recipe gives the same bytes in CPython and in Pyodide, on every platform:
`lab.randomness` says how.

Arrivals, prompts, outputs and the mix draw from streams of their own, so that changing one leaves the others as they
are, and more requests are the same requests and then some (but for a mix, which is shared out anew).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from itertools import accumulate, count, repeat
from typing import Any

from lab.randomness import DECIMALS, Random
from lab.recipe import KINDS, Length, Recipe, command
from lab.workload import Request, Trace

ARRIVALS, PROMPTS, OUTPUTS, MIX = range(4)
"""The streams of a seed."""


def generate(recipe: Recipe) -> Trace:
    """The trace of `recipe`, arrivals in iterations, in order of arrival; `source` says how to make it again."""
    kinds = _kinds(recipe)
    prompts, outputs = Random(recipe.seed, PROMPTS), Random(recipe.seed, OUTPUTS)
    requests = []
    for name, kind, arrival in zip(_names(kinds), kinds, _arrivals(recipe), strict=False):
        lengths = (
            KINDS[kind] if kind else {"prompt_tokens": recipe.prompt_tokens, "output_tokens": recipe.output_tokens}
        )
        requests.append(
            Request(
                name, arrival, _length(lengths["prompt_tokens"], prompts), _length(lengths["output_tokens"], outputs)
            )
        )
    return Trace(recipe.name, recipe.limits, tuple(requests), source=command(recipe))


def _kinds(recipe: Recipe) -> list[str]:
    """The kind of each request, empty without a mix. Shares are met to the request: largest remainders go first."""
    if recipe.mix is None:
        return [""] * recipe.requests
    total = sum(recipe.mix.values())
    counts = {kind: recipe.requests * weight // total for kind, weight in recipe.mix.items()}
    remainders = sorted(recipe.mix, key=lambda kind: -(recipe.requests * recipe.mix[kind] % total))  # type: ignore[index]
    for kind in remainders[: recipe.requests - sum(counts.values())]:
        counts[kind] += 1
    kinds = [kind for kind, n in counts.items() for _ in range(n)]
    Random(recipe.seed, MIX).shuffle(kinds)
    return kinds


def _names(kinds: list[str]) -> Iterator[str]:
    """a, b, … z, aa, ab, …; of a mix c1, c2, … for chat and r1, r2, … for RAG."""
    counters = {kind: count(1) for kind in kinds}
    for kind in kinds:
        number = next(counters[kind])
        yield f"{kind[0]}{number}" if kind else letters(number)


def letters(number: int) -> str:
    """The name of a spreadsheet's column: 1 is a, 26 is z, 27 is aa."""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("a") + rest) + name
    return name


def _arrivals(recipe: Recipe) -> Iterator[int]:
    """Arrivals without end, in iterations, never falling."""
    spec = recipe.arrivals
    if spec["kind"] == "at-once":
        return repeat(0)
    gap = Decimal(str(spec["gap"]))
    if spec["kind"] == "steady":
        return (_floor(DECIMALS.multiply(gap, Decimal(i))) for i in count())
    random = Random(recipe.seed, ARRIVALS)
    gaps = (DECIMALS.multiply(gap, random.exponential()) for _ in count())
    times = (_floor(time) for time in accumulate(gaps, DECIMALS.add, initial=Decimal(0)))
    return times if spec["kind"] == "poisson" else (time for time in times for _ in range(spec["size"]))


def _floor(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_FLOOR))


def _length(spec: Any, random: Random) -> int:
    """One length in tokens."""
    length: Length = spec
    if length["kind"] == "fixed":
        return int(length["tokens"])
    if length["kind"] == "uniform":
        return random.between(length["min"], length["max"])
    factor = DECIMALS.exp(DECIMALS.multiply(Decimal(str(length["sigma"])), random.normal()))
    tokens = DECIMALS.multiply(Decimal(length["median"]), factor).to_integral_value(ROUND_HALF_UP)
    return max(length["min"], min(int(tokens), length["max"]))
