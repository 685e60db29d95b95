"""Pages for what is stored now, for the final length, and slabs: at the bound, one under, one over."""

import pytest
from option_drive import replay_of, rows_of, told

FOUR = {"seqs": 1, "size": 4, "figures": True}


@pytest.mark.parametrize(
    ("prompt", "tables"),
    [
        (3, [[0], [0, 1], [0, 1]]),  # its first token fills the page; the next needs another
        (4, [[0, 1], [0, 1], [0, 1]]),  # fills the page before its first token is stored
        (5, [[0, 1], [0, 1], [0, 1]]),
        (6, [[0, 1], [0, 1], [0, 1, 2]]),
        (7, [[0, 1], [0, 1, 2], [0, 1, 2]]),
    ],
)
def test_a_prompt_that_fills_a_page_before_or_after_its_token_is_appended(prompt, tables):
    rows = rows_of(("a", 0, prompt, 3), pages=3, **FOUR)
    assert [row["pages"]["a"] for row in rows] == tables
    assert [row["kv"]["a"] for row in rows] == [prompt + 1, prompt + 2, prompt + 3]


@pytest.mark.parametrize(
    ("prompt", "pages", "reason"), [(3, 1, None), (4, 1, "pages"), (4, 2, None), (7, 2, None), (8, 2, "pages")]
)
def test_the_smallest_pool_that_one_token_more_fits(prompt, pages, reason):
    replay = replay_of(("a", 0, prompt, 1), pages=pages, **FOUR)
    assert replay["metrics"]["rejected"] == ([{"id": "a", "reason": reason}] if reason else [])


@pytest.mark.parametrize(
    ("output", "table"), [(1, [0]), (2, [0, 1]), (5, [0, 1]), (6, [0, 1, 2])]
)  # 4, 5, 8 and 9 tokens in the end
def test_final_length_takes_all_at_admission(output, table):
    rows = rows_of(("a", 0, 3, output), pages=3, allocation="final-length", **FOUR)
    assert [row["pages"]["a"] for row in rows] == [table] * output
    assert told(rows, "reserved_slots") == [output - 1 - n for n in range(output)]
    assert {row["internal_slots"] for row in rows} == {len(table) * 4 - 3 - output}


def test_final_length_waits_where_on_demand_preempts():
    two = [("a", 0, 2, 3), ("b", 0, 2, 3)]
    engine = {"seqs": 2, "pages": 3, "size": 4, "figures": True}
    assert told(rows_of(*two, **engine), "preempted") == [[], [], ["b"], []]
    rows = rows_of(*two, allocation="final-length", **engine)
    assert told(rows, "running", "gate") == [(["a"], "pages")] * 3 + [(["b"], None)] * 3
    # One page more, and both run beside each other.
    rows = rows_of(*two, allocation="final-length", **{**engine, "pages": 4})
    assert [row["pages"] for row in rows] == [{"a": [0, 1], "b": [2, 3]}] * 3


HOLES = [("a", 0, 1, 2), ("b", 0, 1, 4), ("c", 0, 1, 2)]  # of 3, 5 and 3 slots
SLABS = {"seqs": 4, "pages": 11, "size": 1, "allocation": "slab"}


def test_slabs_fragment_although_enough_pages_are_free():
    rows = rows_of(*HOLES, ("d", 1, 2, 2), **SLABS)
    assert rows[0]["pages"] == {"a": [0, 1, 2], "b": [3, 4, 5, 6, 7], "c": [8, 9, 10]}
    # a and c are over: six pages are free, and no four of them stand together.
    assert told(rows, "gate", "fragmented", "external_slots") == [
        (None, False, 0),
        ("pages", False, 0),
        ("pages", True, 3),
        ("pages", True, 3),
        (None, False, 0),
        (None, False, 0),
    ]
    # b is released between two free neighbours: one run again.
    assert rows[4]["pages"] == {"d": [0, 1, 2, 3]}


@pytest.mark.parametrize(("output", "table"), [(1, [0, 1]), (2, [0, 1, 2]), (3, None)])
def test_the_lowest_run_that_is_long_enough(output, table):
    rows = rows_of(*HOLES, ("d", 2, 1, output), **SLABS)
    assert rows[2]["pages"].get("d") == table
    assert rows[2]["fragmented"] == (table is None)


def test_a_lower_run_that_is_too_short_is_passed_over():
    rows = rows_of(
        ("a", 0, 1, 1), ("b", 0, 1, 9), ("c", 0, 1, 2), ("d", 0, 1, 9), ("e", 2, 1, 2), **{**SLABS, "pages": 25}
    )
    assert rows[0]["pages"]["c"] == [12, 13, 14]
    assert rows[2]["pages"]["e"] == [12, 13, 14]


@pytest.mark.parametrize(("output", "reason"), [(4, None), (5, None), (6, "length")])
def test_a_request_as_long_as_its_slab_and_one_longer(output, reason):
    engine = {"seqs": 1, "pages": 4, "size": 2, "allocation": "slab", "slab_tokens": 7}
    replay = replay_of(("a", 0, 2, output), ("b", 0, 2, 5), **engine)
    assert replay["metrics"]["rejected"] == ([{"id": "a", "reason": reason}] if reason else [])
    assert replay["rows"][-1]["pages"] == {"b": [0, 1, 2, 3]}


@pytest.mark.parametrize(("tokens", "reasons"), [(6, []), (7, ["pages", "pages"])])
def test_a_slab_as_large_as_the_pool_and_one_larger(tokens, reasons):
    engine = {"seqs": 1, "pages": 3, "size": 2, "allocation": "slab", "slab_tokens": tokens}
    replay = replay_of(("a", 0, 1, 1), ("b", 0, 1, 1), **engine)
    assert [row["reason"] for row in replay["metrics"]["rejected"]] == reasons


def test_reserved_internal_and_external_waste_of_a_slab():
    row = rows_of(("a", 0, 2, 3), seqs=1, pages=9, size=4, allocation="slab", slab_tokens=16)[0]
    # 16 slots held: 3 stored, 2 to come, 11 never used.
    assert told([row], "reserved_slots", "internal_slots", "external_slots", "wasted_slots") == [(2, 11, 0, 13)]


@pytest.mark.parametrize("options", [{"allocation": "final-length"}, {"allocation": "slab"}, {"prefix_caching": True}])
def test_a_pool_smaller_than_one_request_among_larger_ones(options):
    three = [("a", 0, 2, 2), ("big", 0, 6, 3), ("c", 0, 2, 2)]
    replay = replay_of(*three, seqs=3, pages=4, size=2, **options)
    assert replay["metrics"]["rejected"] == [{"id": "big", "reason": "pages"}]
    assert replay["metrics"]["completed"] == 2
    replay = replay_of(*three, seqs=3, pages=5, size=2, **options)
    assert replay["metrics"]["completed"] == 3
