"""What traces are like, in figures, in bars and in text."""

import io
import json
import random
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from drive import COURSE, trace_of

from lab.errors import InputError
from lab.formats.json_text import PIECE, read_bytes
from lab.formats.trace_json import dump_trace, read_trace, trace_sha256
from lab.generate import generate
from lab.options import Options
from lab.recipe import recipe_from
from lab.trace_stats import MOST_BARS, PERCENTILES, distribution, histogram, trace_stats
from lab.trace_summary import render_stats
from lab.workload import Request

COURSE_TRACE = read_trace(COURSE)


def written(tmp_path, trace, name="t.json"):
    path = tmp_path / name
    path.write_text(dump_trace(trace), "utf-8")
    return path


# ---- figures


@pytest.mark.parametrize("n", [1, 2, 3, 19, 20, 21, 100, 101])
def test_percentiles_are_lower_order_statistics(n):
    values = [10 * i for i in range(n)]
    random.Random(n).shuffle(values)
    found = distribution(values)
    for q in PERCENTILES:
        assert found[f"p{q}"] == 10 * (q * (n - 1) // 100)
    assert (found["n"], found["min"], found["max"], found["sum"]) == (n, 0, 10 * (n - 1), 10 * n * (n - 1) // 2)
    assert found["mean"] == pytest.approx(5 * (n - 1))


def test_nothing_is_all_zero():
    assert set(distribution([]).values()) == {0}
    stats = trace_stats(replace(COURSE_TRACE, requests=()))
    assert stats["arrivals"]["most_at_once"] == 0 and stats["requests"] == 0
    assert "There are no requests." in render_stats(stats)


def test_the_course_trace():
    stats = trace_stats(COURSE_TRACE)
    assert stats["sha256"] == trace_sha256(COURSE_TRACE)
    assert (stats["arrivals"]["first"], stats["arrivals"]["last"], stats["arrivals"]["most_at_once"]) == (0, 83, 4)
    assert (stats["prompt_tokens"]["sum"], stats["output_tokens"]["sum"]) == (516, 212)
    assert (stats["output_tokens"]["p95"], stats["output_tokens"]["max"]) == (42, 53)  # the 8th of 9 in order
    assert stats["pages"]["max"] == 10  # f: 96 + 53 = 149 tokens
    assert stats["arrivals"]["gaps"]["n"] == 8 and stats["arrivals"]["gaps"]["max"] == 29
    assert stats["rejected"] == {"static": 0, "continuous": 0} and stats["fields"] == {}


def test_order_in_the_file_does_not_matter_and_optional_fields_are_counted():
    requests = tuple(replace(r, client="me") if r.id < "d" else r for r in COURSE_TRACE.requests)
    stats = trace_stats(replace(COURSE_TRACE, requests=requests[::-1]))
    assert stats["arrivals"] == trace_stats(COURSE_TRACE)["arrivals"]
    assert stats["fields"] == {"client": 3}
    assert "client (3)" in render_stats(stats)


def test_what_can_never_be_served_is_said_per_policy():
    trace = trace_of(("a", 0, 60, 5), ("b", 0, 600, 5), max_num_seqs=2, num_pages=8, page_size=16)
    assert "1 request can never be served under either policy by the trace's own limits (8 pages" in render_stats(
        trace_stats(trace)
    )
    limits = replace(trace.limits, max_num_batched_tokens=63)
    text = render_stats(trace_stats(replace(trace, limits=limits)))
    assert "1 request can never be served under static" in text
    assert "2 requests can never be served under continuous" in text


def test_what_options_turn_away():
    slabs = replace(COURSE_TRACE, options=Options(allocation="slab", slab_tokens=148))
    assert trace_stats(slabs)["rejected"] == {"static": 1, "continuous": 1}  # f has 149 tokens


# ---- bars


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([7], [7, 8]),
        ([1, 2, 3], [1, 2, 3, 4]),
        ([0, MOST_BARS - 2], list(range(MOST_BARS))),
        ([0, MOST_BARS - 1], list(range(0, MOST_BARS + 1, 2))),
        ([2**53 - 1], [2**53 - 1, 2**53]),
        ([0, 0, 0, 1, 3, 4, 51], [0, 1, 2, 4, 8, 16, 32, 64]),  # 51 is more than 50 times the median, 1
        ([3, 1000, 1000], list(range(0, 1051, 50))),
        ([3, 3, 3, 160], [0, 2, 4, 8, 16, 32, 64, 128, 256]),
        ([0.25, 0.25, 0.25, 16.0], [0, 0.25, 0.5, 1, 2, 4, 8, 16, 32]),
        ([], [0, 1]),
    ],
)
def test_edges(values, edges):
    assert histogram(values)["edges"] == edges


