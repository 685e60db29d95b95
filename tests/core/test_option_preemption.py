"""Who is preempted, what it loses, what host memory holds: at each bound, one under, one over."""

import pytest
from option_drive import replay_of, rows_of, told

from lab.victims import VICTIMS

ON = {"size": 1, "figures": True}


def test_a_victim_that_had_just_been_admitted():
    rows = rows_of(("a", 0, 1, 6), ("b", 2, 1, 2), seqs=2, pages=7, **ON)
    assert told(rows[1:6], "pages", "admitted", "preempted", "waiting") == [
        ({"a": [0, 1, 2]}, [], [], []),
        ({"a": [0, 1, 2, 3], "b": [4, 5]}, ["b"], [], []),
        ({"a": [0, 1, 2, 3, 6]}, [], ["b"], ["b"]),
        ({"a": [0, 1, 2, 3, 6, 4]}, [], [], ["b"]),
        ({"a": [0, 1, 2, 3, 6, 4, 5]}, [], [], ["b"]),
    ]
    # 1 prompt token and the one that it had generated were stored.
    assert [row["lost_tokens"] for row in rows[3:5]] == [2, 0]
    assert told(rows[6:], "pages", "tokens") == [({"b": [0, 1, 2]}, {"b": 2})]


def test_one_page_more_and_nobody_is_preempted_then():
    rows = rows_of(("a", 0, 1, 6), ("b", 2, 1, 2), seqs=2, pages=8, **ON)
    assert not any(row["preempted"] for row in rows)


def test_several_victims_in_one_iteration_newest_first():
    rows = rows_of(*[(name, 0, 1, 4) for name in "abcd"], seqs=4, pages=4, size=2, figures=True)
    # Each holds a full page and needs one more: d's goes to a, c's to b, and then nobody is left to ask.
    assert told(rows[:2], "pages", "preempted", "waiting") == [
        ({"a": [0], "b": [1], "c": [2], "d": [3]}, [], []),
        ({"a": [0, 3], "b": [1, 2]}, ["d", "c"], ["c", "d"]),
    ]
    assert rows[1]["lost_tokens"] == 2 + 2


def test_a_preempted_request_longer_than_the_budget():
    rows = rows_of(("a", 0, 3, 4), ("b", 0, 3, 3), seqs=2, pages=3, size=4, budget=2, chunked=True, figures=True)
    # b has generated one token when it has to give way, and prefills 4 with a budget of 2: in two chunks.
    assert told(rows[3:], "pages", "tokens", "emitted", "preempted") == [
        ({"a": [0, 2], "b": [1]}, {"a": 1, "b": 1}, ["a", "b"], []),
        ({"a": [0, 2]}, {"a": 1}, ["a"], ["b"]),
        ({"b": [1, 0]}, {"b": 2}, [], []),
        ({"b": [1, 0]}, {"b": 2}, ["b"], []),
        ({"b": [1, 0]}, {"b": 1}, ["b"], []),
    ]
    assert rows[4]["lost_tokens"] == 4


@pytest.mark.parametrize(("budget", "rejected"), [(4, ["b"]), (5, [])])
def test_without_chunks_a_request_that_could_come_back_too_long_is_rejected_at_once(budget, rejected):
    replay = replay_of(("a", 0, 1, 2), ("b", 0, 2, 4), seqs=2, pages=9, size=2, budget=budget, preemption="swap")
    assert [row["id"] for row in replay["metrics"]["rejected"]] == rejected


# a needs a third page in iteration 3; b then holds two full pages, and is in its way.
TWO = [("a", 0, 3, 4), ("b", 0, 3, 4)]
SWAP = {"seqs": 2, "pages": 4, "size": 2, "preemption": "swap"}


def test_swapped_out_and_in_again_without_losing_a_token():
    rows = rows_of(*TWO, **SWAP)
    assert told(rows, "pages", "tokens") == [
        ({"a": [0, 1], "b": [2, 3]}, {"a": 3, "b": 3}),
        ({"a": [0, 1, 2]}, {"a": 1}),
        ({"a": [0, 1, 2]}, {"a": 1}),
        ({"a": [0, 1, 2, 3]}, {"a": 1}),
        ({"b": [0, 1, 2]}, {"b": 1}),
        ({"b": [0, 1, 2]}, {"b": 1}),
        ({"b": [0, 1, 2, 3]}, {"b": 1}),
    ]
    assert told(rows, "swapped_out", "swapped_in", "host_pages", "lost_tokens") == [
        ({}, {}, 0, 0),
        ({"b": 2}, {}, 2, 0),
        ({}, {}, 2, 0),
        ({}, {}, 2, 0),
        ({}, {"b": 2}, 0, 0),
        ({}, {}, 0, 0),
        ({}, {}, 0, 0),
    ]
    assert rows[4]["admitted"] == ["b"]
    assert rows[4]["seats"][0] == {"id": "b", "state": "decode"}


@pytest.mark.parametrize(
    ("option", "pages", "swapped"),
    [
        ("swap_pages", 0, False),
        ("swap_pages", 1, False),
        ("swap_pages", 2, True),
        ("swap_pages", 3, True),
        ("swap_pages_per_step", 1, False),
        ("swap_pages_per_step", 2, True),
    ],
)
def test_full_host_memory_falls_back_to_recompute(option, pages, swapped):
    replay = replay_of(*TWO, **SWAP, **{option: pages})
    row = next(row for row in replay["rows"] if row["preempted"])
    assert told([row], "swapped_out", "host_pages", "lost_tokens") == [({"b": 2}, 2, 0) if swapped else ({}, 0, 4)]
    back = [row for row in replay["rows"] if "b" in row["admitted"]][1]
    assert back["tokens"] == ({"b": 1} if swapped else {"b": 4})
    assert replay["metrics"]["preemption"]["recomputed"] == (0 if swapped else 1)


