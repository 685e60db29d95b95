"""Pages: how many are needed, and the queue that they come from."""

import random

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


def held(pool, count):
    return tuple(pool.allocate(count))


@pytest.mark.parametrize("page", [-1, 5, 2**40])
def test_ids_that_do_not_exist_are_refused(page):
    pool = BlockManager(5, 16)
    table = held(pool, 5)
    with pytest.raises(ValueError, match="does not exist"):
        pool.ref_count(page)
    for refused in (pool.release, pool.share, pool.fork):
        with pytest.raises(ValueError, match=f"page {page} is n"):
            refused([table[0], page])
    with pytest.raises(ValueError, match="is not held"):
        pool.publish(page, 7)
    assert [pool.ref_count(page) for page in table] == [1] * 5


@pytest.mark.parametrize("parent_first", [True, False])
def test_a_fork_freed_in_either_order(parent_first):
    pool = BlockManager(3, 4)
    parent = held(pool, 2)
    child = pool.fork(parent)
    assert (child, pool.used, pool.shared) == (parent, 2, 2)
    own = pool.allocate(1)
    first, second = (parent, child) if parent_first else (child, parent)
    pool.release(first)
    assert ([pool.ref_count(page) for page in parent], pool.used, pool.shared) == ([1, 1], 3, 0)
    with pytest.raises(ValueError, match="cannot take 1 pages"):
        pool.allocate(1)
    pool.release(second)
    pool.release(own)
    with pytest.raises(ValueError, match="page 0 is not held"):
        pool.release(second)
    assert pool.allocate(3) == [0, 1, 2]


def test_each_owner_of_many_counts():
    pool = BlockManager(2, 4)
    table = held(pool, 1)
    forks = [pool.fork(table) for _ in range(3)]
    counts = [pool.ref_count(0)]
    for fork in forks:
        pool.release(fork)
        counts.append(pool.ref_count(0))
    pool.release(table)
    assert [*counts, pool.ref_count(0), pool.free] == [4, 3, 2, 1, 0, 2]


def test_forking_a_page_that_is_free_is_refused_and_counts_nothing():
    pool = BlockManager(4, 4)
    table = held(pool, 2)
    pool.release(table[1:])
    with pytest.raises(ValueError, match="page 1 is not held, so it cannot be forked"):
        pool.fork(table)
    assert pool.ref_count(0) == 1


@pytest.mark.parametrize(
    ("stored", "growth", "table"), [(3, 0, (0,)), (4, 1, (0, 1)), (5, 0, (0, 1)), (8, 1, (0, 1, 2))]
)
def test_append_around_the_end_of_a_page(stored, growth, table):
    pool = BlockManager(9, 4)
    before = held(pool, pages_for(stored, 4))
    assert pool.growth(before, stored) == growth
    assert pool.append(before, stored) == table


def test_append_to_a_table_that_is_too_short_is_refused():
    pool = BlockManager(9, 4)
    with pytest.raises(ValueError, match="a table of 1 pages cannot store 8 tokens"):
        pool.append(held(pool, 1), 8)


def test_append_copies_a_page_that_others_hold_and_the_last_owner_writes_in_place():
    pool = BlockManager(4, 4)
    parent = held(pool, 2)
    child = pool.fork(parent)
    assert pool.growth(child, 6) == 1
    child = pool.append(child, 6)
    assert child == (0, 2)
    assert [pool.ref_count(page) for page in range(4)] == [2, 1, 1, 0]
    assert (pool.growth(parent, 6), pool.append(parent, 6)) == (0, (0, 1))


@pytest.mark.parametrize("stored", [8, 6])
def test_append_with_no_page_free_changes_nothing(stored):
    pool = BlockManager(2, 4)
    parent = held(pool, 2)
    child = pool.fork(parent)
    with pytest.raises(ValueError, match="cannot take 1 pages"):
        pool.append(child, stored)
    assert [pool.ref_count(page) for page in parent] == [2, 2]


