"""Clients that leave in each state, twice, and after the end; honoured and ignored."""

import pytest
from option_drive import replay_of, rows_of, told

HONOURED = {"cancellation": "honoured", "size": 2}
BOTH = pytest.mark.parametrize("cancellation", ["honoured", "ignored"])


def test_a_request_that_waits_and_never_ran():
    rows = rows_of(("a", 0, 2, 4), ("b", 0, 2, 2, {"cancel_at": 2}), ("c", 0, 2, 1), seqs=1, pages=3, **HONOURED)
    assert told(rows, "waiting", "cancelled", "left") == [
        (["b", "c"], [], []),
        (["b", "c"], [], []),
        (["c"], ["b"], ["b"]),
        (["c"], [], []),
        ([], [], []),
    ]


def test_a_request_that_leaves_as_it_arrives():
    replay = replay_of(("b", 3, 2, 2, {"cancel_at": 3}), seqs=1, pages=3, **HONOURED)
    idle, row = replay["rows"]
    assert idle == {"idle": [1, 3]}
    # It arrives and is gone: an iteration in which nothing runs.
    assert told([row], "iteration", "arrived", "cancelled", "tokens", "running") == [(4, ["b"], ["b"], {}, [])]
    assert replay["requests"] == {} and replay["metrics"]["iterations"] == 0
    assert replay["metrics"]["cancellation"]["cancelled"] == 1


def test_a_decoding_request_frees_seat_and_pages_at_once():
    rows = rows_of(("a", 0, 4, 9, {"cancel_at": 2}), ("b", 0, 1, 1), seqs=1, pages=7, **HONOURED)
    assert told(rows, "pages", "cancelled", "released", "admitted") == [
        ({"a": [0, 1, 2]}, [], [], ["a"]),
        ({"a": [0, 1, 2]}, [], [], []),
        ({"b": [3]}, ["a"], ["b"], ["b"]),
    ]


def test_a_prefilling_request():
    rows = rows_of(
        ("a", 0, 6, 2, {"cancel_at": 1}), ("b", 0, 1, 1), seqs=1, pages=4, budget=2, chunked=True, **HONOURED
    )
    assert told(rows, "tokens", "pages", "cancelled") == [
        ({"a": 2}, {"a": [0, 1, 2, 3]}, []),
        ({"b": 1}, {"b": [0]}, ["a"]),
    ]


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_a_preempted_request_waiting_or_swapped_out(preemption):
    rows = rows_of(
        ("a", 0, 3, 5),
        ("b", 0, 3, 4, {"cancel_at": 3}),
        ("c", 0, 1, 1),
        seqs=2,
        pages=4,
        preemption=preemption,
        **HONOURED,
    )
    assert told(rows[1:4], "preempted", "waiting", "cancelled", "admitted") == [
        (["b"], ["b", "c"], [], []),
        ([], ["b", "c"], [], []),
        ([], ["c"], ["b"], []),
    ]
    if preemption == "swap":
        assert told(rows[1:4], "host_pages") == [2, 2, 0]


def test_after_so_many_tokens_it_is_released_with_those_that_finish_in_admission_order():
    three = [("a", 0, 1, 2), ("b", 0, 1, 9, {"cancel_after_tokens": 2}), ("c", 0, 1, 2)]
    rows = rows_of(*three, ("d", 2, 1, 3), seqs=3, pages=12, **HONOURED)
    assert told(rows[:3], "completed", "cancelled", "released", "pages") == [
        ([], [], [], {"a": [0], "b": [1], "c": [2]}),
        (["a", "c"], ["b"], ["a", "b", "c"], {"a": [0, 3], "b": [1, 4], "c": [2, 5]}),
        ([], [], [], {"d": [6]}),
    ]


def test_several_that_leave_at_one_end_do_so_in_admission_order():
    """b has less on its counter than a, whose client was served before, and is admitted first."""
    requests = [
        ("x", 0, 1, 1, {"client": "A"}),
        ("y", 0, 1, 1, {"client": "B"}),
        ("a", 1, 1, 9, {"client": "A", "cancel_after_tokens": 1}),
        ("b", 1, 1, 9, {"client": "B", "cancel_after_tokens": 1}),
    ]
    rows = rows_of(*requests, seqs=3, pages=12, admission="vtc", input_weight=2, **HONOURED)
    assert told(rows, "admitted", "cancelled")[-1] == (["a", "b"], ["a", "b"])
    requests[0] = ("x", 0, 2, 1, {"client": "A"})
    requests.insert(2, ("z", 1, 1, 1, {"client": "C"}))
    rows = rows_of(*requests, seqs=3, pages=12, admission="vtc", **HONOURED)
    assert told(rows, "admitted", "cancelled", "released")[1] == (["z", "b", "a"], ["b", "a"], ["z", "b", "a"])


@BOTH
@pytest.mark.parametrize(("after", "left"), [(2, ["a"]), (3, []), (4, [])])
def test_before_at_and_after_its_last_token(after, left, cancellation):
    engine = {"seqs": 1, "pages": 3, "size": 2, "cancellation": cancellation}
    replay = replay_of(("a", 0, 1, 3, {"cancel_after_tokens": after}), **engine)
    assert [name for row in replay["rows"] for name in row["left"]] == left
    ended = bool(left) and cancellation == "honoured"
    assert replay["metrics"]["completed"] == (0 if ended else 1)
    assert replay["metrics"]["decoded_tokens"] == (2 if ended else 3)


