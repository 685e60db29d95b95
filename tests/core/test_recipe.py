"""Recipes: every bound, one past it, and what the message says; the flags that say the same."""

import pytest

from lab.errors import InputError
from lab.generate import generate
from lab.recipe import command, pairs_from, recipe_from, spec_from
from lab.workload import Limits

FIXED = {"kind": "fixed", "tokens": 5}
LOGNORMAL = {"kind": "lognormal", "median": 9, "sigma": 1, "min": 2, "max": 20}


def plain(**changes):
    """A good recipe with changes; a change to ... takes the key away."""
    recipe = {
        "seed": 1,
        "requests": 2,
        "arrivals": {"kind": "at-once"},
        "prompt_tokens": FIXED,
        "output_tokens": FIXED,
        **changes,
    }
    return {key: value for key, value in recipe.items() if value is not ...}


def refused(recipe):
    with pytest.raises(InputError) as caught:
        recipe_from(recipe)
    return caught.value


MIX = {"prompt_tokens": ..., "output_tokens": ...}

GOOD = [
    {"seed": 0},
    {"seed": 2**53 - 1},
    {"requests": 1},
    {"requests": 100_000},
    {"arrivals": {"kind": "steady", "gap": 1_000_000}},
    {"arrivals": {"kind": "poisson", "gap": 0.000001}},
    {"arrivals": {"kind": "bursty", "gap": 1, "size": 1}},
    {"arrivals": {"kind": "bursty", "gap": 1, "size": 100_000}},
    {"prompt_tokens": {"kind": "fixed", "tokens": 1}},
    {"prompt_tokens": {"kind": "fixed", "tokens": 1_000_000}},
    {"output_tokens": {"kind": "uniform", "min": 1, "max": 1_000_000}},
    {"output_tokens": {"kind": "uniform", "min": 7, "max": 7}},
    {"output_tokens": {**LOGNORMAL, "sigma": 0}},
    {"output_tokens": {**LOGNORMAL, "sigma": 4}},
    {**MIX, "mix": {"chat": 0, "rag": 1}},
    {**MIX, "mix": {"chat": 1_000_000}},
    {"limits": {"max_num_seqs": 1, "num_pages": 1, "page_size": 1}},
]


@pytest.mark.parametrize("changes", GOOD)
def test_at_the_bound(changes):
    recipe_from(plain(**changes))


BAD = [
    ({"seed": -1}, "seed", "at least 0"),
    ({"seed": 2**53}, "seed", "at most 9007199254740991"),
    ({"seed": 1.0}, "seed", "write 1"),
    ({"seed": True}, "seed", "integer"),
    ({"seed": ...}, "seed", "missing"),
    ({"requests": 0}, "requests", "at least 1"),
    ({"requests": 100_001}, "requests", "at most 100000"),
    ({"arrivals": "poisson"}, "arrivals", "object"),
    ({"arrivals": {}}, "arrivals.kind", "one of"),
    ({"arrivals": {"kind": "gamma"}}, "arrivals.kind", "one of"),
    ({"arrivals": {"kind": ["at-once"]}}, "arrivals.kind", "one of"),
    ({"arrivals": {"kind": "at-once", "gap": 1}}, "arrivals.gap", "not known"),
    ({"arrivals": {"kind": "steady"}}, "arrivals.gap", "missing"),
    ({"arrivals": {"kind": "steady", "gap": 0}}, "arrivals.gap", "above 0"),
    ({"arrivals": {"kind": "steady", "gap": 1_000_000.5}}, "arrivals.gap", "at most 1000000"),
    ({"arrivals": {"kind": "poisson", "gap": "2"}}, "arrivals.gap", "number"),
    ({"arrivals": {"kind": "poisson", "gap": float("nan")}}, "arrivals.gap", "number"),
    ({"arrivals": {"kind": "poisson", "gap": True}}, "arrivals.gap", "number"),
    ({"arrivals": {"kind": "poisson", "gap": 10**400}}, "arrivals.gap", "at most"),
    ({"arrivals": {"kind": "bursty", "gap": 1, "size": 0}}, "arrivals.size", "at least 1"),
    ({"arrivals": {"kind": "bursty", "gap": 1, "size": 100_001}}, "arrivals.size", "at most 100000"),
    ({"prompt_tokens": ...}, "prompt_tokens", "missing"),
    ({"prompt_tokens": {"kind": "fixed", "tokens": 0}}, "prompt_tokens.tokens", "at least 1"),
    ({"prompt_tokens": {"kind": "fixed", "tokens": 1_000_001}}, "prompt_tokens.tokens", "at most 1000000"),
    ({"output_tokens": {"kind": "uniform", "min": 0, "max": 2}}, "output_tokens.min", "at least 1"),
    ({"output_tokens": {"kind": "uniform", "min": 3, "max": 2}}, "output_tokens.min", "at most max (2)"),
    ({"output_tokens": {"kind": "uniform", "min": 3}}, "output_tokens.max", "missing"),
    ({"output_tokens": {**LOGNORMAL, "sigma": 4.001}}, "output_tokens.sigma", "from 0 to 4"),
    ({"output_tokens": {**LOGNORMAL, "sigma": -0.1}}, "output_tokens.sigma", "from 0 to 4"),
    ({"output_tokens": {**LOGNORMAL, "median": 0}}, "output_tokens.median", "at least 1"),
    ({"output_tokens": {**LOGNORMAL, "medain": 4}}, "output_tokens.medain", "did you mean median?"),
    ({"output_tokens": {**LOGNORMAL, "min": 21}}, "output_tokens.min", "at most max (20)"),
    ({"mix": {"chat": 1}}, "prompt_tokens", "beside mix"),
    ({**MIX, "mix": {}}, "mix", "above 0"),
    ({**MIX, "mix": {"chat": 0, "rag": 0}}, "mix", "above 0"),
    ({**MIX, "mix": {"chat": -1, "rag": 2}}, "mix.chat", "at least 0"),
    ({**MIX, "mix": {"chat": 0.5, "rag": 2}}, "mix.chat", "integer"),
    ({**MIX, "mix": {"chta": 1}}, "mix.chta", "did you mean chat?"),
    ({**MIX, "mix": [1]}, "mix", "object"),
    ({"name": ""}, "name", "empty"),
    ({"limits": {"max_num_seqs": 0, "num_pages": 1, "page_size": 1}}, "limits.max_num_seqs", "at least 1"),
    ({"limits": {"max_num_seqs": 1, "num_pages": 1}}, "limits.page_size", "missing"),
    ({"limits": None}, "limits", "object"),
    ({"sed": 1}, "sed", "did you mean seed?"),
]