def test_every_value_is_counted_once_where_it_belongs():
    source = random.Random(8)
    for _ in range(200):
        top = source.choice([1, 5, 40, 41, 10**4, 2**53 - 1])
        whole = source.random() < 0.5
        values = [source.randint(0, top) if whole else source.random() * top for _ in range(source.randint(1, 30))]
        drawn = histogram(values)
        edges, counts = drawn["edges"], drawn["counts"]
        assert sum(counts) == len(values) and edges == sorted(set(edges))
        assert drawn["doubling"] or len(counts) <= MOST_BARS
        assert edges[0] <= min(values) and (max(values) < edges[-1] or not whole)
        for low, high, count in zip(edges, edges[1:-1], counts, strict=False):
            assert count == sum(low <= value < high for value in values)


def test_negative_values_are_no_lengths():
    with pytest.raises(InputError):
        histogram([3, -1])


# ---- commands


def test_the_text_says_percentiles_and_their_rule(lab):
    status, out, err = lab("trace", "stats", COURSE)
    assert (status, err) == (0, "") and out == render_stats(trace_stats(COURSE_TRACE))
    lines = out.splitlines()
    assert lines[1] == "9 requests, arriving from 0 to 83 in iterations, at most 4 at the same time."
    assert lines[4].split() == ["min", "p5", "p25", "p50", "p75", "p95", "p99", "max", "mean"]
    assert lines[7].split() == ["output_tokens", "5", "5", "15", "20", "25", "42", "42", "53", "23.56"]
    assert lines[-1] == (
        "Percentiles: lower order statistic: pQ = sorted[floor(Q / 100 * (n - 1))]; "
        "of 9 lengths p95 is number 8 in order."
    )


def test_json_of_several(lab, tmp_path):
    other = written(tmp_path, replace(COURSE_TRACE, name="other", requests=(Request("a", 0, 1, 1),)))
    status, out, _ = lab("trace", "stats", COURSE, other, "--json")
    said = json.loads(out)
    assert status == 0 and said["schema_version"] == 1
    assert said["traces"] == [trace_stats(COURSE_TRACE), trace_stats(read_trace(other))]


def test_a_bad_file_is_one_line_and_the_others_are_described(lab, tmp_path):
    page = tmp_path / "page.html"
    status, out, err = lab("trace", "stats", tmp_path / "none.json", COURSE, "--html", page)
    assert status == 2 and out.startswith("course\n") and err.count("\n") == 1 and "none.json: there is no" in err
    assert not page.exists()


def test_the_drawing_replaces_no_trace(lab, tmp_path):
    path = written(tmp_path, COURSE_TRACE)
    status, _, err = lab("trace", "stats", path, "--html", path)
    assert status == 2 and "--html: is one of the traces" in err
    assert read_trace(path) == COURSE_TRACE


@pytest.mark.parametrize("command", ["validate", "stats"])
def test_the_largest_file(lab, tmp_path, command):
    path = written(tmp_path, COURSE_TRACE)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b" " * (2**20 - size))
    assert lab("trace", command, path, "--max-mb", 1)[0] == 0
    path.write_bytes(path.read_bytes() + b" ")
    status, out, err = lab("trace", command, path, "--max-mb", 1)
    assert (status, out) == (2, "") and "t.json: has more than 1048576 bytes" in err
    assert lab("trace", command, path)[0] == 0


