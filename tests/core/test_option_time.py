"""The clock of the step-time model: every nanosecond, and arrivals at the start of an iteration, before and after."""

import pytest
from option_drive import replay_of, rows_of, told

MS = 10**6
# Reading the weights takes 10 ms, a token 1 ms.
CLOCK = {
    "step_time": "llama-3.1-8b-h100",
    "weight_bytes": 10_000,
    "memory_bandwidth": 1_000_000,
    "token_ns": MS,
    "kv_bytes_per_token": 100,
    "size": 2,
    "seqs": 2,
    "pages": 20,
}


def durations(rows):
    return [(row["gpu_ns"] / MS, row["duration_ns"] / MS) for row in rows]


@pytest.mark.parametrize(("prompt", "ms"), [(9, 10), (10, 10), (11, 11)])
def test_a_step_is_a_maximum_and_not_a_sum(prompt, ms):
    assert durations(rows_of(("a", 0, prompt, 2), **CLOCK)) == [(ms, ms), (10, 10)]


def test_the_presets():
    for name, ns in (("llama-3.1-8b-h100", 4_794_186), ("llama-3.1-8b-a100", 7_876_667)):
        (row,) = rows_of(("a", 0, 1, 1), step_time=name, size=2, seqs=1, pages=2)
        assert row["gpu_ns"] == ns  # 16,060,522,496 bytes, rounded up
    (row,) = rows_of(("a", 0, 6000, 1), step_time="llama-3.1-8b-h100", size=16, seqs=1, pages=376)
    assert row["gpu_ns"] == 6000 * 16_000


def test_kv_read_counts_each_sequence_s_own_table():
    rows = rows_of(("a", 0, 4, 3), ("b", 0, 2, 1), kv_read=True, **CLOCK)
    # 4 and 2 tokens read; then prompt + generated: 5, and 6.
    assert [row["gpu_ns"] for row in rows] == [10_600_000, 10_500_000, 10_600_000]


def test_kv_read_of_a_chunk_counts_what_is_there_already():
    rows = rows_of(("a", 0, 5, 1), kv_read=True, budget=2, chunked=True, **CLOCK)
    assert [row["gpu_ns"] for row in rows] == [10_200_000, 10_400_000, 10_500_000]


@pytest.mark.parametrize(
    ("us", "asynchronous", "ms"),
    [(0, False, 10), (2000, False, 12), (2000, True, 10), (10_000, True, 10), (12_000, True, 12)],
)
def test_the_scheduler_is_added_or_overlapped(us, asynchronous, ms):
    replay = replay_of(("a", 0, 1, 2), scheduler_us=us, async_scheduling=asynchronous, **CLOCK)
    assert durations(replay["rows"]) == [(10, ms)] * 2
    time = replay["metrics"]["time"]
    assert (time["makespan_ms"], time["gpu_busy_ms"], time["scheduler_ms"]) == (2 * ms, 20, 2 * us / 1000)


def test_what_is_swapped_adds_its_time_both_ways():
    two = [("a", 0, 3, 4), ("b", 0, 3, 4)]
    rows = rows_of(*two, **{**CLOCK, "pages": 4}, preemption="swap", swap_bandwidth=100_000)
    # 2 pages of 2 tokens of 100 bytes: 4 ms out in the second step, and in again in the fifth.
    assert [row["gpu_ns"] / MS for row in rows] == [10, 14, 10, 10, 14, 10, 10]
    rows = rows_of(*two, **{**CLOCK, "pages": 4}, preemption="swap")
    assert {row["gpu_ns"] / MS for row in rows} == {10}


@pytest.mark.parametrize(
    ("arrival", "iteration", "ttft_ms"), [(9.999999, 2, 10.000001), (10, 2, 10), (10.000001, 3, 19.999999)]
)
def test_an_arrival_at_the_start_of_an_iteration_and_a_nanosecond_to_either_side(arrival, iteration, ttft_ms):
    replay = replay_of(("a", 0, 1, 4), ("b", arrival, 1, 1), unit="ms", **CLOCK)
    assert [row["iteration"] for row in replay["rows"] if "b" in row["arrived"]] == [iteration]
    assert replay["requests"]["b"]["ttft_ms"] == pytest.approx(ttft_ms, abs=1e-9)
    assert (replay["requests"]["b"]["wait"], replay["requests"]["b"]["latency"]) == (0, 1)