@BOTH
def test_twice_and_after_its_end(cancellation):
    two = [
        ("a", 0, 1, 6, {"cancel_after_tokens": 1, "cancel_at": 2}),
        ("b", 0, 1, 1, {"cancel_at": 2}),
        ("c", 0, 1, 6),
    ]
    rows = rows_of(*two, seqs=3, pages=12, size=2, cancellation=cancellation)
    assert told(rows, "left") == [["a"], [], [], [], [], []]
    assert told(rows, "cancelled")[0] == (["a"] if cancellation == "honoured" else [])


@pytest.mark.parametrize(
    ("at", "after", "tokens"), [(1, 9, 1), (2, 2, 2), (3, 2, 2), (9, 1, 1)]
)  # whichever comes first
def test_whichever_comes_first_counts(at, after, tokens):
    request = ("a", 0, 1, 8, {"cancel_at": at, "cancel_after_tokens": after})
    assert replay_of(request, seqs=1, pages=9, **HONOURED)["metrics"]["decoded_tokens"] == tokens


def test_several_that_leave_at_one_start_free_their_pages_in_order_of_arrival():
    rows = rows_of(
        ("a", 0, 2, 9, {"cancel_at": 1}),
        ("b", 0, 2, 9, {"cancel_at": 1}),
        ("c", 1, 7, 1),
        seqs=2,
        pages=6,
        **HONOURED,
    )
    assert told(rows, "pages", "cancelled") == [
        ({"a": [0, 1], "b": [2, 3]}, []),
        ({"c": [4, 5, 0, 1]}, ["a", "b"]),
    ]


@pytest.mark.parametrize(("at", "after"), [(2, None), (None, 2)])
def test_all_samples_end_wherever_they_are(at, after):
    fields = {"samples": 2, "cancel_at": at, "cancel_after_tokens": after}
    rows = rows_of(("a", 0, 4, 9, fields), ("b", 0, 1, 1), seqs=2, pages=9, fork_samples=True, **HONOURED)
    assert [row["cancelled"] for row in rows] == ([[], [], ["a"]] if at else [[], ["a"], []])
    assert rows[1]["released"] == ([] if at else ["a", "a#2"])
    # a held 0, 1, 2 | 3: shared pages are free when the last has let go of them.
    assert rows[2]["running"] == ["b"]


def test_under_static_a_cancelled_member_leaves_the_batch_and_the_finished_stay():
    two = [("a", 0, 1, 1), ("b", 0, 1, 9, {"cancel_after_tokens": 2}), ("c", 0, 1, 4), ("d", 0, 1, 1)]
    rows = rows_of(*two, policy="static", seqs=3, pages=9, **HONOURED)
    assert told(rows, "pages", "released", "cancelled", "gate") == [
        ({"a": [0], "b": [1], "c": [2]}, [], [], "batch"),
        ({"a": [0], "b": [1, 3], "c": [2, 4]}, ["b"], ["b"], "batch"),
        ({"a": [0], "c": [2, 4]}, [], [], "batch"),
        ({"a": [0], "c": [2, 4, 5]}, ["a", "c"], [], "batch"),
        ({"d": [6]}, ["d"], [], None),
    ]


def test_under_static_a_batch_of_finished_members_alone_is_released_at_the_end_of_that_iteration():
    two = [("a", 0, 1, 1), ("b", 0, 1, 9, {"cancel_at": 2}), ("d", 0, 1, 1)]
    rows = rows_of(*two, policy="static", seqs=2, pages=9, **HONOURED)
    assert told(rows, "tokens", "released", "cancelled", "waiting") == [
        ({"a": 1, "b": 1}, [], [], ["d"]),
        ({"b": 1}, [], [], ["d"]),
        ({}, ["a"], ["b"], ["d"]),
        ({"d": 1}, ["d"], [], []),
    ]


def test_under_static_the_batch_is_released_with_the_last_that_is_cancelled():
    two = [("a", 0, 1, 1), ("b", 0, 1, 9, {"cancel_after_tokens": 2}), ("d", 0, 1, 1)]
    rows = rows_of(*two, policy="static", seqs=2, pages=9, **HONOURED)
    assert told(rows, "released", "cancelled", "running") == [
        ([], [], ["a", "b"]),
        (["a", "b"], ["b"], ["b"]),
        (["d"], [], ["d"]),
    ]


def test_what_is_wasted_when_it_is_ignored():
    request = ("a", 0, 4, 10, {"cancel_after_tokens": 3})
    engine = {"seqs": 1, "pages": 7, "size": 2, "kv_bytes_per_token": 100}
    ignored = replay_of(request, cancellation="ignored", **engine)["metrics"]
    assert ignored["cancellation"] == {
        "cancelled": 0,
        "left": 1,
        "wasted_tokens": 7,
        "wasted_kv_tokens_peak": 14,
        "wasted_kv_bytes_peak": 1400,
    }
    honoured = replay_of(request, cancellation="honoured", **engine)["metrics"]
    assert honoured["decoded_tokens"] == 3 and honoured["completed"] == 0
    assert honoured["cancellation"]["wasted_tokens"] == 0