THREE = [(name, 0, 1, 3) for name in "abc"]


@pytest.mark.parametrize(
    ("options", "out", "lost"),
    [
        ({"swap_pages": 0}, {}, 4),
        ({"swap_pages": 1}, {"c": 1}, 2),  # c's page fills host memory, so b is computed again
        ({"swap_pages": 2}, {"c": 1, "b": 1}, 0),
        ({"swap_pages_per_step": 1}, {"c": 1}, 2),
        ({"swap_pages_per_step": 2}, {"c": 1, "b": 1}, 0),
    ],
)
def test_the_second_victim_of_an_iteration_finds_host_memory_full(options, out, lost):
    row = rows_of(*THREE, seqs=3, pages=3, size=2, preemption="swap", **options)[1]
    assert told([row], "preempted", "swapped_out", "lost_tokens") == [(["c", "b"], out, lost)]


@pytest.mark.parametrize(
    ("a_step", "pages", "gates"),
    [
        (1, [{"b": [1, 0]}, {"b": [1, 0], "c": [2]}], ["swap", None]),
        (2, [{"b": [1, 0], "c": [2]}, {"b": [1, 0], "c": [2]}], [None, None]),
    ],
)
def test_no_more_is_swapped_in_than_a_step_may_move(a_step, pages, gates):
    """b and c, a page each, were swapped out in two iterations, and could come back in one."""
    rows = rows_of(
        ("a", 0, 7, 6),
        ("b", 0, 4, 6),
        ("c", 0, 4, 3),
        seqs=3,
        pages=3,
        size=8,
        preemption="swap",
        swap_pages_per_step=a_step,
    )
    assert told(rows, "swapped_out")[:6] == [{}, {"c": 1}, {}, {}, {"b": 1}, {}]
    assert told(rows, "host_pages")[:6] == [0, 1, 1, 1, 2, 2]
    assert told(rows[6:8], "pages", "gate") == list(zip(pages, gates, strict=True))


def test_largest_takes_the_one_with_most_tokens_and_newest_the_last():
    three = [("a", 0, 1, 9), ("b", 0, 6, 3), ("c", 0, 1, 9)]
    engine = {"seqs": 3, "pages": 6, "size": 2}
    newest = rows_of(*three, **engine, figures=True)
    largest = rows_of(*three, **engine, victim="largest")
    assert told(newest[:2], "pages", "preempted") == [
        ({"a": [0], "b": [1, 2, 3, 4], "c": [5]}, []),
        ({"a": [0, 5], "b": [1, 2, 3, 4]}, ["c"]),
    ]
    assert told(largest[:2], "pages", "preempted") == [
        ({"a": [0], "b": [1, 2, 3, 4], "c": [5]}, []),
        ({"a": [0, 1], "c": [5, 2]}, ["b"]),
    ]
    assert (newest[1]["lost_tokens"], largest[1]["lost_tokens"]) == (2, 7)


def test_the_largest_is_not_taken_once_it_is_scheduled():
    """a, with more tokens, has been given its turn when b needs a page: b gives way itself."""
    rows = rows_of(("a", 0, 4, 3), ("b", 0, 1, 3), seqs=2, pages=4, size=2, victim="largest")
    assert told(rows[:2], "pages", "preempted", "tokens") == [
        ({"a": [0, 1, 2], "b": [3]}, [], {"a": 4, "b": 1}),
        ({"a": [0, 1, 2]}, ["b"], {"a": 1}),
    ]


def test_of_equals_the_largest_is_the_newest():
    rows = rows_of(*[(name, 0, 1, 4) for name in "abc"], seqs=3, pages=3, size=2, victim="largest")
    assert told(rows[1:2], "pages", "preempted") == [({"a": [0, 2]}, ["c", "b"])]


def test_victims_wait_in_order_whoever_was_first():
    """Under largest the older b is preempted after the younger c, and still waits in front of it."""
    rows = rows_of(
        ("a", 0, 1, 12), ("b", 0, 2, 12), ("c", 0, 6, 12), ("d", 0, 1, 1), seqs=3, pages=9, size=2, victim="largest"
    )
    assert [(n + 1, row["preempted"]) for n, row in enumerate(rows) if row["preempted"]] == [(3, ["c"]), (8, ["b"])]
    assert (rows[2]["waiting"], rows[7]["waiting"]) == (["c", "d"], ["b", "c", "d"])


@pytest.mark.parametrize("victim", ["newest", "largest"])
def test_candidates_are_looked_for_once_an_iteration_however_many_victims_it_has(monkeypatch, victim):
    calls = []
    find = VICTIMS[victim]
    monkeypatch.setitem(VICTIMS, victim, lambda residents: calls.append(1) or find(residents))
    rows = rows_of(*[(f"r{i}", 0, 3, 6) for i in range(40)], size=4, seqs=40, pages=42, victim=victim)
    preempted = [len(row["preempted"]) for row in rows]
    assert max(preempted) > 10 and len(calls) == sum(count > 0 for count in preempted)
