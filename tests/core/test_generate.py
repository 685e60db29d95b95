"""Generated traces: their bytes, and what each kind of arrivals and lengths promises."""

import decimal
import hashlib
import importlib
import json
from itertools import pairwise
from pathlib import Path

import pytest

from lab import generate as generating
from lab import randomness
from lab.formats.trace_json import dump_trace, parse_trace
from lab.generate import generate, letters
from lab.recipe import KINDS, LIMITS, recipe_from

GOLDEN = Path(__file__).resolve().parent / "golden" / "generated.json"
CASES = json.loads(GOLDEN.read_text("utf-8"))
FIXED = {"kind": "fixed", "tokens": 5}


def made(**recipe):
    plain = {"seed": 1, "requests": 20, "arrivals": {"kind": "at-once"}, **recipe}
    if "mix" not in plain:
        plain = {"prompt_tokens": FIXED, "output_tokens": FIXED, **plain}
    return generate(recipe_from(plain))


def column(trace, field):
    return [getattr(request, field) for request in trace.requests]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["recipe"]["name"])
def test_the_same_recipe_gives_the_same_bytes_everywhere(case):
    text = dump_trace(generate(recipe_from(case["recipe"])))
    assert [[r.arrival, r.prompt_tokens, r.output_tokens] for r in parse_trace(text).requests][:6] == case["first"]
    assert hashlib.sha256(text.encode()).hexdigest() == case["sha256"]


@pytest.mark.cpython_only("Pyodide leaves the slow decimal out")
@pytest.mark.parametrize("case", [CASES[0], CASES[1]], ids=lambda case: case["recipe"]["name"])
def test_the_bytes_do_not_depend_on_who_computes_decimals(case, monkeypatch):
    slow = importlib.import_module("_pydecimal")
    assert slow.Decimal is not decimal.Decimal
    context = randomness.DECIMALS
    digits = slow.Context(prec=context.prec, rounding=context.rounding, Emin=context.Emin, Emax=context.Emax, traps=[])
    for module in (randomness, generating):
        monkeypatch.setattr(module, "Decimal", slow.Decimal)
        monkeypatch.setattr(module, "DECIMALS", digits)
    monkeypatch.setattr(randomness, "_UNIT", slow.Decimal(2**53))
    text = dump_trace(generate(recipe_from(case["recipe"])))
    assert hashlib.sha256(text.encode()).hexdigest() == case["sha256"]


def test_a_generated_trace_is_a_good_trace_and_says_how_to_make_it_again():
    trace = made(name="mine", arrivals={"kind": "poisson", "gap": 2.5})
    assert parse_trace(dump_trace(trace)) == trace
    assert (trace.name, trace.limits, trace.time_unit) == ("mine", LIMITS, "iteration")
    assert trace.source == (
        "serving-lab trace generate --seed 1 --requests 20 --arrivals poisson:gap=2.5 "
        "--prompt-tokens fixed:tokens=5 --output-tokens fixed:tokens=5 --name mine"
    )


def test_names_are_those_of_a_spreadsheets_columns():
    assert [letters(n) for n in (1, 2, 26, 27, 52, 53, 702, 703)] == ["a", "b", "z", "aa", "az", "ba", "zz", "aaa"]
    ids = column(made(requests=800), "id")
    assert ids[:3] == ["a", "b", "c"] and len(set(ids)) == 800


def test_at_once():
    assert set(column(made(), "arrival")) == {0}


@pytest.mark.parametrize(
    ("gap", "expected"), [(3, [0, 3, 6, 9, 12]), (0.5, [0, 0, 1, 1, 2]), (2.5, [0, 2, 5, 7, 10]), (0.1, [0] * 5)]
)
def test_steady(gap, expected):
    assert column(made(requests=5, arrivals={"kind": "steady", "gap": gap}), "arrival") == expected


def test_a_steady_gap_is_taken_as_it_is_written():
    # 0.1 as a binary fraction, times 30, is more than 3 by a hair; 0.7 times 10 is less than 7.
    assert column(made(requests=31, arrivals={"kind": "steady", "gap": 0.1}), "arrival")[30] == 3
    assert column(made(requests=11, arrivals={"kind": "steady", "gap": 0.7}), "arrival")[10] == 7


