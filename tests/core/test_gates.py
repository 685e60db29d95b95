"""Admission: each gate at its bound, one under and one over, and the order in which they are asked."""

import pytest
from drive import busy_of

A = ("a", 0, 3, 2)  # 3 prompt tokens and its first token fill one page of 4


def first(policy, *specs, **limits):
    row = busy_of(policy, *specs, **limits)[1]
    return row["admitted"], row["waiting"], row["gate"]


def named(policy, expected):
    """Under static, whichever gate ended the filling, the batch is then resident and is the reason on record."""
    admitted, waiting, gate = expected
    return admitted, waiting, "batch" if gate and policy == "static" else gate


@pytest.mark.parametrize("policy", ["static", "continuous"])
@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        (1, (["a"], ["b"], "seats")),
        (2, (["a", "b"], [], None)),
        (3, (["a", "b"], [], None)),
    ],
)
def test_seats(policy, seats, expected):
    got = first(policy, A, ("b", 0, 3, 2), max_num_seqs=seats, num_pages=9, page_size=4)
    assert got == named(policy, expected)


@pytest.mark.parametrize("policy", ["static", "continuous"])
@pytest.mark.parametrize(
    ("prompt", "pages", "expected"),
    [
        (3, 3, (["a", "b"], [], None)),  # 3 + 1 tokens: one page, two are free
        (7, 3, (["a", "b"], [], None)),  # 7 + 1 tokens: two pages, two are free
        (8, 3, (["a"], ["b"], "pages")),  # 8 + 1 tokens: three pages, though the prompt alone fits in two
        (8, 4, (["a", "b"], [], None)),
    ],
)
def test_pages_for_the_prefill_and_one_token(policy, prompt, pages, expected):
    got = first(policy, A, ("b", 0, prompt, 1), max_num_seqs=2, num_pages=pages, page_size=4)
    assert got == named(policy, expected)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (2, (["a", "b"], [], None)),
        (3, (["a", "b"], [], None)),  # a prefills 3 of the budget of 6, so 3 are left
        (4, (["a"], ["b"], "tokens")),
    ],
)
def test_tokens_without_chunked_prefill_need_the_whole_prefill(prompt, expected):
    limits = {"max_num_seqs": 2, "num_pages": 9, "page_size": 4, "max_num_batched_tokens": 6}
    assert first("continuous", A, ("b", 0, prompt, 1), **limits) == expected


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (3, (["a"], ["b"], "tokens")),  # nothing is left after a
        (4, (["a", "b"], [], None)),  # one token is
    ],
)
def test_tokens_with_chunked_prefill_need_one_token(budget, expected):
    limits = {"max_num_seqs": 2, "num_pages": 9, "page_size": 4, "max_num_batched_tokens": budget}
    assert first("continuous", A, ("b", 0, 8, 1), chunked_prefill=True, **limits) == expected


def test_a_decode_takes_one_token_of_the_budget():
    limits = {"max_num_seqs": 2, "num_pages": 9, "page_size": 4, "max_num_batched_tokens": 6}
    b_fits = busy_of("continuous", A, ("b", 1, 5, 1), **limits)[2]
    assert (b_fits["tokens"], b_fits["gate"]) == ({"a": 1, "b": 5}, None)
    b_waits = busy_of("continuous", A, ("b", 1, 6, 1), **limits)
    assert (b_waits[2]["tokens"], b_waits[2]["gate"]) == ({"a": 1}, "tokens")
    assert b_waits[3]["tokens"] == {"b": 6}


def test_static_ignores_the_budget():
    limits = {"max_num_seqs": 2, "num_pages": 9, "page_size": 4, "max_num_batched_tokens": 3}
    row = busy_of("static", A, ("b", 0, 8, 1), **limits)[1]
    assert (row["tokens"], row["emitted"]) == ({"a": 3, "b": 8}, ["a", "b"])


def test_static_ignores_chunked_prefill_too():
    limits = {"max_num_seqs": 2, "num_pages": 9, "page_size": 4, "max_num_batched_tokens": 3}
    row = busy_of("static", A, ("b", 0, 8, 1), chunked_prefill=True, **limits)[1]
    assert (row["tokens"], row["emitted"]) == ({"a": 3, "b": 8}, ["a", "b"])


def test_chunked_prefill_changes_nothing_without_a_budget():
    specs = [A, ("b", 0, 8, 1)]
    limits = {"max_num_seqs": 2, "num_pages": 9, "page_size": 4}
    plain = busy_of("continuous", *specs, **limits)
    assert busy_of("continuous", *specs, chunked_prefill=True, **limits) == plain


BLOCKED = [A, ("b", 0, 4, 1)]  # b needs a second seat, 4 tokens and 2 pages


@pytest.mark.parametrize(
    ("limits", "gate"),
    [
        ({"max_num_seqs": 1, "num_pages": 2, "max_num_batched_tokens": 4}, "seats"),  # all three are short
        ({"max_num_seqs": 2, "num_pages": 2, "max_num_batched_tokens": 4}, "tokens"),  # tokens and pages are
        ({"max_num_seqs": 2, "num_pages": 2, "max_num_batched_tokens": 7}, "pages"),
        ({"max_num_seqs": 2, "num_pages": 3, "max_num_batched_tokens": 7}, None),
    ],
)
def test_gates_are_asked_in_order(limits, gate):
    assert busy_of("continuous", *BLOCKED, page_size=4, **limits)[1]["gate"] == gate


def test_nobody_overtakes_a_head_that_does_not_fit():
    rows = busy_of("continuous", A, ("big", 0, 8, 1), ("small", 0, 1, 1), max_num_seqs=3, num_pages=3, page_size=4)
    assert (rows[1]["admitted"], rows[1]["waiting"], rows[1]["gate"]) == (["a"], ["big", "small"], "pages")
    assert rows[3]["admitted"] == ["big"]


def test_a_seat_given_back_is_free_in_the_next_iteration():
    rows = busy_of("continuous", ("a", 0, 1, 1), ("b", 0, 1, 1), max_num_seqs=1, num_pages=2, page_size=4)
    assert (rows[1]["completed"], rows[1]["released"], rows[1]["waiting"]) == (["a"], ["a"], ["b"])
    assert rows[2]["admitted"] == ["b"]


def test_the_lowest_free_seat_is_taken():
    specs = [("a", 0, 1, 3), ("b", 0, 1, 1), ("c", 0, 1, 1), ("d", 1, 1, 1)]
    rows = busy_of("continuous", *specs, max_num_seqs=4, num_pages=9, page_size=4)
    assert [seat and seat["id"] for seat in rows[1]["seats"]] == ["a", "b", "c", None]
    assert [seat and seat["id"] for seat in rows[2]["seats"]] == ["a", "d", None, None]


def test_gate_is_none_when_nobody_waits():
    rows = busy_of("continuous", A, max_num_seqs=1, num_pages=2, page_size=4)
    assert [row["gate"] for row in rows.values()] == [None, None]
