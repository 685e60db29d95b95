"""Static batching: fill, drain, and what preemption does to a batch."""

from drive import busy_of, trace_of

from lab.replay import run


def test_the_batch_drains_before_anybody_is_admitted():
    rows = busy_of(
        "static",
        ("a", 0, 1, 1),
        ("b", 0, 1, 3),
        ("c", 0, 1, 1),
        max_num_seqs=2,
        num_pages=9,
        page_size=4,
    )
    assert (rows[1]["admitted"], rows[1]["gate"]) == (["a", "b"], "batch")  # from the iteration that fills it
    assert (rows[2]["gate"], rows[3]["gate"]) == ("batch", "batch")
    assert rows[2]["running"] == ["b"]
    assert rows[2]["seats"] == [{"id": "a", "state": "held"}, {"id": "b", "state": "decode"}]
    assert (rows[2]["pages"], rows[2]["kv"]) == ({"a": [0], "b": [1]}, {"a": 2, "b": 3})
    assert [rows[t]["released"] for t in (1, 2, 3)] == [[], [], ["a", "b"]]
    assert (rows[4]["admitted"], rows[4]["pages"]) == (["c"], {"c": [2]})


def test_a_batch_with_a_free_seat_stays_closed():
    rows = busy_of("static", ("a", 0, 1, 3), ("b", 1, 1, 1), max_num_seqs=2, num_pages=9, page_size=4)
    assert (rows[2]["waiting"], rows[2]["gate"]) == (["b"], "batch")
    assert rows[4]["admitted"] == ["b"]


def test_a_batch_is_filled_only_as_far_as_pages_go():
    rows = busy_of("static", ("a", 0, 3, 1), ("b", 0, 3, 1), max_num_seqs=2, num_pages=1, page_size=4)
    assert (rows[1]["admitted"], rows[1]["gate"]) == (["a"], "batch")
    assert rows[2]["admitted"] == ["b"]


def test_a_preempted_member_has_left_the_batch():
    rows = busy_of("static", ("a", 0, 3, 4), ("b", 0, 3, 4), max_num_seqs=2, num_pages=4, page_size=2)
    assert (rows[2]["preempted"], rows[2]["gate"]) == (["b"], "pages")
    assert rows[2]["seats"] == [{"id": "a", "state": "decode"}, None]
    assert (rows[3]["gate"], rows[4]["gate"]) == ("batch", "batch")
    # Without b the batch is a alone, and ends with it.
    assert (rows[4]["completed"], rows[4]["released"]) == (["a"], ["a"])
    assert (rows[5]["admitted"], rows[5]["tokens"], rows[5]["pages"]) == (["b"], {"b": 4}, {"b": [0, 1, 2]})


def test_a_batch_whose_last_unfinished_member_preempts_itself_is_released_though_nothing_ran():
    specs = [("a", 0, 3, 1), ("b", 0, 3, 3)]
    limits = {"max_num_seqs": 2, "num_pages": 4, "page_size": 2}
    rows = busy_of("static", *specs, **limits)
    assert rows[1]["completed"] == ["a"]
    # b needs a third page; a, finished, keeps its two, so b can only preempt itself.
    assert rows[2] == {
        "iteration": 2,
        "arrived": [],
        "preempted": ["b"],
        "admitted": [],
        "running": [],
        "seats": [{"id": "a", "state": "held"}, None],
        "tokens": {},
        "emitted": [],
        "completed": [],
        "released": ["a"],
        "waiting": ["b"],
        "gate": "pages",
        "pages": {"a": [0, 1]},
        "kv": {"a": 4},
        "pages_used": 2,
        "wasted_slots": 0,
    }
    # b's pages came back first, then a's.
    assert (rows[3]["admitted"], rows[3]["pages"]) == (["b"], {"b": [2, 3, 0]})
    metrics = run(trace_of(*specs, **limits), policies=["static"]).policies["static"].metrics
    assert (metrics["iterations"], metrics["busy_iterations"], metrics["decoded_tokens"]) == (4, 4, 4)
    assert metrics["utilization"] == 4 / (2 * 4)


def test_a_finished_member_is_no_victim():
    rows = busy_of(
        "static",
        ("a", 0, 3, 3),
        ("b", 0, 3, 3),
        ("c", 0, 3, 1),
        max_num_seqs=3,
        num_pages=6,
        page_size=2,
    )
    # c is the newest, but it has finished: b gives way to a.
    assert (rows[1]["completed"], rows[2]["preempted"]) == (["c"], ["b"])
    assert rows[2]["seats"] == [{"id": "a", "state": "decode"}, None, {"id": "c", "state": "held"}]
    assert rows[2]["pages"] == {"a": [0, 1, 2], "c": [4, 5]}
    # Released in admission order, each in table order, behind page 3.
    assert rows[3]["released"] == ["a", "c"]
    assert rows[4]["pages"] == {"b": [3, 0, 1]}


def test_members_finishing_together_release_together():
    rows = busy_of("static", ("a", 0, 1, 2), ("b", 0, 1, 2), max_num_seqs=2, num_pages=4, page_size=4)
    assert (rows[1]["released"], rows[2]["released"]) == ([], ["a", "b"])
