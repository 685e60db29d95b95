"""The engine's options on the command line: flags, what is refused, and what is said about them."""

import json
from dataclasses import replace

import pytest
from drive import COURSE, said_of_the_core, trace_of

from lab.cli import build_parser
from lab.cli_options import given, options_for, pages_for_pool
from lab.errors import InputError
from lab.formats.trace_json import dump_trace
from lab.option_help import GROUPS, OPTION_HELP
from lab.option_notices import replaced, unused_fields, without_effect
from lab.options import PLAIN, Options
from lab.workload import Limits, Request, Trace

LIMITS = Limits(2, 40, 16)
TIMED = {"step_time": "llama-3.1-8b-h100"}


def arguments(*words):
    return build_parser().parse_args(["replay", "t.json", *words])


def options_of(*words, own=PLAIN, limits=LIMITS):
    return options_for(own, arguments(*words), limits)


def sample(entry):
    """A value of the option that is not its default."""
    if entry.kind == "choice":
        return entry.words[-1][0]
    return {"flag": True, "integer": 77, "number": 12.5}[entry.kind]


@pytest.mark.parametrize("entry", OPTION_HELP, ids=lambda entry: entry.name)
def test_each_option_has_a_flag(entry):
    value = sample(entry)
    words = [entry.flag] if entry.kind == "flag" else [entry.flag, str(value)]
    assert given(arguments(*words)) == {entry.name: value}
    assert getattr(options_of(*words), entry.name) == value


def test_without_flags_the_options_are_those_of_the_trace():
    own = Options(victim="largest", scheduler_us=9)
    assert options_of(own=own) == own
    assert options_of() == PLAIN


def test_what_a_trace_has_can_be_taken_away():
    own = Options(**TIMED, kv_read=True, swap_pages=8, victim="largest", weight_bytes=5, stall_ms=9)
    words = (
        "--step-time",
        "none",
        "--no-kv-read",
        "--swap-pages",
        "none",
        "--victim",
        "newest",
        "--weight-bytes",
        "none",
    )
    assert options_of(*words, "--stall-ms", "50", own=own) == PLAIN


def test_help_has_every_flag_under_its_group(lab):
    status, out, _ = lab("replay", "--help")
    assert status == 0
    positions = [out.index(f"\n{name}:\n") for name in GROUPS]
    assert positions == sorted(positions)
    for entry in OPTION_HELP:
        start = out.index(f"\n{entry.group}:\n")
        assert f"\n  {entry.flag}" in out[start : next((p for p in positions if p > start), None)], entry.flag


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--victim", "oldest"],
            'serving-lab replay: --victim: must be one of "newest", "largest", not "oldest"; write one of these',
        ),
        (
            ["--step-time", "h100"],
            'serving-lab replay: --step-time: must be one of "llama-3.1-8b-h100", "llama-3.1-8b-a100", not "h100"; '
            "write one of these",
        ),
        (
            ["--swap-pages-per-step", "0"],
            "serving-lab replay: --swap-pages-per-step: must be at least 1, not 0; write 1 or more",
        ),
        (
            ["--slab-tokens", "1.5"],
            'serving-lab replay: argument --slab-tokens: must be an integer, not "1.5"; write a whole number; '
            "see serving-lab replay --help",
        ),
        (
            ["--stall-ms", "0"],
            "serving-lab replay: argument --stall-ms: must be a number above 0, not 0; write 20 or 12.5; "
            "see serving-lab replay --help",
        ),
        (
            ["--chunk-multiple", "none"],
            'serving-lab replay: argument --chunk-multiple: must be an integer, not "none"; write a whole number; '
            "see serving-lab replay --help",
        ),
        (
            ["--admission", "limit"],
            "serving-lab replay: --client-tokens-per-second: is missing: admission by limit needs one; "
            "write tokens a second such as 1000",
        ),
        (
            ["--allocation", "slab", "--fork-samples"],
            "serving-lab replay: --allocation: must be on-demand together with fork_samples, not slab: "
            "only pages taken one by one can be shared; turn one of the two off",
        ),
        (
            ["--max-num-batched-tokens", "64", "--chunked-prefill", "--chunk-multiple", "65"],
            "serving-lab replay: --chunk-multiple: must be at most max_num_batched_tokens (64), or no chunk would "
            "ever fit, not 65; write 64 or less",
        ),
        (
            ["--pool-gb", "1", "--num-pages", "7"],
            "serving-lab replay: --pool-gb: says how many pages there are, and so does --num-pages; leave one out",
        ),
        (
            ["--pool-gb", "0.002"],
            "serving-lab replay: --pool-gb: holds no page, which takes 2097152 bytes; write 0.002097152 or more",
        ),
        (
            ["--pool-gb", "18889465931479"],
            "serving-lab replay: --pool-gb: holds 9007199254741191 pages, more than 2**53 - 1; "
            "write 18889465931478 or less",
        ),
        (
            ["--allocation", "none"],
            'serving-lab replay: --allocation: must be one of "on-demand", "final-length", "slab", not none; '
            "write one of these",
        ),
        (
            ["--pool-gb", "x"],
            'serving-lab replay: argument --pool-gb: must be a number above 0, not "x"; write 20 or 12.5; '
            "see serving-lab replay --help",
        ),
    ],
)
def test_a_wrong_option_is_one_line_and_status_2(lab, words, line):
    assert lab("replay", COURSE, *words) == (2, "", line + "\n")


