"""Admission across clients: a limit of tokens a second, and counters of what each was given."""

import pytest
from option_drive import replay_of, rows_of, told

VTC = {"admission": "vtc", "size": 1, "seqs": 1, "pages": 50}


def of(client, *row, **more):
    """A request tuple of ``client``."""
    return (*row, {"client": client, **more})


def few(client, letter, count, arrival=0):
    """``count`` requests of two prompt tokens and two of output."""
    return [of(client, f"{letter}{n + 1}", arrival, 2, 2) for n in range(count)]


def order(rows):
    return [name for row in rows for name in row["admitted"]]


def test_equal_arrivals_of_two_clients_take_turns_by_what_they_were_given():
    rows = rows_of(*few("A", "a", 3), *few("B", "b", 2), **VTC)
    # Of equal counters the client whose first request is first: A; then B, which has less; then A again at 6 each.
    assert order(rows) == ["a1", "b1", "a2", "b2", "a3"]
    assert told(rows[:5], "counters", "head") == [
        ({"A": 4, "B": 0}, "b1"),
        ({"A": 6, "B": 0}, "b1"),
        ({"A": 6, "B": 4}, "b2"),
        ({"A": 6, "B": 6}, "b2"),
        ({"A": 10, "B": 6}, "b2"),
    ]


def test_equal_arrivals_with_the_other_client_first_in_the_file():
    assert order(rows_of(*few("B", "b", 1), *few("A", "a", 2), **VTC)) == ["b1", "a1", "a2"]
    assert order(rows_of(*few("A", "a", 2), *few("B", "b", 1), **VTC)) == ["a1", "b1", "a2"]


def test_within_one_iteration_each_admission_counts():
    rows = rows_of(*few("A", "a", 3), of("B", "b1", 0, 5, 2), **{**VTC, "seqs": 3})
    # a1 makes A's counter 2, so b1 is next, with 5; then a2.
    assert told(rows[:1], "admitted", "head", "counters") == [(["a1", "b1", "a2"], "a3", {"A": 2 + 2 + 4, "B": 5 + 2})]


def test_a_client_comes_back_from_idle_first_and_is_lifted_to_the_least_active():
    """B was away while A was served: it gets no credit for that, only A's counter."""
    requests = few("A", "a", 4) + few("B", "b", 3, arrival=3)
    rows = rows_of(*requests, **VTC)
    # A has had two admissions when B joins in iteration 4, and a3, a4 wait: B starts from A's 2 x 2 + 3 x 2.
    assert rows[2]["counters"] == {"A": 10, "B": 0}
    assert rows[3]["counters"] == {"A": 12, "B": 10}
    # B is below A now, once; from there on they take turns.
    assert order(rows) == ["a1", "a2", "b1", "a3", "b2", "a4", "b3"]


def test_a_client_comes_back_when_nobody_waits_and_is_lifted_to_the_last_to_leave():
    requests = [of("A", "a1", 0, 3, 4), of("B", "b1", 2, 1, 1), of("C", "c1", 10, 1, 1)]
    rows = rows_of(*requests, **VTC)
    # a1 has left `waiting`, nobody waits: b1 is lifted to A's 3 + 2 x 2.
    assert rows[2]["counters"] == {"A": 9, "B": 7, "C": 0}
    # B's request was the last to leave: C starts from B's counter, though A's is another.
    assert told(rows[4:], "counters") == [{"A": 11, "B": 10, "C": 0}, {"A": 11, "B": 10, "C": 13}]


def test_who_comes_back_with_more_is_not_let_down():
    requests = [of("A", "a1", 0, 9, 1), of("B", "b1", 5, 1, 3), of("B", "b2", 5, 1, 1), of("A", "a2", 6, 1, 1)]
    rows = rows_of(*requests, **VTC)
    assert rows[0]["counters"] == {"A": 11, "B": 0}
    # b1 is lifted to 11; A comes back with 11 while b2 waits, and is lifted to 14; B keeps its 14.
    assert told(rows[1:4], "counters", "head") == [
        ({"A": 11, "B": 14}, "b2"),
        ({"A": 14, "B": 16}, "b2"),
        ({"A": 14, "B": 18}, "a2"),
    ]


def test_a_client_that_comes_back_last_among_those_that_arrive():
    """Of those that join together, the ones before count as waiting: B is lifted to A's counter, then C to both."""
    requests = [of("A", "a1", 0, 4, 2), of("A", "a2", 1, 1, 1), of("B", "b1", 1, 1, 1), of("C", "c1", 1, 1, 1)]
    rows = rows_of(*requests, **VTC)
    assert told(rows[:2], "counters") == [{"A": 6, "B": 0, "C": 0}, {"A": 8, "B": 6, "C": 6}]
    assert order(rows) == ["a1", "b1", "c1", "a2"]