def test_poisson():
    arrivals = column(made(requests=1500, arrivals={"kind": "poisson", "gap": 40}), "arrival")
    assert arrivals[0] == 0 and arrivals == sorted(arrivals)
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    assert sum(gaps) / len(gaps) == pytest.approx(40, rel=0.05)
    squares = sum((gap - 40) ** 2 for gap in gaps) / len(gaps)
    assert squares**0.5 == pytest.approx(40, rel=0.1)  # of an exponential the deviation is the mean


def test_bursty_is_poisson_with_bursts():
    poisson = column(made(requests=5, arrivals={"kind": "poisson", "gap": 9}), "arrival")
    bursty = column(made(requests=14, arrivals={"kind": "bursty", "gap": 9, "size": 3}), "arrival")
    assert bursty == [time for time in poisson for _ in range(3)][:14]


def test_fixed_and_uniform_lengths():
    uniform = {"kind": "uniform", "min": 3, "max": 6}
    trace = made(requests=200, prompt_tokens=uniform, output_tokens={"kind": "fixed", "tokens": 8})
    assert set(column(trace, "prompt_tokens")) == {3, 4, 5, 6}
    assert set(column(trace, "output_tokens")) == {8}
    assert set(column(made(prompt_tokens={**uniform, "min": 6}), "prompt_tokens")) == {6}


def test_lognormal_lengths():
    length = {"kind": "lognormal", "median": 100, "sigma": 0.8}
    ordered = sorted(column(made(requests=1500, prompt_tokens=length), "prompt_tokens"))
    assert ordered[750] == pytest.approx(100, rel=0.08)
    assert ordered[int(1500 * 0.8413)] == pytest.approx(100 * 2.718281828**0.8, rel=0.12)  # one deviation above
    assert set(column(made(prompt_tokens={**length, "sigma": 0}), "prompt_tokens")) == {100}
    kept = column(made(requests=300, prompt_tokens={**length, "min": 60, "max": 150}), "prompt_tokens")
    assert min(kept) == 60 and max(kept) == 150


def test_the_widest_lognormal_stays_within_its_bounds():
    widest = {"kind": "lognormal", "median": 1_000_000, "sigma": 4}
    kept = column(made(requests=200, prompt_tokens=widest), "prompt_tokens")
    assert min(kept) >= 1 and max(kept) == 1_000_000


@pytest.mark.parametrize(
    ("requests", "mix", "chats"),
    [
        (10, {"chat": 70, "rag": 30}, 7),
        (10, {"chat": 1, "rag": 2}, 3),
        (3, {"chat": 1, "rag": 1}, 2),
        (4, {"rag": 1}, 0),
    ],
)
def test_a_mix_is_shared_out_to_the_request(requests, mix, chats):
    ids = column(made(requests=requests, mix=mix), "id")
    assert sum(name.startswith("c") for name in ids) == chats
    assert sorted(ids) == sorted([f"c{n + 1}" for n in range(chats)] + [f"r{n + 1}" for n in range(requests - chats)])


def test_a_mix_has_two_kinds_in_random_order():
    trace = made(requests=60, mix={"chat": 1, "rag": 1})
    kinds = "".join(name[0] for name in column(trace, "id"))
    assert "cr" in kinds.strip("c") and "rc" in kinds
    for request in trace.requests:
        lengths = KINDS["chat" if request.id[0] == "c" else "rag"]
        for field in ("prompt_tokens", "output_tokens"):
            assert lengths[field]["min"] <= getattr(request, field) <= lengths[field]["max"]
    longest = max(spec["prompt_tokens"]["max"] + spec["output_tokens"]["max"] for spec in KINDS.values())
    assert longest <= LIMITS.num_pages * LIMITS.page_size  # the default pool can serve every one


def test_changing_one_thing_leaves_the_others():
    spec = {"kind": "lognormal", "median": 30, "sigma": 1}
    first = made(arrivals={"kind": "poisson", "gap": 4}, prompt_tokens=spec, output_tokens=spec)
    other = made(arrivals={"kind": "poisson", "gap": 4}, prompt_tokens=FIXED, output_tokens=spec)
    assert column(first, "arrival") == column(other, "arrival")
    assert column(first, "output_tokens") == column(other, "output_tokens")
    assert column(first, "prompt_tokens") != column(first, "output_tokens")
    longer = made(requests=30, arrivals={"kind": "poisson", "gap": 4}, prompt_tokens=spec, output_tokens=spec)
    assert longer.requests[:20] == first.requests


def test_another_seed_is_another_trace():
    spec = {"kind": "uniform", "min": 1, "max": 1000}
    assert made(prompt_tokens=spec).requests != made(seed=2, prompt_tokens=spec).requests
