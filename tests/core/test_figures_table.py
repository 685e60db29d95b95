"""The table that `serving-lab replay` prints."""

from dataclasses import replace

from drive import COURSE, trace_of

from lab.formats.trace_json import read_trace
from lab.replay import run
from lab.table import render_table

COURSE_TABLE = """\
course: Serving workload: 9 requests, mixed prompt and output lengths
9 requests, max_num_seqs 3, num_pages 32, page_size 16

                    static   continuous
iterations             116           88
busy_iterations        116           82
decoded_tokens         212          212
utilization            61%          86%
wait_mean            12.56         2.56
wait_p95                19            7
wait_max                42           14
latency_mean         36.11        26.11
latency_p95             62           44
peak_pages              17           27
wasted_slots_peak       36           41
occupancy              36%          45%
preemptions              0            0
completed                9            9
rejected                 0            0

Waits and latencies are in iterations: wait = start - 1 - arrival, latency = finish - arrival.
p95 = lower order statistic: sorted[floor(0.95 * (n - 1))], the 8th of 9.
utilization = decoded_tokens / (max_num_seqs * busy_iterations).
occupancy = mean of pages held / num_pages, over busy iterations.
"""


def test_the_course_trace():
    assert render_table(run(read_trace(COURSE), keep_records=False)) == COURSE_TABLE


def test_rejected_requests_are_listed_apart_with_reasons():
    trace = trace_of(
        ("fits", 0, 5, 3),
        ("deep", 0, 9, 9),
        ("long prompt", 0, 30, 9),
        max_num_seqs=2,
        num_pages=6,
        page_size=4,
        max_num_batched_tokens=8,
    )
    text = render_table(run(trace))
    assert text.endswith(
        """
static ignores max_num_batched_tokens.

Rejected under static (they can never be served, and enter no other figure):
  "long prompt"  pages: prompt + output need 10 pages, the pool has 6
Rejected under continuous (they can never be served, and enter no other figure):
  "deep"         tokens: may have to prefill 17 tokens at once, the budget is 8
  "long prompt"  pages: prompt + output need 10 pages, the pool has 6
"""
    )
    assert "rejected                 1            2\n" in text
    assert ", static the 1st of 2, continuous the 1st of 1.\n" in text


def test_a_long_list_of_rejected_requests_is_cut():
    trace = trace_of(*((f"r{i}", 0, 99, 1) for i in range(30)), max_num_seqs=2, num_pages=6, page_size=4)
    lines = render_table(run(trace, policies=["static"])).splitlines()
    assert lines[-1] == "  and 10 more; --json lists all"
    assert sum(line.startswith('  "r') for line in lines) == 20


def test_limits_that_differ_from_the_usual_are_shown():
    limits = replace(read_trace(COURSE).limits, max_num_batched_tokens=64, chunked_prefill=True)
    text = render_table(run(read_trace(COURSE), limits))
    assert text.splitlines()[1].endswith("page_size 16, max_num_batched_tokens 64, chunked_prefill")
    assert "changes nothing" not in text
    unlimited = replace(limits, max_num_batched_tokens=None)
    assert "chunked_prefill changes nothing without max_num_batched_tokens." in render_table(
        run(read_trace(COURSE), unlimited)
    )


def test_nothing_to_replay():
    text = render_table(run(trace_of(max_num_seqs=1, num_pages=1, page_size=1)))
    assert text.startswith("scenario\n0 requests, ")
    assert "p95 = lower order statistic: sorted[floor(0.95 * (n - 1))], of no values: 0.\n" in text
    assert "utilization             0%           0%\n" in text


def test_control_characters_never_reach_the_terminal():
    trace = replace(
        trace_of(("\x1b[2J", 0, 99, 1), name="\x1b[31m", max_num_seqs=1, num_pages=1, page_size=1),
        title="a\rb",
    )
    text = render_table(run(trace))
    assert "\x1b" not in text
    assert "\r" not in text
