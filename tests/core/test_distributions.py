"""Percentiles by one rule, from values and from their counts; histograms."""

import random

import pytest

from lab.distribution import Distribution, percentile
from lab.metrics import p95

MS = 1_000_000


@pytest.mark.parametrize(
    ("n", "place"), [(1, 0), (2, 0), (20, 18), (21, 19), (100, 94), (101, 95), (1000, 949), (1001, 950)]
)
def test_p95_is_the_lower_order_statistic(n, place):
    assert percentile(list(range(n)), 950) == place == p95(reversed(range(n)))


def test_no_values():
    nothing = Distribution()
    assert percentile([], 500) == 0
    assert nothing.figures() == dict.fromkeys(("count", "mean", "p50", "p95", "p99", "p999", "max"), 0)
    assert nothing.histogram() == []


def test_counted_values_have_the_percentiles_of_the_list():
    dice = random.Random(2)
    for size in (1, 2, 3, 20, 999, 1000, 1001, 1002):
        values = [dice.randint(1, 40) * MS for _ in range(size)]
        counted = Distribution()
        counted.add(values[:5])
        counted.add(values[5:])
        ordered = sorted(value // MS for value in values)
        expected = {f"p{q}".rstrip("0"): percentile(ordered, q) for q in (950, 990, 999)} | {
            "p50": percentile(ordered, 500),
            "count": size,
            "max": ordered[-1],
        }
        figures = counted.figures()
        assert figures.pop("mean") == pytest.approx(sum(ordered) / size)
        assert figures == expected


def test_a_rare_event_is_seen_by_the_maximum_only():
    """Four stalls in 3,960 gaps: percentile p sees what is more frequent than 1 - p."""
    gaps = Distribution()
    gaps.add([10 * MS] * 3956 + [106 * MS] * 4)
    figures = gaps.figures()
    assert (figures["p99"], figures["max"]) == (10, 106)
    gaps.add([106 * MS] * 40)
    assert gaps.figures()["p99"] == 106


def test_bins_are_1_2_5_a_decade_and_an_edge_belongs_to_the_bin_above():
    gaps = Distribution()
    gaps.add([2 * MS - 1, 2 * MS, 5 * MS - 1, 20 * MS])
    assert gaps.histogram() == [[1, 2, 1], [2, 5, 2], [5, 10, 0], [10, 20, 0], [20, 50, 1]]


@pytest.mark.parametrize(("value", "low", "high"), [(1, 1, 2), (9, 5, 10), (10, 10, 20), (99.9, 50, 100)])
def test_the_bin_of_one_value(value, low, high):
    times = Distribution()
    times.add([value])
    assert times.histogram() == [[low / MS, high / MS, 1]]
