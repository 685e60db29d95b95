"""The figures of options in the table: groups, histograms, clients, rules, and what is rejected why."""

from dataclasses import replace

import pytest
from drive import COURSE, trace_of

from lab import scenarios
from lab.formats.trace_json import read_trace
from lab.options import Options
from lab.replay import run
from lab.table import render_table
from lab.table_groups import GROUPS, MOST_CLIENTS_SHOWN
from lab.workload import Limits, Request, Trace

TIMED = {"step_time": "llama-3.1-8b-h100"}


def table(trace, **changes):
    return render_table(run(trace, **changes))


def line(text, start):
    return next(line for line in text.splitlines() if line.startswith(start)).split()


def course(**options):
    return replace(read_trace(COURSE), options=Options(**options))


EVICTION = """\
eviction
2 requests, max_num_seqs 2, num_pages 126, page_size 16
options: step_time llama-3.1-8b-h100, preemption swap, swap_bandwidth 25000000000

                    continuous
iterations                   4
busy_iterations              4
decoded_tokens               5
utilization                62%
wait_mean                 0.00
wait_p95                     0
wait_max                     0
latency_mean              3.00
latency_p95                  2
peak_pages                 126
wasted_slots_peak           15
occupancy                  75%
preemptions                  1
completed                    2
rejected                     0

Time           continuous
makespan_ms         67.58
gpu_busy_ms         67.58
scheduler_ms         0.00
idle_ms              0.00
tokens_per_s         74.0
stalls                  0

Time, in ms                count    mean     p50     p95     p99    p999     max
ttft          continuous       2   32.22   32.22   32.22   32.22   32.22   32.22
itl           continuous       3   16.88   15.28   15.28   15.28   15.28   30.56
tpot          continuous       2   16.48   15.28   15.28   15.28   15.28   17.68
e2e           continuous       2   57.54   47.50   47.50   47.50   47.50   67.58

Histogram, in ms   continuous
ttft 20 to 50               2
itl 2 to 5                  1
itl 10 to 20                1
itl 20 to 50                1

Memory                  continuous
"""


def test_a_timed_replay_from_top_to_memory():
    text = table(scenarios.eviction("swap"), policies=["continuous"])
    head = text[: text.index("kv_bytes_per_token")]
    assert [row.rstrip() for row in head.splitlines()] == [row.rstrip() for row in EVICTION.splitlines()]
    assert "the weights alone take 4.79 ms." in text
    assert "\nllama-3.1-8b-h100 is Llama 3.1 8B in BF16 with" in text and "NVIDIA H100 SXM data sheet.\n" in text
    assert "A stall is a gap longer than 50 ms." in text


def test_a_preset_with_a_figure_of_ones_own_is_not_said_to_be_a_data_sheet_s():
    text = table(course(**TIMED, token_ns=20_000))
    assert "tokens * 20000 ns" in text
    assert "data sheet" not in text


def test_groups_are_there_only_with_their_options():
    def titles(**options):
        text = table(course(**options))
        return [title for title in [*GROUPS.values(), "Clients"] if f"\n\n{title}" in text]

    assert titles() == []
    assert titles(figures=True) == ["Memory", "Preemption"]
    assert titles(**TIMED) == ["Time", "Memory", "Preemption"]
    assert titles(prefix_caching=True) == ["Memory", "Sharing", "Preemption"]
    assert titles(cancellation="honoured") == ["Memory", "Preemption", "Cancellation"]
    assert titles(admission="vtc") == ["Memory", "Preemption", "Clients"]


def test_figures_are_those_of_the_metrics_a_column_a_policy():
    replay = run(course(**TIMED, allocation="slab"))
    text = render_table(replay)
    figures = [outcome.metrics for outcome in replay.policies.values()]
    assert line(text, "makespan_ms")[1:] == [f"{m['time']['makespan_ms']:.2f}" for m in figures]
    assert line(text, "used_share")[1:] == [f"{m['memory']['used_share']:.1%}" for m in figures]
    assert line(text, "peak_kv_bytes")[1:] == [str(m["memory"]["peak_kv_bytes"]) for m in figures]
    assert line(text, "e2e ")[-1] == f"{figures[0]['time']['e2e_ms']['max']:.2f}"


