"""Runs of pages from a free list that fragments."""

import random

import pytest

from lab.slabs import SlabPool


def test_first_fit_takes_the_lowest_run_that_is_long_enough():
    pool = SlabPool(10)
    a, b, c = pool.allocate(2), pool.allocate(3), pool.allocate(2)
    assert (a, b, c) == ([0, 1], [2, 3, 4], [5, 6])
    pool.release(a)
    assert pool.allocate(3) == [7, 8, 9]
    assert pool.allocate(1) == [0]
    assert (pool.used, pool.free, pool.longest) == (9, 1, 1)


def test_free_pages_that_are_not_in_a_row_do_not_fit():
    pool = SlabPool(6)
    slabs = [pool.allocate(2) for _ in range(3)]
    pool.release(slabs[0])
    pool.release(slabs[2])
    assert (pool.free, pool.longest, pool.fits(2), pool.fits(3)) == (4, 2, True, False)
    with pytest.raises(ValueError, match="cannot take 3 pages in a row: the longest free run has 2"):
        pool.allocate(3)
    assert pool.used == 2


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2)])
def test_what_is_released_joins_its_free_neighbours(order):
    pool = SlabPool(6)
    slabs = [pool.allocate(2) for _ in range(3)]
    for i in order:
        pool.release(slabs[i])
    assert (pool.longest, pool.allocate(6)) == (6, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("pages", [[], [0], [1, 2], [0, 1, 2], [4, 5], [9], [0, 2]])
def test_only_a_whole_slab_that_is_held_can_be_released(pages):
    pool = SlabPool(6)
    pool.allocate(2)
    with pytest.raises(ValueError, match="are not a slab that is held"):
        pool.release(pages)
    assert pool.used == 2


def test_a_slab_released_twice_is_refused():
    pool = SlabPool(4)
    slab = pool.allocate(4)
    assert (pool.longest, pool.fits(1)) == (0, False)
    pool.release(slab)
    with pytest.raises(ValueError, match="are not a slab that is held"):
        pool.release(slab)


def test_a_slab_has_a_page_or_more_and_room_for_all_tokens():
    pool = SlabPool(2**53 - 1)
    with pytest.raises(ValueError, match="one page or more, not 0"):
        pool.allocate(0)
    table = tuple(pool.allocate(2))
    assert (pool.growth(table, 31), pool.append(table, 31), pool.free) == (0, (0, 1), 2**53 - 3)


def test_many_random_steps_against_a_list():
    dice = random.Random(5)
    pool, free, slabs = SlabPool(20), [True] * 20, []
    for _ in range(2000):
        if slabs and dice.random() < 0.5:
            slab = slabs.pop(dice.randrange(len(slabs)))
            pool.release(slab)
            for page in slab:
                free[page] = True
        else:
            count = dice.randint(1, 6)
            starts = [i for i in range(21 - count) if all(free[i : i + count])]
            assert pool.fits(count) == bool(starts)
            if starts:
                slabs.append(pool.allocate(count))
                assert slabs[-1] == list(range(starts[0], starts[0] + count))
                for page in slabs[-1]:
                    free[page] = False
        runs = "".join("-x"[page] for page in free).split("-")
        assert (pool.free, pool.longest) == (sum(free), max(map(len, runs)))