def test_a_pool_in_gigabytes_is_as_many_pages_as_fit(lab):
    status, out, err = lab("replay", COURSE, "--json", "--pool-gb", "50")
    assert (status, json.loads(out)["limits"]["num_pages"]) == (0, 23_841)
    pool = "serving-lab replay: --pool-gb 50 holds 23841 pages: 16 tokens a page, 131072 bytes a token\n"
    assert err == pool + said_of_the_core()
    _, out, err = lab("replay", COURSE, "--json", "--pool-gb", "50", "--kv-dtype", "fp8", "--page-size", "8")
    assert json.loads(out)["limits"]["num_pages"] == 50 * 10**9 // (8 * 65_536)
    assert "8 tokens a page, 65536 bytes a token" in err


@pytest.mark.parametrize(("gigabytes", "pages"), [(0.002097152, 1), (0.004194303, 1), (0.004194304, 2), (0.3, 143)])
def test_a_pool_is_counted_on_decimals_as_written(gigabytes, pages):
    assert pages_for_pool(gigabytes, 16, 131_072) == pages


def test_a_pool_is_not_counted_in_binary():
    assert pages_for_pool(0.000065, 1, 1) == 65_000  # 64,999.99999999999 bytes in binary floats


def test_a_pool_that_holds_no_page_is_refused():
    with pytest.raises(InputError):
        pages_for_pool(0.002097151, 16, 131_072)


def trace_with(**fields):
    return Trace("t", LIMITS, (Request("a", 0, 1, 1, **fields), Request("b", 0, 1, 1)))


def test_replaced_options_are_named():
    own = Options(victim="largest", prefix_caching=True, swap_pages=3, stall_ms=7)
    now = replace(own, victim="newest", prefix_caching=False, swap_pages=None, scheduler_us=4)
    assert replaced(own, now) == (
        "replaced prefix_caching on by off, victim largest by newest, swap_pages 3 by none, as the command line says"
    )
    assert replaced(own, own) is None
    assert replaced(PLAIN, now) is None


@pytest.mark.parametrize(
    ("fields", "options", "sentence"),
    [
        ({}, {}, None),
        ({"client": "x"}, {}, "no option uses client (see --admission); replayed without"),
        ({"client": "x"}, {"figures": True}, None),
        ({"client": "x"}, {"admission": "vtc"}, None),
        (
            {"cancel_at": 3, "cancel_after_tokens": 1},
            {},
            "no option uses cancel_after_tokens, cancel_at (see --cancellation); replayed without",
        ),
        ({"cancel_at": 3}, {"cancellation": "ignored"}, None),
        ({"samples": 2}, {"prefix_caching": True}, "no option uses samples (see --fork-samples); replayed without"),
        ({"prefix": ("p",)}, {}, "no option uses prefix (see --prefix-caching); replayed without"),
        ({"prefix": ("p",)}, {"prefix_caching": True}, None),
    ],
)
def test_fields_that_no_option_uses(fields, options, sentence):
    assert unused_fields(trace_with(**fields), Options(**options)) == sentence