def test_histograms_count_everything_once():
    replay = run(course(**TIMED))
    rows = [row.split() for row in render_table(replay).splitlines() if row.startswith("itl ") and " to " in row]
    for column, outcome in enumerate(replay.policies.values(), start=-2):
        assert sum(int(row[column]) for row in rows) == outcome.metrics["time"]["itl_ms"]["count"]
    assert all(row[-2:] != ["0", "0"] for row in rows)


def test_options_and_the_scheduler_are_said():
    text = table(course(**TIMED, scheduler_us=2000, kv_read=True))
    assert "\noptions: step_time llama-3.1-8b-h100, kv_read, scheduler_us 2000\n" in text
    assert "max(weights and KV read / 3350000000000 bytes a second, tokens * 16000 ns)" in text
    assert "The scheduler takes 2000 microseconds a step, before the GPU.\n" in text
    beside = table(course(**TIMED, scheduler_us=2000, async_scheduling=True))
    assert "2000 microseconds a step, while the GPU works: a step lasts the longer of the two.\n" in beside
    assert "scheduler" not in table(course(**TIMED)).split("Waits and latencies")[1]


def test_waits_of_arrivals_in_time_are_counted_from_joining():
    text = table(scenarios.two_clients(), policies=["continuous"])
    assert "wait = start - joined, latency = finish - joined + 1.\n" in text
    assert "wait = start - 1 - arrival" in table(course(**TIMED))


def test_clients_are_rows():
    replay = run(scenarios.two_clients("limit"), policies=["continuous"])
    text = render_table(replay)
    assert line(text, "Clients") == ["Clients", *replay.policies["continuous"].metrics["clients"]["A"]]
    assert line(text, "A  ")[1:5] == ["continuous", "36", "10", "26"]
    assert "Rejected under continuous (they enter no other figure but their client's requests):\n" in text
    assert '  "A11"  limit: its client was over 1000 tokens a second\n' in text


def test_many_clients_are_cut_and_one_may_have_no_name():
    names = [None, "\x1b[2J", *(f"c{i}" for i in range(MOST_CLIENTS_SHOWN))]
    requests = tuple(Request(f"r{i}", 0, 1, 1, client=name) for i, name in enumerate(names))
    text = table(Trace("t", Limits(4, 40, 4), requests, options=Options(admission="vtc")), policies=["continuous"])
    assert "(no name) " in text
    assert "and 2 more; --json lists all\n" in text
    assert "\x1b" not in text


def test_nothing_to_replay():
    trace = replace(trace_of(max_num_seqs=1, num_pages=1, page_size=1), options=Options(**TIMED, admission="vtc"))
    text = table(trace)
    assert "\nClients: none\n" in text
    assert line(text, "makespan_ms") == ["makespan_ms", "0.00", "0.00"]
    assert "\nHistogram" not in text


@pytest.mark.parametrize(
    ("request_", "options", "reason"),
    [
        ({"samples": 3}, {"fork_samples": True}, "seats: 3 samples need as many seats, there are 2"),
        (
            {"samples": 2, "prompt_tokens": 15, "output_tokens": 1},
            {"fork_samples": True},
            "pages: prompt and 2 samples need 5 pages, the pool has 4",
        ),
        ({"prompt_tokens": 16}, {"fork_samples": True}, "pages: prompt + output need 5 pages, the pool has 4"),
        (
            {"prompt_tokens": 8},
            {"allocation": "slab", "slab_tokens": 8},
            "length: prompt + output are 9 tokens, a slab holds 8",
        ),
        ({}, {"allocation": "slab", "slab_tokens": 17}, "pages: a slab needs 5 pages, the pool has 4"),
    ],
)
def test_why_a_request_was_rejected(request_, options, reason):
    request = Request(**{"id": "r", "arrival": 0, "prompt_tokens": 1, "output_tokens": 1, **request_})
    text = table(Trace("t", Limits(2, 4, 4), (request,), options=Options(**options)), policies=["continuous"])
    assert text.endswith(f'(they can never be served, and enter no other figure):\n  "r"  {reason}\n')
