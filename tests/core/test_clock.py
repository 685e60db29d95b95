"""Arrivals, idle spans and the order in which requests are served."""

from drive import rows_of

ROOMY = {"max_num_seqs": 9, "num_pages": 99, "page_size": 4}


def spans(rows):
    return [row["idle"] if "idle" in row else row["iteration"] for row in rows]


def test_an_arrival_r_first_runs_in_iteration_r_plus_1():
    rows = rows_of("continuous", ("a", 0, 1, 1), **ROOMY)
    assert spans(rows) == [1]
    rows = rows_of("continuous", ("a", 1, 1, 1), **ROOMY)
    assert spans(rows) == [[1, 1], 2]
    rows = rows_of("continuous", ("a", 5, 1, 1), **ROOMY)
    assert spans(rows) == [[1, 5], 6]
    assert rows[1]["arrived"] == rows[1]["admitted"] == ["a"]


def test_no_idle_span_when_the_next_is_there_in_time():
    # a finishes in iteration 2; an arrival at 2 runs in 3.
    assert spans(rows_of("continuous", ("a", 0, 1, 2), ("b", 2, 1, 1), **ROOMY)) == [1, 2, 3]
    assert spans(rows_of("continuous", ("a", 0, 1, 2), ("b", 3, 1, 1), **ROOMY)) == [1, 2, [3, 3], 4]


def test_the_clock_jumps_over_any_gap():
    rows = rows_of("static", ("a", 0, 1, 1), ("b", 2**53 - 2, 1, 1), **ROOMY)
    assert spans(rows) == [1, [2, 2**53 - 2], 2**53 - 1]


def test_served_by_arrival_then_position_whatever_the_file_order():
    limits = {**ROOMY, "max_num_seqs": 1}
    rows = rows_of("continuous", ("late", 7, 1, 1), ("z", 0, 1, 1), ("m", 3, 1, 1), ("a", 0, 1, 1), **limits)
    admitted = [name for row in rows if "idle" not in row for name in row["admitted"]]
    assert admitted == ["z", "a", "m", "late"]


def test_those_who_arrive_together_join_together():
    rows = rows_of("continuous", ("c", 4, 1, 1), ("b", 4, 1, 1), ("a", 4, 1, 1), **ROOMY)
    assert rows[1]["arrived"] == rows[1]["running"] == ["c", "b", "a"]


def test_arrivals_while_the_head_waits_join_the_tail():
    limits = {**ROOMY, "max_num_seqs": 1}
    rows = rows_of("continuous", ("a", 0, 1, 4), ("b", 0, 1, 1), ("c", 1, 1, 1), ("d", 2, 1, 1), **limits)
    assert [row["waiting"] for row in rows[:3]] == [["b"], ["b", "c"], ["b", "c", "d"]]
    assert [row["arrived"] for row in rows[:3]] == [["a", "b"], ["c"], ["d"]]