def test_a_file_is_asked_for_in_pieces_however_much_may_be_read(monkeypatch):
    asked = []

    class Asked(io.BytesIO):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    monkeypatch.setattr(Path, "open", lambda *_: Asked(b"x" * (PIECE + 5)))
    assert read_bytes("t.json", 10**15) == b"x" * (PIECE + 5)
    assert max(asked) == PIECE and min(asked) > 0
    assert read_bytes("t.json", PIECE + 5) == b"x" * (PIECE + 5)
    with pytest.raises(InputError, match=f"has more than {PIECE + 4} bytes"):
        read_bytes("t.json", PIECE + 4)


@pytest.mark.parametrize("size", ["0", "-1", "x", "1.5", ""])
def test_a_largest_size_is_a_whole_number(lab, size):
    status, _, err = lab("trace", "validate", COURSE, f"--max-mb={size}")
    assert status == 2 and err.count("\n") == 1 and "--max-mb" in err


GENERATE = ("trace", "generate", "--seed", 7, "--requests", 12, "--arrivals", "poisson:gap=2.5")
LENGTHS = ("--prompt-tokens", "lognormal:median=48,sigma=0.8,max=512", "--output-tokens", "uniform:min=2,max=30")


def test_generate_writes_the_recipes_trace(lab, tmp_path):
    recipe = {
        "seed": 7,
        "requests": 12,
        "arrivals": {"kind": "poisson", "gap": 2.5},
        "prompt_tokens": {"kind": "lognormal", "median": 48, "sigma": 0.8, "max": 512},
        "output_tokens": {"kind": "uniform", "min": 2, "max": 30},
    }
    text = dump_trace(generate(recipe_from(recipe)))
    assert lab(*GENERATE, *LENGTHS) == (0, text, "")
    path = tmp_path / "g.json"
    assert lab(*GENERATE, *LENGTHS, "--out", path) == (0, "", "")
    assert path.read_bytes() == text.encode()
    assert lab("trace", "validate", path)[0] == 0
    again = read_trace(path).source.split()[1:]  # what the trace says of itself makes it again
    assert lab(*again) == (0, text, "")


def test_generate_takes_limits_and_a_name(lab):
    own = {"max_num_seqs": 2, "num_pages": 64, "page_size": 8, "max_num_batched_tokens": 32, "chunked_prefill": True}
    flags = ("--max-num-seqs", 2, "--num-pages", 64, "--page-size", 8, "--max-num-batched-tokens", 32)
    status, out, _ = lab(*GENERATE, "--mix", "chat=70,rag=30", "--name", "it's mine", *flags, "--chunked-prefill")
    trace = json.loads(out)
    assert status == 0 and trace["limits"] == own and trace["name"] == "it's mine"
    assert lab(*shlex.split(trace["source"])[1:]) == (0, out, "")


@pytest.mark.parametrize("name", ["-", "-1", "-x", "--out", "--name=x", "a\nb"])
def test_the_source_makes_a_trace_of_any_name_again(lab, name):
    status, out, _ = lab(*GENERATE, "--mix", "chat=1", f"--name={name}")
    source = json.loads(out)["source"]
    assert status == 0 and lab(*shlex.split(source)[1:]) == (0, out, "")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--seed", "x"), "--seed: must be an integer"),
        (("--seed", "-1"), "--seed: must be at least 0"),
        (("--requests", "100001"), "--requests: must be at most 100000"),
        (("--arrivals", "poisson"), "--arrivals, gap: is missing"),
        (("--arrivals", "poisson:gap=x"), "--arrivals, gap: must be a number"),
        (("--arrivals", "poisson:3"), "--arrivals: must be of the form kind:key=value"),
        (("--prompt-tokens", "uniform:min=5,max=4"), "--prompt-tokens, min: must be at most max (4)"),
        (("--mix", "chat=1"), "--prompt-tokens: cannot stand beside mix"),
        (("--mix", "chat"), "--mix: must be of the form key=value"),
        (("--num-pages", "0"), "--num-pages: must be at least 1"),
        (("--max-num-batched-tokens", "3"), "--max-num-batched-tokens: must be at least max_num_seqs (4)"),
    ],
)
def test_generate_names_the_flag(lab, flags, told):
    status, out, err = lab(*GENERATE, *LENGTHS, *flags)
    assert (status, out) == (2, "") and told in err and err.count("\n") == 1