@pytest.mark.parametrize(("changes", "field", "why"), BAD)
def test_past_the_bound(changes, field, why):
    error = refused(plain(**changes))
    assert error.field == field and why in error.problem
    assert "\n" not in str(error) and ";" in error.problem


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_a_recipe_is_an_object(value):
    assert refused(value).field == "recipe"


def test_what_may_be_left_out():
    recipe = recipe_from(plain(prompt_tokens={"kind": "lognormal", "median": 9, "sigma": 1}))
    assert recipe.prompt_tokens == {"kind": "lognormal", "median": 9, "sigma": 1, "min": 1, "max": 1_000_000}
    assert recipe.name == "generated"
    own = {"max_num_seqs": 2, "num_pages": 3, "page_size": 4, "max_num_batched_tokens": 8, "chunked_prefill": True}
    assert recipe_from(plain(limits=own)).limits == Limits(**own)


def test_the_order_of_keys_and_a_written_out_zero_change_nothing():
    one = recipe_from(plain(arrivals={"kind": "bursty", "gap": 4, "size": 2}))
    other = recipe_from(plain(arrivals={"size": 2, "gap": 4.0, "kind": "bursty"}))
    assert command(one) == command(other) and generate(one) == generate(other)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("at-once", {"kind": "at-once"}),
        ("poisson:gap=2.5", {"kind": "poisson", "gap": 2.5}),
        ("bursty:gap=40,size=5", {"kind": "bursty", "gap": 40, "size": 5}),
        ("poisson:gap=1_000", {"kind": "poisson", "gap": "1_000"}),
        ("poisson:gap=١", {"kind": "poisson", "gap": "١"}),
        ("poisson:gap=", {"kind": "poisson", "gap": ""}),
    ],
)
def test_a_flag_is_read_as_the_object_it_stands_for(text, spec):
    assert spec_from(text, "arrivals") == spec


@pytest.mark.parametrize(("text", "why"), [("x:3", "key=value"), ("x:=3", "key=value"), ("x:a=1,a=2", "twice")])
def test_flags_that_are_no_objects(text, why):
    with pytest.raises(InputError, match=why):
        spec_from(text, "arrivals")
    assert pairs_from("chat=7,rag=3", "mix") == {"chat": 7, "rag": 3}


@pytest.mark.parametrize("changes", [*GOOD[4:8], GOOD[12], {"arrivals": {"kind": "steady", "gap": 0.0000001}}])
def test_the_command_line_of_a_recipe_says_the_same(changes):
    recipe = recipe_from(plain(**changes))
    words = command(recipe, limits=False).split()
    spelled = dict(zip(words[3::2], words[4::2], strict=True))
    again = {
        "seed": int(spelled["--seed"]),
        "requests": int(spelled["--requests"]),
        **{
            name: spec_from(spelled[f"--{name.replace('_', '-')}"], name)
            for name in ("arrivals", "prompt_tokens", "output_tokens")
        },
    }
    assert recipe_from(again) == recipe_from({key: value for key, value in plain(**changes).items() if key != "limits"})
