"""Random numbers: known answers, distributions, and the same digits whoever does the arithmetic."""

import math
from decimal import localcontext

import pytest

from lab.randomness import Random


def stream(n, seed=1, number=0):
    random = Random(seed, number)
    return [random.bits() for _ in range(n)]


def test_splitmix64_gives_its_published_numbers():
    random = Random(0)
    random._state = 1234567  # of the reference implementation's test vector
    assert [random.bits() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_seeds_and_streams_differ_and_repeat():
    assert stream(8) == stream(8)
    assert len({tuple(stream(4, seed, number)) for seed in range(50) for number in range(4)}) == 200
    assert stream(4, 2**53 - 1) != stream(4, 2**53 - 2)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 2**53, 2**64])
def test_below_stays_below(n):
    random = Random(5)
    drawn = [random.below(n) for _ in range(300)]
    assert min(drawn) >= 0 and max(drawn) < n
    assert n > 10 or set(drawn) == set(range(n))


def test_below_refuses_what_would_make_low_numbers_likelier():
    random = Random(1)
    draws = iter([2**64 - 1, 2**64 - 2, 7])  # 2**64 leaves 1 when divided by 3: only 2**64 - 1 is unfair
    random.bits = lambda: next(draws)
    assert random.below(3) == (2**64 - 2) % 3


def test_between_includes_both_ends():
    random = Random(3)
    assert {random.between(4, 6) for _ in range(60)} == {4, 5, 6}
    assert random.between(9, 9) == 9


def test_shuffle_keeps_all_and_reaches_every_order():
    random = Random(2)
    seen = set()
    for _ in range(200):
        items = [1, 2, 3]
        random.shuffle(items)
        seen.add(tuple(items))
    assert len(seen) == 6


def mean(values):
    return sum(values) / len(values)


def test_the_exponential_distribution():
    random = Random(11)
    drawn = [float(random.exponential()) for _ in range(2000)]
    assert min(drawn) >= 0
    assert mean(drawn) == pytest.approx(1, abs=0.06)
    assert mean([value > 1 for value in drawn]) == pytest.approx(math.exp(-1), abs=0.03)


def test_the_ends_of_the_exponential_distribution():
    random = Random(1)
    random.bits = lambda: 2**64 - 1
    assert random.exponential() == 0
    random.bits = lambda: 0
    assert float(random.exponential()) == pytest.approx(53 * math.log(2), rel=1e-14)  # u is 2**-53, and never 0


def test_the_normal_distribution():
    random = Random(12)
    drawn = [float(random.normal()) for _ in range(2000)]
    assert mean(drawn) == pytest.approx(0, abs=0.06)
    assert mean([value * value for value in drawn]) == pytest.approx(1, abs=0.08)
    assert mean([abs(value) < 1 for value in drawn]) == pytest.approx(math.erf(math.sqrt(0.5)), abs=0.03)


def test_the_callers_arithmetic_changes_nothing():
    def digits():
        random = Random(4)
        return [str(random.exponential()) for _ in range(5)] + [str(random.normal()) for _ in range(5)]

    expected = digits()
    with localcontext() as context:
        context.prec = 3
        assert digits() == expected