def test_a_freed_page_is_found_until_it_is_taken_again():
    pool = BlockManager(3, 4)
    table = held(pool, 2)
    pool.publish(0, 70)
    pool.publish(1, 71)
    pool.release(table)
    assert (pool.find(70), pool.find(71), pool.find(72), pool.cached_free) == (0, 1, None, 2)
    assert pool.allocate(2) == [2, 0]
    assert (pool.find(70), pool.find(71), pool.cached_free) == (None, 1, 1)


def test_a_hit_in_the_middle_of_the_free_queue_leaves_it():
    pool = BlockManager(4, 4)
    table = held(pool, 4)
    for page in table:
        pool.publish(page, 70 + page)
    pool.release(table)
    assert pool.free_among([1, 2]) == 2
    pool.share([1, 2])
    pool.share([2])
    assert (pool.free, pool.cached_free, pool.ref_count(1), pool.ref_count(2)) == (2, 2, 1, 2)
    assert pool.free_among([1, 2]) == 0
    assert pool.allocate(2) == [0, 3]
    pool.release([2])
    pool.release([2, 1])
    assert pool.allocate(2) == [2, 1]


def test_a_page_that_is_free_and_unknown_cannot_be_shared():
    pool = BlockManager(4, 4)
    table = held(pool, 2)
    pool.publish(0, 70)
    pool.release(table)
    with pytest.raises(ValueError, match="page 1 is neither held nor known"):
        pool.share([0, 1])
    assert (pool.free, pool.cached_free) == (4, 1)


def test_the_page_known_first_stays_the_known_one():
    pool = BlockManager(4, 4)
    first, second = held(pool, 2)
    pool.publish(first, 70)
    pool.publish(second, 70)
    pool.publish(first, 71)
    assert (pool.find(70), pool.find(71)) == (first, None)
    pool.release([second])
    assert pool.cached_free == 0


def test_reverse_order_of_release():
    pool = BlockManager(3, 4, reverse=True)
    pool.release(held(pool, 3))
    assert pool.allocate(3) == [2, 1, 0]


@pytest.mark.parametrize("reverse", [False, True])
def test_many_random_steps_against_a_list(reverse):
    """The queue, the counts and the keys, kept the slow way beside it."""
    dice = random.Random(3)
    pool = BlockManager(12, 4, reverse=reverse)
    queue, tables, keys = list(range(12)), [], {}

    def check_all():
        owners = [sum(page in table for table in tables) for page in range(12)]
        assert [pool.ref_count(page) for page in range(12)] == owners
        assert (pool.free, pool.shared) == (len(queue), sum(count > 1 for count in owners))
        assert pool.cached_free == sum(page in keys for page in queue)
        assert all(pool.find(key) == page for page, key in keys.items())

    for step in range(6000):
        choice = dice.random()
        if choice < 0.3:
            count = dice.randint(0, 4)
            if count <= len(queue):
                tables.append(tuple(pool.allocate(count)))
                assert tables[-1] == tuple(queue[:count])
                del queue[:count]
                for page in tables[-1]:
                    keys.pop(page, None)
        elif choice < 0.4 and keys:
            hits = dice.sample(sorted(keys), dice.randint(1, min(3, len(keys))))
            pool.share(hits)
            tables.append(tuple(hits))
            queue = [page for page in queue if page not in hits]
        elif tables and choice < 0.5:
            tables.append(pool.fork(dice.choice(tables)))
        elif tables and choice < 0.6:
            for page in dice.choice(tables):
                pool.publish(page, step)
                if page not in keys and step not in keys.values():
                    keys[page] = step
        elif tables:
            given = tables.pop(dice.randrange(len(tables)))
            pool.release(given)
            order = given[::-1] if reverse else given
            queue += [page for page in order if not any(page in table for table in tables)]
        check_all()


def test_a_page_that_is_found_again_and_again_leaves_nothing_behind():
    pool = BlockManager(4, 4)
    table = held(pool, 4)
    pool.publish(2, 70)
    pool.release(table)
    for _ in range(1000):
        pool.share([2])
        pool.release([2])
    assert len(pool._returned) <= 9
    assert pool.allocate(4) == [0, 1, 3, 2]
