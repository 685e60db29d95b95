"""Free runs in parts, against plain pages."""

import random

import pytest

from lab import free_runs
from lab.free_runs import FreeRuns


def runs_of(free):
    """(start, length) of each run of True in `free`."""
    runs = []
    for page, is_free in enumerate(free):
        if is_free and runs and sum(runs[-1]) == page:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        elif is_free:
            runs.append((page, 1))
    return runs


def listed(runs):
    parts = zip(runs._starts, runs._lengths, strict=True)
    return [run for starts, lengths in parts for run in zip(starts, lengths, strict=True)]


@pytest.mark.parametrize("most", [2, 3, 4, 512])
def test_random_steps_are_first_fit_in_parts_of_any_size(monkeypatch, most):
    monkeypatch.setattr(free_runs, "MOST", most)
    dice = random.Random(most)
    pages = 60
    runs, free, held = FreeRuns(pages), [True] * pages, []
    for _ in range(1500):
        count = dice.choice([1, 1, 2, 3, 7])
        expected = next((start for start, length in runs_of(free) if length >= count), None)
        assert runs.fits(count) == (expected is not None)
        if held and (expected is None or dice.random() < 0.5):
            start, count = held.pop(dice.randrange(len(held)))
            runs.give(start, count)
            free[start : start + count] = [True] * count
        else:
            assert runs.take(count) == expected
            held.append((expected, count))
            free[expected : expected + count] = [False] * count
        assert listed(runs) == runs_of(free)
        assert runs.longest == max([length for _, length in runs_of(free)], default=0)
        assert all(0 < len(part) <= free_runs.MOST for part in runs._starts)


def test_ten_thousand_holes_are_not_looked_at_one_by_one():
    runs = FreeRuns(20_001)
    for start in range(20_000):
        assert runs.take(1) == start
    for start in range(0, 20_000, 2):
        runs.give(start, 1)
    assert len(listed(runs)) == 10_001 and len(runs._starts) < 60
    assert all(len(part) <= 512 for part in runs._starts)
    assert (runs.fits(1), runs.fits(2), runs.longest) == (True, False, 1)