BUDGET = {"max_num_batched_tokens": 64}
CHUNKED = {**BUDGET, "chunked_prefill": True}


@pytest.mark.parametrize(
    ("options", "limits", "policies", "fields", "sentence"),
    [
        ({}, {}, "both", {}, None),
        ({"scheduler_us": 5}, {}, "both", {}, "scheduler_us changes nothing unless step_time is given"),
        ({"scheduler_us": 5, **TIMED}, {}, "both", {}, None),
        ({"slab_tokens": 5}, {}, "both", {}, "slab_tokens changes nothing unless allocation is slab"),
        ({"slab_tokens": 5, "allocation": "slab"}, {}, "both", {}, None),
        (
            {"victim": "largest", "allocation": "slab"},
            {},
            "both",
            {},
            "victim changes nothing unless allocation is on-demand",
        ),
        (
            {"kv_dtype": "fp8", "kv_bytes_per_token": 4},
            {},
            "both",
            {},
            "kv_dtype changes nothing unless kv_bytes_per_token is none",
        ),
        (
            {"prefill_first": True},
            {},
            "both",
            {},
            "prefill_first changes nothing unless max_num_batched_tokens is given",
        ),
        ({"prefill_first": True}, BUDGET, "both", {}, None),
        (
            {"prefill_first": True},
            BUDGET,
            "static",
            {},
            "prefill_first changes nothing under static, which ignores max_num_batched_tokens",
        ),
        ({"chunk_multiple": 4}, BUDGET, "both", {}, "chunk_multiple changes nothing unless chunked_prefill is on"),
        ({"chunk_multiple": 4}, CHUNKED, "both", {}, None),
        (
            {"fork_samples": True},
            {},
            "both",
            {"samples": 1},
            "fork_samples changes nothing without requests for several samples",
        ),
        ({"fork_samples": True}, {}, "both", {"samples": 2}, None),
        (
            {"cancellation": "honoured"},
            {},
            "both",
            {},
            "cancellation changes nothing without requests that have cancel_at or cancel_after_tokens",
        ),
        ({"cancellation": "honoured"}, {}, "both", {"cancel_at": 4}, None),
        ({"admission": "vtc"}, {}, "both", {}, "admission changes nothing with fewer than two clients"),
        ({"admission": "vtc"}, {}, "both", {"client": "x"}, None),
        ({"admission": "limit", "client_tokens_per_second": 5}, {}, "both", {}, None),
        (
            {"input_weight": 3, "swap_pages": 3},
            {},
            "both",
            {},
            "swap_pages changes nothing unless preemption is swap; "
            "input_weight changes nothing unless admission is vtc",
        ),
    ],
)
def test_options_that_change_nothing(options, limits, policies, fields, sentence):
    names = ["static"] if policies == "static" else ["static", "continuous"]
    trace, limits = trace_with(**fields), replace(LIMITS, **limits)
    assert without_effect(Options(**options), (), trace, limits, names) == sentence


def test_the_length_of_an_iteration_matters_where_seconds_are_asked_for():
    def said(unit="iteration", **options):
        trace = replace(trace_with(), time_unit=unit)
        return without_effect(Options(**options), ["iteration_ms"], trace, LIMITS, ["continuous"])

    assert said() == "iteration_ms changes nothing for a trace in iterations unless admission is limit"
    assert said(admission="limit", client_tokens_per_second=5) is None
    assert said("ms") is None
    assert said("ms", **TIMED) == "iteration_ms changes nothing for a trace in ms unless step_time is none"
    assert said(admission="limit", client_tokens_per_second=5, **TIMED) is None


