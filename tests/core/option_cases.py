"""Tests of every random case: the decorator, and what they read from rows."""

import os
import sys
from functools import lru_cache

import pytest
from option_strategies import replayed, seeded_case
from plain_time import in_units

# The same examples in every run: a red test is red for everyone.
EXAMPLES = int(os.environ.get("SERVING_LAB_EXAMPLES", "40" if sys.platform == "emscripten" else "150"))
POLICIES = ("static", "continuous")


@lru_cache(maxsize=2000)
def case_and_replay(seed, policy):
    """The case of a seed and its replay, which all tests read: none may change it."""
    case = seeded_case(seed)
    return case, replayed(case, policy)


def on_random_cases(policies=POLICIES, when=None, every=1):
    """Make ``check(case, replay, policy)`` a test of random cases, of those for which ``when(case)`` is true.

    every: for checks that replay again: only every so many of the cases
    """

    def decorate(check):
        @pytest.mark.parametrize("policy", policies)
        def test(policy):
            met = 0
            for seed in range(0, EXAMPLES, every):
                case, replay = case_and_replay(seed, policy)
                if when is None or when(case):
                    met += 1
                    try:
                        check(case, replay, policy)
                    except BaseException as error:
                        error.add_note(f"seed {seed}, {policy}: {case}")
                        raise
            assert met >= EXAMPLES // 20 // every

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate


def busy(replay):
    """The rows of the iterations in which there was work."""
    return [row for row in replay["rows"] if "idle" not in row]


def request_of(name):
    """The request of a sequence: ids of the random cases hold no #."""
    return name.partition("#")[0]


def by_id(case):
    return {request.id: request for request in case.requests}


def place_of(case):
    """A function that gives a sequence's place in the order of (arrival, position, sample)."""
    ordered = sorted(case.requests, key=lambda request: in_units(request.arrival, case.unit, case.options))
    places = {request.id: place for place, request in enumerate(ordered)}
    return lambda name: (places[request_of(name)], int(name.partition("#")[2] or 1))


def sharing(case):
    return case.options.prefix_caching or case.options.fork_samples
