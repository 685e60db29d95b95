"""Pages that prompts share and that outlive them: which are found, which are overwritten first."""

import pytest
from option_drive import replay_of, rows_of, told

CACHING = {"prefix_caching": True, "size": 2, "seqs": 3}
ONE_TWO = {"prefix": (1, 2)}


@pytest.mark.parametrize(
    ("prompt", "cached", "tokens", "table"),
    [
        (1, 0, 1, [3]),
        (2, 1, 1, [0, 3]),  # a full page, all of it cached: its last token is computed again on the shared page
        (3, 2, 1, [0, 3]),
        (4, 3, 1, [0, 1, 3]),
        (5, 4, 1, [0, 1, 3]),
        (6, 4, 2, [0, 1, 3, 4]),  # its third page is its own
    ],
)
def test_a_cached_prompt_of_one_page_and_one_token_less_and_more(prompt, cached, tokens, table):
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("b", 1, prompt, 1, ONE_TWO), pages=5, **CACHING)
    # a held 0, 1, 2, and gave them back from the end: the queue is 3, 4, 2, 1, 0.
    assert rows[0]["pages"] == {"a": [0, 1, 2]}
    found = {"b": cached} if cached else {}
    assert told(rows[1:], "cached", "tokens", "pages") == [(found, {"b": tokens}, {"b": table})]


def test_own_cached_pages_do_not_count_as_free():
    """b needs one page beside the two that it finds; two are free, and these are the two."""
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("c", 0, 1, 3), ("b", 1, 4, 1, ONE_TWO), pages=4, **CACHING)
    assert told(rows, "pages", "gate", "cached_free") == [
        ({"a": [0, 1, 2], "c": [3]}, None, 0),
        ({"c": [3, 2]}, "pages", 2),
        ({"c": [3, 2]}, "pages", 2),
        ({"b": [0, 1, 2]}, None, 1),
    ]
    assert rows[1]["waiting"] == ["b"] and not rows[1]["fragmented"]
    # One page more, and it passes at once.
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("c", 0, 1, 3), ("b", 1, 4, 1, ONE_TWO), pages=5, **CACHING)
    assert rows[1]["pages"] == {"c": [3, 4], "b": [0, 1, 2]}


def test_a_pool_of_nothing_but_its_own_cached_pages_and_one():
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("b", 1, 4, 1, ONE_TWO), pages=3, **CACHING)
    assert told(rows, "pages") == [{"a": [0, 1, 2]}, {"b": [0, 1, 2]}]


def test_the_end_of_a_prefix_is_overwritten_before_its_beginning():
    # x takes the two pages at the head of 2, 1, 0: the end of a's prefix is among them, its beginning is not.
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("x", 1, 2, 1), ("b", 2, 4, 1, ONE_TWO), pages=3, **CACHING)
    assert told(rows[1:], "pages", "cached") == [({"x": [2, 1]}, {}), ({"b": [0, 1, 2]}, {"b": 2})]


def test_running_requests_share_and_the_page_is_counted_once():
    rows = rows_of(("a", 0, 4, 3, ONE_TWO), ("b", 1, 5, 1, ONE_TWO), pages=9, **CACHING)
    assert rows[1]["pages"] == {"a": [0, 1, 2], "b": [0, 1, 3]}
    assert told(rows, "shared_pages", "pages_used", "wasted_slots") == [(0, 3, 1), (2, 4, 0), (0, 4, 1)]


def test_what_is_admitted_together_does_not_find_each_other_and_the_first_stays_known():
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("b", 0, 4, 1, ONE_TWO), ("c", 1, 4, 1, ONE_TWO), pages=8, **CACHING)
    assert rows[0]["pages"] == {"a": [0, 1, 2], "b": [3, 4, 5]}
    assert told(rows[1:], "pages", "cached") == [({"c": [0, 1, 6]}, {"c": 3})]


@pytest.mark.parametrize(
    ("prefix", "hits"), [((1, 2), 2), ((1, 3), 1), ((2, 2), 0), (("1", 2), 0), ((1,), 1), ((1, 2, 9), 2), ((), 0)]
)
def test_the_chain_must_be_the_same_from_the_front(prefix, hits):
    rows = rows_of(("a", 0, 4, 1, ONE_TWO), ("b", 1, 5, 1, {"prefix": prefix}), pages=9, **CACHING)
    assert rows[1]["cached"] == ({"b": 2 * hits} if hits else {})


def test_a_prefix_beyond_the_full_pages_of_its_prompt_is_ignored():
    # Both say 2 of their second page, which no prompt fills.
    rows = rows_of(("a", 0, 3, 2, ONE_TWO), ("b", 2, 4, 1, ONE_TWO), pages=9, **CACHING)
    assert rows[2]["cached"] == {"b": 2}


def test_a_victim_finds_its_own_pages_again():
    rows = rows_of(("a", 0, 2, 4), ("b", 0, 2, 4), pages=5, **CACHING)
    # Both hold two full pages and need a third. b, the newer, gives back 3 and 2, and waits for one beside them.
    assert told(rows, "pages", "preempted", "gate", "cached") == [
        ({"a": [0, 1], "b": [2, 3]}, [], None, {}),
        ({"a": [0, 1], "b": [2, 3]}, [], None, {}),
        ({"a": [0, 1, 4]}, ["b"], "pages", {}),
        ({"a": [0, 1, 4]}, [], "pages", {}),
        ({"b": [2, 3, 4]}, [], None, {"b": 3}),
        ({"b": [2, 3, 4]}, [], None, {}),
    ]
    assert [row["lost_tokens"] for row in rows] == [0, 0, 4, 0, 0, 0]


def test_pages_that_were_swapped_in_are_found_by_nobody():
    requests = [("a", 0, 3, 4), ("b", 0, 3, 4, {"prefix": (9,)}), ("c", 7, 3, 1, {"prefix": (9,)})]
    rows = rows_of(*requests, pages=4, preemption="swap", **CACHING)
    # a has overwritten b's pages by the time that b comes back; c comes when b is over.
    assert told(rows[:2], "pages", "swapped_out") == [
        ({"a": [0, 1], "b": [2, 3]}, {}),
        ({"a": [0, 1, 3]}, {"b": 2}),
    ]
    assert told(rows[4:], "pages", "cached") == [
        ({"b": [2, 3, 1]}, {}),
        ({"b": [2, 3, 1]}, {}),
        ({"b": [2, 3, 1, 0]}, {}),
        ({"c": [0, 1]}, {}),
    ]
    # Without a nobody is preempted, and b's first page is found.
    rows = rows_of(*requests[1:], pages=4, preemption="swap", **CACHING)
    assert [row["cached"] for row in rows if row["iteration"] == 8] == [{"c": 2}]


def test_prefill_that_is_found_is_not_counted():
    sharing = replay_of(("a", 0, 4, 1, ONE_TWO), ("b", 1, 6, 1, ONE_TWO), pages=9, **CACHING)["metrics"]["sharing"]
    assert (sharing["prefill_tokens"], sharing["cached_tokens"]) == (4 + 2, 4)
