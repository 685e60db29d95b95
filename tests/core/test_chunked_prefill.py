"""Prefill in chunks under a token budget."""

from drive import busy_of, rows_of


def test_a_long_prompt_prefills_over_several_iterations():
    rows = busy_of(
        "continuous",
        ("a", 0, 10, 2),
        ("b", 0, 3, 2),
        max_num_seqs=2,
        num_pages=16,
        page_size=4,
        max_num_batched_tokens=4,
        chunked_prefill=True,
    )
    # All pages of the prefill and the first token are taken at once.
    assert rows[1]["pages"] == {"a": [0, 1, 2]}
    assert (rows[1]["tokens"], rows[1]["emitted"], rows[1]["kv"]) == ({"a": 4}, [], {"a": 4})
    assert rows[1]["wasted_slots"] == 12 - 4
    assert (rows[1]["waiting"], rows[1]["gate"]) == (["b"], "tokens")
    assert (rows[2]["tokens"], rows[2]["kv"], rows[2]["gate"]) == ({"a": 4}, {"a": 8}, "tokens")
    # The last chunk takes 2; a emits at no further cost, and b has 2 tokens for a first chunk.
    assert (rows[3]["tokens"], rows[3]["emitted"]) == ({"a": 2, "b": 2}, ["a"])
    assert (rows[3]["kv"], rows[3]["pages"]["b"]) == ({"a": 11, "b": 2}, [3])
    assert [seat["state"] for seat in rows[3]["seats"]] == ["prefill", "prefill"]
    # Decodes come before prefills.
    assert (rows[4]["tokens"], rows[4]["emitted"]) == ({"a": 1, "b": 1}, ["a", "b"])
    assert [seat["state"] for seat in rows[4]["seats"]] == ["decode", "prefill"]
    assert (rows[4]["completed"], rows[4]["kv"]) == (["a"], {"a": 12, "b": 4})
    assert (rows[5]["pages"], rows[5]["completed"]) == ({"b": [3, 4]}, ["b"])


def test_a_prefill_of_exactly_the_budget_takes_one_iteration():
    limits = {"max_num_seqs": 1, "num_pages": 4, "page_size": 4, "max_num_batched_tokens": 5}
    at_bound = busy_of("continuous", ("a", 0, 5, 1), chunked_prefill=True, **limits)
    one_over = busy_of("continuous", ("a", 0, 6, 1), chunked_prefill=True, **limits)
    assert list(at_bound) == [1]
    assert [row["tokens"]["a"] for row in one_over.values()] == [5, 1]


def test_decodes_leave_less_for_the_chunk():
    rows = busy_of(
        "continuous",
        ("a", 0, 1, 9),
        ("b", 1, 7, 1),
        max_num_seqs=2,
        num_pages=9,
        page_size=4,
        max_num_batched_tokens=3,
        chunked_prefill=True,
    )
    assert [rows[t]["tokens"] for t in (2, 3, 4, 5)] == [{"a": 1, "b": 2}] * 3 + [{"a": 1, "b": 1}]
    assert rows[5]["completed"] == ["b"]


def test_a_wait_ends_with_the_first_chunk():
    rows = rows_of(
        "continuous",
        ("a", 0, 8, 1),
        max_num_seqs=1,
        num_pages=4,
        page_size=4,
        max_num_batched_tokens=4,
        chunked_prefill=True,
    )
    assert [(row["admitted"], row["emitted"]) for row in rows] == [(["a"], []), ([], ["a"])]