def test_each_kind_of_notice_is_one_line(lab, tmp_path):
    trace = trace_of(("a", 0, 5, 3), max_num_seqs=2, num_pages=6, page_size=4)
    requests = (replace(trace.requests[0], samples=2, prefix=("p",)),)
    path = tmp_path / "t.json"
    options = Options(victim="largest", scheduler_us=3)
    path.write_text(dump_trace(replace(trace, requests=requests, options=options)), "utf-8")
    status, _, err = lab("replay", path, "--victim", "newest", "--slab-tokens", 4)
    assert status == 0
    assert err.splitlines()[:-1] == [
        f"{path}: replaced victim largest by newest, as the command line says",
        f"{path}: no option uses samples, prefix (see --fork-samples, --prefix-caching); replayed without",
        f"{path}: scheduler_us changes nothing unless step_time is given; "
        "slab_tokens changes nothing unless allocation is slab",
    ]


def test_json_has_the_options_and_their_figures_only_while_they_are_on(lab):
    _, plain, _ = lab("replay", COURSE, "--json")
    _, default, _ = lab("replay", COURSE, "--json", "--victim", "newest", "--no-figures", "--step-time", "none")
    assert default == plain
    assert "options" not in json.loads(plain)
    words = ("--step-time", "llama-3.1-8b-h100", "--stall-ms", "12.5", "--prefix-caching", "--cancellation", "ignored")
    _, out, _ = lab("replay", COURSE, "--json", *words)
    data = json.loads(out)
    assert list(data) == ["schema_version", "trace", "limits", "options", "policies"]
    assert data["options"] == {
        "step_time": "llama-3.1-8b-h100",
        "stall_ms": 12.5,
        "prefix_caching": True,
        "cancellation": "ignored",
    }
    for figures in data["policies"].values():
        assert {"time", "memory", "sharing", "preemption", "cancellation"} <= set(figures)
        assert "clients" not in figures
        assert figures["requests"]["a"]["ttft_ms"] > 0


def test_events_have_the_keys_of_the_options_that_are_on(lab):
    words = ("--preemption", "swap", "--num-pages", 14, "--policy", "continuous", "--events", "-")
    _, out, _ = lab("replay", COURSE, *words)
    rows = [json.loads(line) for line in out.splitlines()]
    assert any(row["swapped_out"] for row in rows if "idle" not in row)
    assert all({"reserved_slots", "host_pages"} <= set(row) for row in rows if "idle" not in row)
    assert not any("start_ns" in row or "cached" in row for row in rows)


def test_a_trace_in_time_runs_on_the_model_of_time(lab, tmp_path):
    path = tmp_path / "ms.json"
    requests = (Request("a", 0.5, 5, 3), Request("b", 100, 5, 3))
    path.write_text(dump_trace(Trace("ms", LIMITS, requests, time_unit="ms")), "utf-8")
    status, out, err = lab("replay", path, "--json", "--step-time", "llama-3.1-8b-h100", "--perfetto", tmp_path / "p")
    assert (status, err) == (0, said_of_the_core("step_time is llama-3.1-8b-h100"))
    figures = json.loads(out)["policies"]["continuous"]
    assert figures["requests"]["b"]["ttft_ms"] == pytest.approx(4.794, abs=0.001)
    assert figures["time"]["idle_ms"] > 80
    chrome = json.loads((tmp_path / "p").read_text("utf-8"))
    assert min(event["ts"] for event in chrome["traceEvents"] if event["ph"] == "X") == 500


@pytest.mark.parametrize(
    ("requests", "unit", "words", "problem"),
    [
        (
            (Request("a", 2**53 - 1, 1, 1),),
            "s",
            ("--step-time", "llama-3.1-8b-h100"),
            'requests[0] (id "a"), arrival: ',
        ),
        (
            (Request("a", 0, 1, 1, samples=2), Request("a#2", 0, 1, 1)),
            "iteration",
            ("--fork-samples",),
            'requests[1] (id "a#2"), id: ',
        ),
    ],
)
def test_what_a_replay_refuses_names_the_file(lab, tmp_path, requests, unit, words, problem):
    path = tmp_path / "t.json"
    path.write_text(dump_trace(Trace("t", LIMITS, requests, time_unit=unit)), "utf-8")
    status, out, err = lab("replay", path, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"{path}: {problem}")
