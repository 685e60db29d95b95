"""Preemption on tiny pools, with exact page ids. The numbers are worked out by hand in the comments."""

from drive import busy_of, trace_of

from lab.replay import run


def test_the_newest_is_preempted_and_prefills_again():
    rows = busy_of("continuous", ("a", 0, 3, 4), ("b", 0, 3, 4), max_num_seqs=2, num_pages=4, page_size=2)
    assert rows[1]["pages"] == {"a": [0, 1], "b": [2, 3]}
    # a's fifth token needs a third page, and none is free: b, the newest, loses 2 and 3.
    assert rows[2] == {
        "iteration": 2,
        "arrived": [],
        "preempted": ["b"],
        "admitted": [],
        "running": ["a"],
        "seats": [{"id": "a", "state": "decode"}, None],
        "tokens": {"a": 1},
        "emitted": ["a"],
        "completed": [],
        "released": [],
        "waiting": ["b"],
        "gate": "pages",
        "pages": {"a": [0, 1, 2]},
        "kv": {"a": 5},
        "pages_used": 3,
        "wasted_slots": 1,
    }
    # b would prefill 3 + 1 tokens and emit one: three pages, one is free.
    assert (rows[3]["admitted"], rows[3]["gate"], rows[3]["pages"]) == ([], "pages", {"a": [0, 1, 2]})
    assert (rows[4]["completed"], rows[4]["pages"]) == (["a"], {"a": [0, 1, 2, 3]})
    # The prompt and what b generated before: 4 tokens at once, then its second token.
    assert (rows[5]["admitted"], rows[5]["tokens"], rows[5]["emitted"]) == (["b"], {"b": 4}, ["b"])
    assert (rows[5]["pages"], rows[5]["kv"]) == ({"b": [0, 1, 2]}, {"b": 5})
    assert rows[5]["seats"] == [{"id": "b", "state": "prefill"}, None]
    assert rows[7]["completed"] == ["b"]
    assert list(rows) == [1, 2, 3, 4, 5, 6, 7]


def test_the_victim_may_be_the_one_that_asks():
    rows = busy_of("continuous", ("a", 0, 1, 3), ("b", 0, 3, 3), max_num_seqs=2, num_pages=2, page_size=4)
    assert rows[1]["pages"] == {"a": [0], "b": [1]}
    # b's fifth token needs a second page; the newest is b itself, while a goes on.
    assert (rows[2]["preempted"], rows[2]["running"], rows[2]["emitted"]) == (["b"], ["a"], ["a"])
    assert (rows[2]["pages"], rows[2]["gate"]) == ({"a": [0]}, "pages")
    assert rows[3]["completed"] == ["a"]
    # Page 1 was given back in iteration 2, page 0 after iteration 3: first in, first out.
    assert rows[4]["pages"] == {"b": [1, 0]}
    assert (rows[4]["tokens"], rows[4]["kv"]) == ({"b": 4}, {"b": 5})


def test_of_several_victims_the_oldest_ends_in_front():
    rows = busy_of(
        "continuous",
        ("a", 0, 3, 5),
        ("b", 0, 3, 5),
        ("c", 0, 3, 5),
        max_num_seqs=3,
        num_pages=3,
        page_size=4,
    )
    assert rows[1]["pages"] == {"a": [0], "b": [1], "c": [2]}
    # a takes the page of c; then b finds none, and is the newest itself.
    assert (rows[2]["preempted"], rows[2]["waiting"]) == (["c", "b"], ["b", "c"])
    assert (rows[2]["pages"], rows[2]["gate"]) == ({"a": [0, 2]}, "pages")
    assert rows[5]["completed"] == ["a"]
    # Page 1 came back in iteration 2, then 0 and 2 in table order.
    assert (rows[6]["admitted"], rows[6]["pages"]) == (["b"], {"b": [1, 0]})
    assert (rows[6]["waiting"], rows[6]["gate"]) == (["c"], "pages")
    assert rows[10]["pages"] == {"c": [2, 1]}
    assert rows[13]["completed"] == ["c"]


def test_a_victim_still_prefilling_loses_its_progress():
    rows = busy_of(
        "continuous",
        ("a", 0, 1, 5),
        ("b", 0, 6, 1),
        max_num_seqs=2,
        num_pages=5,
        page_size=2,
        max_num_batched_tokens=2,
        chunked_prefill=True,
    )
    assert (rows[1]["tokens"], rows[1]["kv"]) == ({"a": 1, "b": 1}, {"a": 2, "b": 1})
    assert rows[1]["pages"] == {"a": [0], "b": [1, 2, 3, 4]}
    assert (rows[2]["preempted"], rows[2]["pages"]) == (["b"], {"a": [0, 1]})
    assert rows[5]["completed"] == ["a"]
    # b starts again from its first prompt token: 2 + 2 + 2.
    assert rows[6]["pages"] == {"b": [3, 4, 0, 1]}
    assert [rows[t]["kv"] for t in (6, 7, 8)] == [{"b": 2}, {"b": 4}, {"b": 7}]
    assert [rows[t]["emitted"] for t in (6, 7, 8)] == [[], [], ["b"]]


def test_after_a_preemption_the_gate_is_pages_whatever_else_is_short():
    rows = busy_of(
        "continuous",
        ("a", 0, 1, 4),
        ("b", 0, 1, 4),
        max_num_seqs=2,
        num_pages=5,
        page_size=2,
        max_num_batched_tokens=4,
    )
    # b, preempted with 3 tokens generated, would prefill 4 while 3 are left of the budget: that is `tokens`.
    assert (rows[4]["preempted"], rows[4]["tokens"], rows[4]["gate"]) == (["b"], {"a": 1}, "pages")
    assert (rows[5]["admitted"], rows[5]["tokens"]) == (["b"], {"b": 4})


def test_the_last_token_needs_its_page_too():
    # 3 + 2 tokens: the second token is the fifth, on a second page, although it is the last.
    rows = busy_of("continuous", ("a", 0, 3, 2), max_num_seqs=1, num_pages=2, page_size=4)
    assert [row["pages"]["a"] for row in rows.values()] == [[0], [0, 1]]


def test_preemption_resets_neither_start_nor_wait():
    trace = trace_of(("a", 0, 3, 4), ("b", 0, 3, 4), max_num_seqs=2, num_pages=4, page_size=2)
    outcome = run(trace, policies=["continuous"]).policies["continuous"]
    assert outcome.requests == {
        "a": {"start": 1, "finish": 4, "wait": 0, "latency": 4, "preemptions": 0},
        "b": {"start": 1, "finish": 7, "wait": 0, "latency": 7, "preemptions": 1},
    }


def test_a_preempted_request_is_ahead_of_those_that_never_ran():
    rows = busy_of(
        "continuous",
        ("a", 0, 3, 4),
        ("b", 0, 3, 4),
        ("c", 0, 1, 1),
        max_num_seqs=2,
        num_pages=4,
        page_size=2,
    )
    assert rows[2]["waiting"] == ["b", "c"]
    assert rows[3]["waiting"] == ["b", "c"]  # c would fit on the free page, and does not overtake
    assert rows[5]["admitted"] == ["b", "c"]
