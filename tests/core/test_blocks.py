"""Pages: how many are needed, and the queue that they come from."""

import pytest

from lab.blocks import BlockManager
from lab.paging import pages_for


@pytest.mark.parametrize(
    ("tokens", "page_size", "pages"),
    [(0, 16, 0), (1, 16, 1), (15, 16, 1), (16, 16, 1), (17, 16, 2), (32, 16, 2), (33, 16, 3), (5, 1, 5)],
)
def test_pages_for_at_the_bound(tokens, page_size, pages):
    assert pages_for(tokens, page_size) == pages


def test_pages_for_is_exact_where_floats_are_not():
    assert pages_for(2**53 - 1, 2) == 2**52
    assert pages_for(2**60 + 1, 2**30) == 2**30 + 1


@pytest.mark.parametrize(("tokens", "page_size"), [(-1, 16), (1, 0), (1, -4)])
def test_pages_for_refuses_nonsense(tokens, page_size):
    with pytest.raises(ValueError, match="pages_for needs"):
        pages_for(tokens, page_size)


def test_pages_come_in_order_and_released_ones_join_the_tail():
    pool = BlockManager(5, 16)
    assert pool.allocate(3) == [0, 1, 2]
    pool.release([1, 0])
    assert pool.allocate(4) == [3, 4, 1, 0]
    pool.release([2])
    assert pool.allocate(1) == [2]


def test_used_and_free_always_sum_to_the_pool():
    pool = BlockManager(4, 16)
    assert (pool.used, pool.free) == (0, 4)
    pool.allocate(3)
    assert (pool.used, pool.free) == (3, 1)
    pool.release([0, 2])
    assert (pool.used, pool.free) == (1, 3)


def test_the_last_page_can_be_taken_and_no_more():
    pool = BlockManager(2, 16)
    assert pool.allocate(2) == [0, 1]
    with pytest.raises(ValueError, match="cannot take 1 pages: 0 of 2 are free"):
        pool.allocate(1)
    assert pool.allocate(0) == []


def test_a_refused_request_takes_nothing():
    pool = BlockManager(3, 16)
    with pytest.raises(ValueError, match="cannot take 4 pages"):
        pool.allocate(4)
    assert pool.allocate(3) == [0, 1, 2]


@pytest.mark.parametrize("pages", [[0, 0], [0, 1, 0]])
def test_giving_a_page_back_twice_at_once_is_refused(pages):
    pool = BlockManager(3, 16)
    pool.allocate(2)
    with pytest.raises(ValueError, match="twice"):
        pool.release(pages)
    assert pool.used == 2


def test_giving_a_free_page_back_is_refused_and_frees_nothing():
    pool = BlockManager(3, 16)
    pool.allocate(2)
    pool.release([0])
    with pytest.raises(ValueError, match="page 0 is not held"):
        pool.release([1, 0])
    assert (pool.used, pool.free) == (1, 2)


def test_a_huge_pool_costs_nothing_until_it_is_used():
    pool = BlockManager(2**53 - 1, 16)
    assert pool.allocate(2) == [0, 1]
    assert pool.free == 2**53 - 3