def test_the_clock_jumps_to_the_next_arrival_and_that_is_no_iteration():
    replay = replay_of(("a", 0, 1, 1), ("b", 0.1, 1, 1), unit="s", **CLOCK)
    assert told(replay["rows"], "iteration", "start_ns", "duration_ns") == [(1, 0, 10 * MS), (2, 100 * MS, 10 * MS)]
    time = replay["metrics"]["time"]
    assert (time["idle_ms"], time["makespan_ms"]) == (90, 110)
    assert replay["metrics"]["busy_iterations"] == 2


def test_in_iterations_an_idle_one_lasts_as_long_as_the_weights():
    replay = replay_of(("a", 3, 1, 2), **CLOCK)
    assert replay["rows"][0]["idle"] == [1, 3]
    assert told(replay["rows"][1:], "iteration", "start_ns") == [(4, 30 * MS), (5, 40 * MS)]
    assert replay["metrics"]["time"]["idle_ms"] == 30
    assert replay["requests"]["a"]["ttft_ms"] == 10 and replay["requests"]["a"]["e2e_ms"] == 20


@pytest.mark.parametrize(("at", "iteration"), [(10, 2), (10.000001, 3), (20, 3)])
def test_a_client_leaves_at_the_first_start_at_or_after_its_time(at, iteration):
    rows = rows_of(("a", 0, 1, 9, {"cancel_at": at}), unit="ms", cancellation="honoured", **CLOCK)
    assert [row["iteration"] for row in rows if row["left"]] == [iteration]
    # Nothing runs in it, so it takes no time.
    assert rows[-1]["duration_ns"] == 0


@pytest.mark.parametrize(("stall_ms", "stalls"), [(9.9, 3), (10, 1), (11.999, 1), (12, 0)])
def test_a_stall_is_a_gap_longer_than_the_limit(stall_ms, stalls):
    replay = replay_of(("a", 0, 1, 4), ("b", 1, 11, 1), stall_ms=stall_ms, **CLOCK)
    # One gap of 12 ms, when b's prompt and a's token are computed, and two of 10.
    assert replay["requests"]["a"]["stalls"] == replay["metrics"]["time"]["stalls"] == stalls
    assert replay["requests"]["a"]["itl_max_ms"] == 12


def test_figures_of_the_latencies():
    time = replay_of(("a", 0, 1, 4), ("b", 1, 11, 1), **CLOCK)["metrics"]["time"]
    assert time["itl_ms"] == {"count": 3, "mean": 32 / 3, "p50": 10, "p95": 10, "p99": 10, "p999": 10, "max": 12}
    assert time["ttft_ms"] == {"count": 2, "mean": 11, "p50": 10, "p95": 10, "p99": 10, "p999": 10, "max": 12}
    assert time["tpot_ms"]["count"] == 1 and time["tpot_ms"]["max"] == pytest.approx(32 / 3)
    assert time["histograms"] == {"ttft_ms": [[10, 20, 2]], "itl_ms": [[10, 20, 3]]}


@pytest.mark.parametrize(("second", "refused"), [(1, ["b"]), (1.000001, ["b"]), (1.01, [])])
def test_the_limit_s_second_is_a_second_of_the_clock(second, refused):
    # a joined at 0 and emitted its token at 10 ms: the prompt counts until 1 s, the token until 1.01 s.
    requests = [("a", 0, 4, 1, {"client": "A"}), ("b", second, 10, 1, {"client": "A"})]
    rows = rows_of(*requests, unit="s", admission="limit", client_tokens_per_second=10, **CLOCK)
    assert rows[1]["refused"] == refused
