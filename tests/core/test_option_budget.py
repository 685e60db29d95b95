"""Who takes from the token budget first, and chunks that are rounded down."""

import pytest
from option_drive import case_of, replay_of, rows_of, told
from option_strategies import replayed

from lab.errors import InputError

TWO = [("a", 0, 1, 4), ("b", 1, 6, 1)]
FOUR = {"seqs": 2, "pages": 20, "size": 2, "budget": 4, "chunked": True}


def test_decodes_first_or_prompts_first():
    assert told(rows_of(*TWO, **FOUR), "tokens") == [{"a": 1}, {"a": 1, "b": 3}, {"a": 1, "b": 3}, {"a": 1}]
    rows = rows_of(*TWO, **FOUR, prefill_first=True)
    assert told(rows, "tokens") == [{"a": 1}, {"b": 4}, {"b": 2, "a": 1}, {"a": 1}, {"a": 1}]
    assert rows[1]["seats"] == [{"id": "a", "state": "stalled"}, {"id": "b", "state": "prefill"}]
    # It was given the page of its next token all the same, and keeps it.
    assert [row["pages"]["a"] for row in rows] == [[0], [0, 1], [0, 1], [0, 1], [0, 1, 6]]
    assert rows[1]["kv"]["a"] == 2


@pytest.mark.parametrize(("prompt", "tokens"), [(2, {"c": 2, "a": 1}), (1, {"c": 1, "a": 1, "b": 1})])
def test_the_last_of_the_budget_goes_to_the_oldest_decode(prompt, tokens):
    three = [("a", 0, 1, 9), ("b", 0, 1, 9), ("c", 1, prompt, 1)]
    rows = rows_of(*three, **{**FOUR, "seqs": 3, "pages": 30, "budget": 3}, prefill_first=True)
    assert rows[1]["tokens"] == tokens


def test_prompts_first_changes_nothing_under_static_or_without_a_budget():
    for engine in ({**FOUR, "policy": "static"}, {**FOUR, "budget": None}):
        first, last = (rows_of(*TWO, figures=True, prefill_first=on, **engine) for on in (True, False))
        assert first == last


@pytest.mark.parametrize(
    ("multiple", "chunks"),
    [(1, [3, 3]), (2, [2, 2, 2]), (3, [3, 3]), (4, [4, 2])],  # with 4 it has to wait until a is over
)
def test_chunks_that_do_not_finish_are_rounded_down(multiple, chunks):
    rows = rows_of(*TWO, chunk_multiple=multiple, **FOUR)
    assert [row["tokens"]["b"] for row in rows if "b" in row["tokens"]] == chunks
    if multiple == 4:
        assert told(rows[1:4], "tokens", "gate", "waiting") == [({"a": 1}, "tokens", ["b"])] * 3


def test_a_prefill_under_way_stalls_when_its_chunk_is_rounded_to_nothing():
    rows = rows_of(
        ("a", 0, 2, 2, {"samples": 3}),
        ("c", 0, 9, 1),
        **{**FOUR, "seqs": 4, "budget": 5},
        chunk_multiple=3,
        fork_samples=True,
    )
    # a's three tokens leave 2, which is no chunk of the 6 that are left of c.
    assert told(rows, "tokens") == [{"a": 2, "c": 3}, {"a": 1, "a#2": 1, "a#3": 1}, {"c": 3}, {"c": 3}]
    assert rows[1]["seats"][3] == {"id": "c", "state": "stalled"}


@pytest.mark.parametrize("multiple", [3, 4, 5])
def test_a_budget_below_the_multiple_is_refused(multiple):
    if multiple <= 4:
        assert replay_of(*TWO, chunk_multiple=multiple, **FOUR)["metrics"]["completed"] == 2
    else:
        with pytest.raises(InputError, match="chunk_multiple"):
            replayed(case_of(*TWO, chunk_multiple=multiple, **FOUR), "continuous")


def test_without_chunks_a_budget_below_the_multiple_is_fine():
    assert replay_of(*TWO, chunk_multiple=9, **{**FOUR, "budget": 8, "chunked": False})["metrics"]["completed"] == 2
