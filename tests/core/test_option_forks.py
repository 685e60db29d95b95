"""Samples that share a prompt: tables, copies, seats, and who frees what last."""

import pytest
from option_drive import case_of, replay_of, rows_of, told
from option_strategies import replayed

from lab.errors import InputError

FORKS = {"size": 4, "fork_samples": True}
THREE = {"samples": 3}


@pytest.mark.parametrize(
    ("prompt", "pages", "tables", "copies"),
    [
        (3, 3, [[1], [2], [0]], 2),  # partly full: two copies, and the last writes in place
        (4, 4, [[0, 2], [0, 3], [0, 1]], 0),  # exactly full: each writes to a page of its own
        (5, 4, [[0, 2], [0, 3], [0, 1]], 2),
        (8, 5, [[0, 1, 3], [0, 1, 4], [0, 1, 2]], 0),
    ],
)
def test_copies_when_the_last_page_is_partly_full_and_none_when_it_is_full(prompt, pages, tables, copies):
    (row,) = rows_of(("a", 0, prompt, 1, THREE), seqs=3, pages=pages, **FORKS)
    assert row["pages"] == dict(zip(["a", "a#2", "a#3"], tables, strict=True))
    assert told([row], "copied_pages", "shared_pages", "pages_used") == [(copies, prompt // 4, pages)]
    assert row["emitted"] == row["running"] == row["completed"] == ["a", "a#2", "a#3"]
    assert row["tokens"] == {"a": prompt}
    assert row["forked"] == {"a": ["a#2", "a#3"]}


@pytest.mark.parametrize(("prompt", "pages"), [(3, 3), (4, 4), (5, 4)])
def test_a_pool_one_page_smaller_rejects(prompt, pages):
    replay = replay_of(("a", 0, prompt, 1, THREE), ("b", 0, 1, 1), seqs=3, pages=pages - 1, **FORKS)
    assert replay["metrics"]["rejected"] == [{"id": "a", "reason": "pages"}]


@pytest.mark.parametrize(("samples", "rejected"), [(2, []), (3, []), (4, [{"id": "a", "reason": "seats"}])])
def test_as_many_samples_as_seats_and_one_more(samples, rejected):
    replay = replay_of(("a", 0, 1, 1, {"samples": samples}), ("b", 0, 1, 1), seqs=3, pages=9, **FORKS)
    assert replay["metrics"]["rejected"] == rejected


def test_seats_are_kept_while_the_prompt_is_prefilled():
    rows = rows_of(
        ("x", 0, 1, 9), ("a", 0, 6, 1, THREE), ("b", 0, 1, 1), seqs=4, pages=20, budget=5, chunked=True, **FORKS
    )
    # a takes seat 1 and keeps 2 and 3, so b finds none until a has forked and is over.
    assert told(rows[:3], "admitted", "gate") == [(["x", "a"], "seats"), ([], "seats"), (["b"], None)]
    assert [seat and seat["id"] for seat in rows[1]["seats"]] == ["x", "a", "a#2", "a#3"]


def test_a_fork_waits_for_all_its_seats():
    rows = rows_of(("x", 0, 1, 2), ("a", 0, 1, 1, THREE), seqs=3, pages=9, **FORKS)
    assert told(rows, "admitted", "gate") == [(["x"], "seats"), ([], "seats"), (["a"], None)]
    rows = rows_of(("x", 0, 1, 2), ("a", 0, 1, 1, THREE), seqs=4, pages=9, **FORKS)
    assert told(rows, "admitted", "gate") == [(["x", "a"], None), ([], None)]


def test_a_fork_is_freed_child_first():
    rows = rows_of(("a", 0, 4, 6, {"samples": 2}), seqs=2, pages=4, **FORKS)
    assert rows[3]["pages"] == {"a": [0, 2], "a#2": [0, 1]}
    # The child is preempted: page 1 is free, and page 0 still its sister's.
    assert told(rows[4:6], "preempted", "pages", "gate") == [
        (["a#2"], {"a": [0, 2, 3]}, "pages"),
        ([], {"a": [0, 2, 3]}, "pages"),
    ]
    # It comes back alone, on pages in the order in which they were freed.
    assert told(rows[6:], "pages", "tokens", "completed") == [
        ({"a#2": [1, 0, 2]}, {"a#2": 8}, []),
        ({"a#2": [1, 0, 2]}, {"a#2": 1}, ["a#2"]),
    ]


def test_a_fork_is_freed_parent_first():
    """The budget leaves one decode an iteration, so the parent is ahead."""
    rows = rows_of(
        ("a", 0, 4, 3, {"samples": 2}),
        ("b", 1, 6, 1),
        ("c", 4, 11, 1),
        seqs=3,
        pages=8,
        budget=3,
        chunked=True,
        prefill_first=True,
        chunk_multiple=2,
        **FORKS,
    )
    assert told(rows[:6], "tokens", "completed") == [
        ({"a": 2}, []),
        ({"a": 2}, []),
        ({"b": 2, "a": 1}, []),
        ({"b": 2, "a": 1}, ["a"]),
        ({"b": 2, "a#2": 1}, ["b"]),
        ({"c": 2, "a#2": 1}, ["a#2"]),
    ]
    assert rows[2]["seats"][1] == {"id": "a#2", "state": "stalled"}
    assert told(rows[3:6], "pages", "shared_pages") == [
        ({"a": [0, 2], "a#2": [0, 1], "b": [3, 4]}, 1),
        ({"a#2": [0, 1], "b": [3, 4]}, 0),
        # Of a's pages only 2 was free, and it is at the end of the queue.
        ({"a#2": [0, 1], "c": [5, 6, 7]}, 0),
    ]


@pytest.mark.parametrize(("preemption", "chunks"), [("swap", [4, 1]), ("recompute", [4, 2])])
def test_a_fork_to_come_is_preempted_and_forks_when_it_is_back(preemption, chunks):
    rows = rows_of(
        ("x", 0, 3, 3),
        ("a", 0, 6, 1, {"samples": 2}),
        seqs=3,
        pages=4,
        budget=4,
        chunked=True,
        preemption=preemption,
        **FORKS,
    )
    # It comes back with all its three pages and both seats, though one page is all that it had stored.
    assert told(rows, "pages", "preempted", "gate") == [
        ({"x": [0], "a": [1, 2, 3]}, [], None),
        ({"x": [0, 1]}, ["a"], "pages"),
        ({"x": [0, 1]}, [], "pages"),
        ({"a": [2, 3, 0]}, [], None),
        ({"a": [2, 0], "a#2": [2, 3]}, [], None),
    ]
    assert [row["tokens"]["a"] for row in rows[3:]] == chunks
    if preemption == "swap":
        assert told(rows, "swapped_out", "host_pages") == [({}, 0), ({"a": 1}, 1), ({}, 1), ({}, 0), ({}, 0)]
    assert sum(row["lost_tokens"] for row in rows) == (0 if preemption == "swap" else 1)


def test_a_request_is_complete_with_its_last_sequence():
    replay = replay_of(("a", 0, 4, 6, {"samples": 2}), seqs=2, pages=4, **FORKS)
    assert replay["metrics"]["completed"] == 1
    assert replay["requests"] == {"a": {"start": 1, "finish": 8, "wait": 0, "latency": 8, "preemptions": 1}}
    assert replay["metrics"]["decoded_tokens"] == 12
    assert replay["metrics"]["sharing"]["forks"] == 1


def test_an_id_that_a_sequence_will_have_is_refused():
    case = case_of(("a", 0, 1, 1, {"samples": 2}), ("a#2", 0, 1, 1), seqs=2, pages=9, **FORKS)
    with pytest.raises(InputError, match="a#2"):
        replayed(case, "continuous")
