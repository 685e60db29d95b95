"""Every figure of the questions on serving engines that an engine run can give, by one, beside its formula."""

import pytest

from lab import scenarios
from lab.costs import MODELS, STEP_TIMES, kv_bytes_per_token
from lab.paging import pages_for
from lab.records import Iteration
from lab.replay import run

GB = 10**9
TOKEN_NS = STEP_TIMES["llama-3.1-8b-h100"].token_ns
FLOOR_NS = STEP_TIMES["llama-3.1-8b-h100"].floor_ns
KV_BYTES = kv_bytes_per_token(MODELS["llama-3.1-8b"], "bf16")


class Played:
    """A replay of a trace under one policy: `figures`, `requests` and, unless not kept, its busy `rows`."""

    def __init__(self, trace, policy="continuous", keep_rows=True):
        outcome = run(trace, policies=[policy], keep_records=keep_rows).policies[policy]
        self.trace = trace
        self.figures, self.requests = outcome.metrics, outcome.requests
        self.rows = [record.to_row() for record in outcome.records if isinstance(record, Iteration)]

    def __getattr__(self, group):
        return self.figures[group]

    def row(self, iteration):
        return next(row for row in self.rows if row["iteration"] == iteration)

    def first(self, key):
        """The first row in which `key` has something."""
        return next(row for row in self.rows if row[key])


def test_the_constants_are_those_of_llama_on_an_h100():
    assert (round(FLOOR_NS / 1e6, 1), TOKEN_NS, KV_BYTES) == (4.8, 16_000, 128 * 1024)


# Question 1: static against continuous


def test_static_batching_uses_the_mean_over_the_longest():
    lengths = (50, 150, 400, 800)
    played = Played(scenarios.replies(lengths), "static")
    share = sum(lengths) / (len(lengths) * max(lengths))
    assert played.utilization == share == 0.4375
    assert len(played.rows) * 4 == 3200
    assert played.decoded_tokens == sum(lengths) == 1400


def test_the_short_reply_could_have_been_there_after_a_quarter_of_a_second():
    static, continuous = (Played(scenarios.replies(), policy) for policy in ("static", "continuous"))
    (released,) = [row for row in static.rows if "r50-0" in row["released"]]
    assert (released["start_ns"] + released["duration_ns"]) / GB == 800 * 5 / 1000 == 4
    assert continuous.requests["r50-0"]["e2e_ms"] == 50 * 5 == 250
    (freed,) = [row for row in continuous.rows if "r50-0" in row["released"]]
    assert freed["iteration"] == 50


def test_replies_of_one_length_lose_nothing():
    assert Played(scenarios.replies((400,) * 4), "static").utilization == 1


# Question 3: the scheduler on the clock


def test_a_scheduler_before_each_step_leaves_the_gpu_idle():
    played = Played(scenarios.scheduler_on_the_clock(5, 2))
    idle = 1 - played.time["gpu_busy_ms"] / played.time["makespan_ms"]
    assert idle == pytest.approx(2 / (5 + 2))
    assert round(idle, 3) == 0.286
    assert played.time["scheduler_ms"] == 2 * len(played.rows)


def test_a_scheduler_that_overlaps_costs_nothing():
    before, beside = (Played(scenarios.scheduler_on_the_clock(overlapped=overlapped)) for overlapped in (False, True))
    assert beside.time["gpu_busy_ms"] == beside.time["makespan_ms"]
    assert before.time["tokens_per_s"] / beside.time["tokens_per_s"] == pytest.approx(5 / 7)
    assert round(5 / 7, 2) == 0.71


# Question 4: decode first, and the size of the budget