def test_preempted_sequences_come_first_whoever_has_less():
    requests = [of("A", "a1", 0, 1, 6), of("A", "a2", 0, 1, 6), of("B", "b1", 1, 1, 1)]
    rows = rows_of(*requests, **{**VTC, "seqs": 2, "pages": 7})
    victims = [row for row in rows if row["preempted"]]
    assert victims[0]["preempted"] == ["a2"] and victims[0]["waiting"] == ["a2", "b1"]
    assert victims[0]["head"] == "a2" and victims[0]["counters"]["B"] < victims[0]["counters"]["A"]
    # Coming back costs nothing: the prompt counts once.
    back = next(n for n, row in enumerate(rows) if "a2" in row["admitted"] and n)
    grown = rows[back]["counters"]["A"] - rows[back - 1]["counters"]["A"]
    assert grown == 2 * sum(1 for name in rows[back]["emitted"] if name.startswith("a"))


def test_weights():
    rows = rows_of(of("A", "a", 0, 5, 2), input_weight=3, output_weight=7, **VTC)
    assert told(rows, "counters") == [{"A": 22}, {"A": 29}]


def test_the_first_head_that_does_not_pass_stops_admission():
    requests = [of("A", "a1", 0, 1, 6), of("B", "b1", 1, 6, 1), of("A", "a2", 1, 1, 1)]
    rows = rows_of(*requests, **{**VTC, "seqs": 3, "pages": 9})
    # b1, with the lesser counter, needs 7 pages of 6: a2, which would fit, is not asked.
    assert told(rows[1:2], "admitted", "head", "gate", "waiting") == [([], "b1", "pages", ["b1", "a2"])]


LIMIT = {"admission": "limit", "size": 4, "seqs": 2, "pages": 50, "iteration_ms": 200}  # a second is five iterations


@pytest.mark.parametrize(("prompt", "refused"), [(9, []), (10, []), (11, ["a"])])
def test_a_prompt_at_the_limit_and_one_over(prompt, refused):
    replay = replay_of(of("A", "a", 0, prompt, 1), client_tokens_per_second=10, **LIMIT)
    assert replay["rows"][0]["refused"] == refused
    assert replay["metrics"]["rejected"] == [{"id": name, "reason": "limit"} for name in refused]


@pytest.mark.parametrize(("arrival", "refused"), [(4, ["b"]), (5, [])])
def test_a_prompt_counts_for_a_second_after_it_joined(arrival, refused):
    """a joins at 0, and emits its one token at the end of iteration 1, at 1: 5 tokens, then 1, then none."""
    rows = rows_of(of("A", "a", 0, 4, 1), of("A", "b", arrival, 9, 1), client_tokens_per_second=10, **LIMIT)
    assert rows[1]["refused"] == refused


@pytest.mark.parametrize(("arrival", "refused"), [(5, ["b"]), (6, [])])
def test_a_token_counts_for_a_second_after_it_was_emitted(arrival, refused):
    rows = rows_of(of("A", "a", 0, 4, 1), of("A", "b", arrival, 10, 1), client_tokens_per_second=10, **LIMIT)
    assert rows[1]["refused"] == refused


def test_those_before_it_that_join_together_count_and_refused_ones_do_not():
    requests = [of("A", "a", 0, 6, 1), of("A", "b", 0, 5, 1), of("A", "c", 0, 4, 1), of("B", "d", 0, 10, 1)]
    rows = rows_of(*requests, client_tokens_per_second=10, **LIMIT)
    assert told(rows[:1], "arrived", "refused", "running") == [(["a", "b", "c", "d"], ["b"], ["a", "c"])]


def test_a_limit_may_leave_the_engine_with_nothing():
    replay = replay_of(of("A", "a", 2, 11, 1), of(None, "b", 2, 11, 1), client_tokens_per_second=10, **LIMIT)
    assert told(replay["rows"][1:], "tokens", "refused") == [({}, ["a", "b"])]
    assert replay["metrics"]["completed"] == 0 and replay["metrics"]["iterations"] == 0


@pytest.mark.parametrize(("iteration_ms", "refused"), [(1000, []), (1500, []), (500, ["b"])])
def test_a_second_is_at_least_one_iteration(iteration_ms, refused):
    engine = {**LIMIT, "iteration_ms": iteration_ms}
    rows = rows_of(of("A", "a", 0, 9, 1), of("A", "b", 1, 9, 1), client_tokens_per_second=10, **engine)
    assert rows[1]["refused"] == refused


def test_figures_of_each_client():
    requests = [of("A", "a1", 0, 6, 2), of("A", "a2", 0, 6, 2), of(None, "n", 0, 2, 1)]
    clients = replay_of(*requests, client_tokens_per_second=10, **LIMIT)["metrics"]["clients"]
    assert clients == {
        "A": {"requests": 2, "completed": 1, "refused": 1, "tokens": 2, "wait_mean": 0, "wait_p95": 0, "wait_max": 0},
        "": {"requests": 1, "completed": 1, "refused": 0, "tokens": 1, "wait_mean": 0, "wait_p95": 0, "wait_max": 0},
    }