@pytest.mark.parametrize(
    ("target_ms", "streams", "multiple", "expected"),
    [(20, 32, 1, (1250, 1218, 1218, 5)), (20, 32, 128, (1250, 1218, 1152, 6)), (25, 150, 1, (1562, 1412, 1412, 5))],
)
def test_the_budget_leaves_room_for_a_chunk(target_ms, streams, multiple, expected):
    played = Played(scenarios.long_prompt_among_streams(target_ms, streams, 6000, multiple=multiple))
    budget = target_ms * 10**6 // TOKEN_NS
    room = budget - streams
    chunk = room - room % multiple
    chunks = [row["tokens"]["long"] for row in played.rows if "long" in row["tokens"]]
    assert (played.trace.limits.max_num_batched_tokens, chunks[0], len(chunks)) == (budget, chunk, -(-6000 // chunk))
    assert (budget, room, chunk, len(chunks)) == expected
    step = played.row(2)["duration_ns"]
    assert step == max(FLOOR_NS, (streams + chunk) * TOKEN_NS)
    assert step <= target_ms * 10**6


def test_prompts_first_stall_the_streams():
    first = Played(scenarios.long_prompt_among_streams(multiple=1, prefill_first=True))
    after = Played(scenarios.long_prompt_among_streams(multiple=1))
    whole = Played(scenarios.long_prompt_among_streams(chunked=False))
    # Four steps of the whole budget, 5,000 tokens, and one of what is left with all streams in it.
    pause = (4 * 1250 + 1000 + 32) * TOKEN_NS / 1e6
    assert first.time["itl_ms"]["max"] == pytest.approx(pause)
    assert whole.time["itl_ms"]["max"] == pytest.approx(pause)
    assert after.time["itl_ms"]["max"] == 1250 * TOKEN_NS / 1e6 == 20
    assert first.time["stalls"] == whole.time["stalls"] == 32
    assert after.time["stalls"] == 0


# Question 5: which gate is closed


def test_seats_are_the_closed_gate():
    played = Played(scenarios.closed_gate(64))
    row = played.row(20)
    assert (len(row["running"]), len(row["waiting"]), row["gate"]) == (64, 300 - 64, "seats")
    assert max(row["pages_used"] for row in played.rows) / played.trace.limits.num_pages == 64 * 40 / 6400 == 0.4
    assert {row["gate"] for row in played.rows if row["waiting"]} == {"seats"}
    assert row["duration_ns"] == FLOOR_NS < 20 * 10**6
    assert played.preemptions == 0


def test_with_more_seats_pages_are_the_next_gate():
    played = Played(scenarios.closed_gate(256))
    row = played.row(1)
    assert (len(row["running"]), row["gate"]) == (6400 // pages_for(609, 16), "pages")
    assert len(row["running"]) == 164
    assert played.preemptions > 0


def test_a_prompt_that_fits_the_budget_waits_for_a_seat():
    row = Played(scenarios.seats_before_tokens()).row(2)
    assert (len(row["running"]), row["waiting"], row["gate"]) == (256, ["late"], "seats")
    assert sum(row["tokens"].values()) + 500 == 756 <= 8192


# Question 6: slabs against pages


def test_slabs_of_the_maximum_length_waste_most_of_the_pool():
    played = Played(scenarios.slabs_or_pages(50, "slab"))
    slab = 8192 * KV_BYTES
    assert slab == 2**30
    assert played.memory["peak_running"] == 50 * GB // slab == 46
    assert played.memory["used_share"] == pytest.approx(1000 / 8192)
    assert round(played.memory["used_share"], 2) == 0.12


def test_pages_hold_eight_times_as_many():
    tokens, pages = Played(scenarios.slabs_or_pages(50, page_size=1)), Played(scenarios.slabs_or_pages(50))
    assert tokens.memory["peak_running"] == 50 * GB // (1000 * KV_BYTES) == 381
    assert pages.memory["peak_running"] == 50 * GB // (16 * KV_BYTES) // pages_for(1000, 16) == 378


@pytest.mark.parametrize("page_size", [1, 8, 16, 64, 256])
def test_larger_pages_waste_more_of_the_last_and_make_shorter_tables(page_size):
    played = Played(scenarios.one_request(page_size))
    assert len(played.rows[0]["pages"]["a"]) == -(-1000 // page_size)
    assert played.memory["internal_slots_peak"] == -1000 % page_size


def test_slabs_leave_holes():
    played = Played(scenarios.fragmented())
    row = played.first("fragmented")
    free = played.trace.limits.num_pages - row["pages_used"]
    assert (row["waiting"], row["gate"]) == (["wide"], "pages")
    assert free >= pages_for(64, 16) > (free * 16 - row["external_slots"]) / 16
    assert played.memory["fragmented_iterations"] == sum(row["fragmented"] for row in played.rows) > 0


def test_paging_runs_many_times_as_many_as_reserving_the_maximum():
    reserved, paged = (Played(scenarios.reserved_or_paged(how)) for how in ("slab", "on-demand"))
    assert reserved.memory["peak_running"] == 128 * 16 // 512 == 4
    assert paged.memory["peak_running"] >= 4.5 * reserved.memory["peak_running"]
    assert paged.preemptions >= 1
    assert reserved.preemptions == 0
    assert paged.iterations < reserved.iterations
    assert paged.completed == reserved.completed == 40


# Question 7: samples share their prompt


@pytest.mark.parametrize(("prompt", "expected"), [(1000, (63, 3, 66)), (1008, (63, 0, 67))])
def test_samples_share_pages_and_copy_the_last_only_if_it_is_partly_full(prompt, expected):
    n = 4
    played = Played(scenarios.samples(prompt, n))
    shared = pages_for(prompt, 16)
    copies = n - 1 if prompt % 16 else 0
    total = shared + (copies if prompt % 16 else n)
    assert (shared, played.sharing["copied_pages"], played.peak_pages) == (shared, copies, total) == expected
    assert played.sharing["prefill_tokens"] == prompt


def test_samples_that_share_nothing_hold_four_times_as_much():
    assert Played(scenarios.samples(1000, forked=False)).peak_pages == 4 * pages_for(1002, 16) == 252


# Question 8: preemption


def test_a_victim_is_recomputed_whole():
    played = Played(scenarios.eviction())
    victim = played.first("preempted")
    assert victim["preempted"] == ["victim"]
    assert played.preemption["lost_tokens"] == victim["lost_tokens"] == 2000
    assert 2000 * KV_BYTES == 262_144_000
    again = next(row for row in played.rows if row["iteration"] > 1 and "victim" in row["admitted"])
    assert again["tokens"] == {"victim": 2000}
    assert again["gpu_ns"] / 1e6 == 2000 * TOKEN_NS / 1e6 == 32


def test_swapping_passes_the_bus_both_ways():
    played = Played(scenarios.eviction("swap"))
    one_way = -(-2000 * KV_BYTES * GB // (25 * GB))
    out, back = played.first("swapped_out"), played.first("swapped_in")
    assert out["swapped_out"] == back["swapped_in"] == {"victim": 125}
    assert out["gpu_ns"] == back["gpu_ns"] == FLOOR_NS + one_way
    assert round(one_way / 1e6, 1) == 10.5
    assert played.preemption["lost_tokens"] == 0


def test_the_newest_has_the_least_to_lose():
    newest, largest = (Played(scenarios.whom_to_evict(victim)) for victim in ("newest", "largest"))
    assert newest.first("preempted")["preempted"] == ["new"]
    assert largest.first("preempted")["preempted"] == ["big"]
    assert (newest.first("preempted")["lost_tokens"], largest.first("preempted")["lost_tokens"]) == (96, 2000)


def steps_until_dry(played):
    """Decode steps that ran before the first preemption, and how long they took in seconds."""
    row = played.first("preempted")
    first = played.row(2)
    return row["iteration"] - 2, (row["start_ns"] - first["start_ns"]) / GB


def countdown_formula(trace, free):
    """Steps after which the requests hold more than `free` pages beyond those of their first iteration."""
    held = [request.prompt_tokens + 1 for request in trace.requests]
    steps = 0
    while sum(pages_for(kv + steps + 1, 16) - pages_for(kv, 16) for kv in held) <= free:
        steps += 1
    return steps


def test_the_countdown_to_the_first_preemption():
    trace = scenarios.countdown()
    steps, seconds = steps_until_dry(Played(trace))
    assert steps == countdown_formula(trace, 2000)
    assert abs(steps - 2000 * 16 / 250) <= 1
    assert 2000 * 16 / 250 == 128
    assert seconds == pytest.approx(steps * 0.02)
    assert abs(seconds - 2.56) <= 0.02


@pytest.mark.parametrize(("phase", "steps"), [(15, 128), (0, 143)])
def test_requests_in_one_phase_run_dry_later(phase, steps):
    trace = scenarios.countdown((phase,))
    assert steps_until_dry(Played(trace))[0] == countdown_formula(trace, 2000) == steps


def test_fewer_seats_or_smaller_numbers_end_the_preemptions():
    many, fewer, fp8 = (Played(scenarios.too_many(*how)) for how in ((16, "bf16"), (8, "bf16"), (16, "fp8")))
    assert many.preemptions > 0
    assert fewer.preemptions == fp8.preemptions == 0
    assert many.preemption["lost_tokens"] > 0
    assert fp8.trace.limits.num_pages == 2 * 10**8 // (16 * KV_BYTES // 2)


def test_a_full_pool_without_preemptions_is_healthy():
    played = Played(scenarios.healthy_full_pool())
    assert max(row["pages_used"] + row["cached_free"] for row in played.rows) == played.trace.limits.num_pages
    assert played.preemptions == 0
    assert next(row["cached"] for row in played.rows if "again" in row["admitted"]) == {"again": 63}


# Question 9: cancellation and fairness


def test_what_is_computed_for_a_client_that_has_left():
    played = Played(scenarios.client_leaves("ignored", 300, 1000))
    assert played.cancellation["wasted_tokens"] == 1000 - 300 == 700
    assert played.cancellation["wasted_kv_bytes_peak"] == (1 + 1000) * KV_BYTES
    assert round(1000 * KV_BYTES / 1e6) == round(played.cancellation["wasted_kv_bytes_peak"] / 1e6) == 131
    assert played.requests["next"]["start"] == 1001


def test_an_abort_frees_seat_and_memory_at_once():
    played = Played(scenarios.client_leaves("honoured", 300, 1000))
    assert played.cancellation["wasted_tokens"] == 0
    (row,) = [row for row in played.rows if row["cancelled"]]
    assert (row["iteration"], row["cancelled"], row["released"]) == (300, ["a"], ["a"])
    assert played.requests["next"]["start"] == 301


@pytest.fixture(scope="module")
def clients():
    return {admission: Played(scenarios.two_clients(admission)) for admission in ("fcfs", "limit", "vtc")}


def test_the_counter_lets_the_quiet_client_in_and_rejects_nothing(clients):
    fcfs, vtc = clients["fcfs"], clients["vtc"]
    requests = fcfs.trace.requests
    assert sum(request.client == "A" for request in requests) / len(requests) == 0.9
    assert vtc.clients["B"]["ttft_p99_ms"] * 4 < ttfts(fcfs, "B")[-1]
    assert (vtc.completed, vtc.rejected) == (40, [])
    # It reorders only: the same work is done in the same time, and while B is quiet A has every seat.
    assert vtc.decoded_tokens == fcfs.decoded_tokens
    assert vtc.time["makespan_ms"] == fcfs.time["makespan_ms"]
    assert vtc.time["idle_ms"] == fcfs.time["idle_ms"] == 0
    assert {name[0] for name in vtc.row(1)["running"]} == {"A"}
    assert len(vtc.row(1)["running"]) == 4


def ttfts(played, client):
    return sorted(figures["ttft_ms"] for name, figures in played.requests.items() if name.startswith(client))


def test_the_limit_rejects_work_and_idles_the_gpu(clients):
    limit = clients["limit"]
    assert {entry["reason"] for entry in limit.rejected} == {"limit"}
    assert limit.clients["A"]["refused"] == 36 - 1000 // 100 == 26
    assert limit.clients["B"]["refused"] == 0
    assert limit.time["idle_ms"] > 0


def test_the_counter_counts_weighted_tokens_and_gives_no_credit_for_silence(clients):
    played = clients["vtc"]
    assert played.rows[-1]["counters"]["A"] == 36 * (1 * 100 + 2 * 20)
    back = next(n for n, row in enumerate(played.rows) if "B3" in row["arrived"])
    before, after = played.rows[back - 1]["counters"], played.rows[back]["counters"]
    assert before["B"] < before["A"] <= after["B"]


# Question 10: why long prompts slow a chat


def test_the_slowest_tenth_of_a_per_cent_is_not_in_p99():
    streams = Played(scenarios.streams_and_long_prompts(), keep_rows=False)
    gaps = 3966 - 1
    stall = (6000 + 32) * TOKEN_NS / 1e6
    itl = streams.time["itl_ms"]
    assert itl["count"] == 32 * gaps
    assert streams.time["stalls"] == 32 * 4
    assert sum(count for low, _, count in streams.time["histograms"]["itl_ms"] if low >= 50) == 32 * 4
    assert all(streams.requests[f"stream{i}"]["stalls"] == 4 for i in (1, 32))
    assert (itl["p50"], itl["p99"], itl["max"]) == (10, 10, stall)
    assert itl["p999"] == stall
    assert round(4 / gaps, 3) == 0.001
    # 40 s hold so many gaps: four are stalls, the others steps of 10 ms.
    assert gaps == int((40_000 - 4 * stall) / 10 + 4)
    assert round(6000 * TOKEN_NS / 1e6) == 96


def test_one_long_prompt_a_second_moves_p99():
    played = Played(scenarios.streams_and_long_prompts(1000, 5, 460, streams=4))
    stall = (6000 + 4) * TOKEN_NS / 1e6
    gaps_a_second = (1000 - stall) / 10 + 1
    assert round(1 / gaps_a_second, 3) == 0.011
    assert played.time["itl_ms"]["p99"] == stall
    assert played.time["stalls"] == 4 * 5


def test_chunks_keep_every_gap_within_the_budget():
    played = Played(scenarios.streams_and_long_prompts(1000, 5, 460, streams=4, chunked=True))
    assert played.time["itl_ms"]["max"] == 1250 * TOKEN_NS / 1e6 == 20
    assert played.time["stalls"] == 0


def test_shared_steps_read_the_long_prompt_too():
    alone, beside = Played(scenarios.shared_steps(kv_read=False)), Played(scenarios.shared_steps())
    row = next(row for row in beside.rows if set(row["tokens"]) == {"chat", "rag"} and sum(row["tokens"].values()) == 2)
    read = sum(row["kv"][name] - 1 for name in ("chat", "rag"))
    preset = STEP_TIMES["llama-3.1-8b-h100"]
    expected = -(-(preset.weight_bytes + read * KV_BYTES) * GB // preset.memory_bandwidth)
    assert beside.row(row["iteration"])["gpu_ns"] == expected
    assert alone.row(row["iteration"])["gpu_ns"] == FLOOR_NS
    assert expected - FLOOR_NS > 200_000
