"""What a job may be: settings at their bounds, requests of clients, and the way to the child and back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_up import COURSE

from lab.cuda.job import CPU, Settings, job_from_dict, job_from_request, make_job
from lab.cuda.memory import GRAPH_LEAST, graph_bytes, replay_bytes, shown_bytes
from lab.cuda.plan import batch_sizes, plans_of
from lab.cuda.shapes import SHAPES
from lab.errors import InputError
from lab.formats.trace_json import parse_trace, read_trace, trace_sha256
from lab.options import Options
from lab.workload import Limits, Request, Trace

TRACE = json.loads(COURSE.read_text("utf-8"))


def asked(most=1000, **changes):
    return job_from_request({"trace": TRACE, **changes}, Settings(), most)


@pytest.mark.parametrize(
    "settings",
    [
        {"layers": 1},
        {"layers": 4},
        {"memory_share": 1},
        {"memory_share": 0.01},
        {"repeats": 20},
        {"device": 7},
        {"device": CPU, "repeats": 1},
        {"dtype": "float32"},
        {"shape": "tiny"},
        {"warmup": 0},
    ],
)
def test_settings_at_their_bounds(settings):
    assert Settings(**settings).to_dict().items() >= settings.items()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layers", 0),
        ("layers", 5),
        ("layers", True),
        ("memory_share", 0),
        ("memory_share", 1.01),
        ("repeats", 19),
        ("device", -2),
        ("device", 0.5),
        ("dtype", "int8"),
        ("shape", "gpt"),
        ("warmup", -1),
        ("compare", 1),
        ("seed", -1),
    ],
)
def test_settings_beyond_their_bounds_are_refused_by_name(field, value):
    with pytest.raises(InputError) as caught:
        Settings(**{field: value})
    assert caught.value.field == field


def test_a_job_goes_to_the_child_and_back_unchanged():
    trace = replace(read_trace(COURSE), options=Options(victim="largest"))
    job = make_job(trace, ["continuous"], Settings(layers=2), "f" * 64)
    assert job_from_dict(json.loads(json.dumps(job.to_dict()))) == job


def test_a_trace_in_seconds_keeps_its_own_hash():
    job = asked(trace={**TRACE, "time_unit": "s"}, options={"iteration_ms": 500})
    assert job.trace.options.iteration_ms == 500
    assert job.sha256 == trace_sha256(replace(read_trace(COURSE), time_unit="s"))
    assert job_from_dict(job.to_dict()) == job


def test_a_client_may_change_limits_and_policies():
    job = asked(limits={"num_pages": 20}, policies=["static"])
    assert (job.trace.limits.num_pages, job.trace.limits.max_num_seqs, job.policies) == (20, 3, ("static",))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings": {"device": 1}}, "the request, settings: unknown key"),
        ({"limits": {"pages": 1}}, "limits, pages: unknown key"),
        ({"limits": {"num_pages": 0}}, "limits, num_pages: must be at least 1"),
        ({"limits": []}, "limits: must be an object"),
        ({"policies": "static"}, "policies: must be a list"),
        ({"policies": []}, "policies: names no policy"),
        ({"policies": ["static", "static"]}, "policies: names a policy twice"),
        ({"policies": ["import os"]}, "policy: must be one of"),
        ({"policies": [[]]}, "policy: must be one of"),
        ({"options": {"victim": "me"}}, "options, victim: must be one of"),
        ({"options": {"code": "x"}}, "options, code: unknown key"),
        ({"options": {"iteration_ms": 0}}, "options, iteration_ms: must be above 0"),
        ({"trace": {**TRACE, "requests": 3}}, "trace: requests: must be a list"),
        ({"trace": {**TRACE, "more": 3}}, "trace: more: unknown key"),
        ({"trace": "x"}, "trace: must be an object"),
    ],
)
def test_what_a_client_may_not_ask_for_is_refused_in_one_line(changes, said):
    with pytest.raises(InputError) as caught:
        asked(**changes)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("value", [None, [], "x", {}, {"limits": {}}])
def test_what_is_no_request_is_refused(value):
    with pytest.raises(InputError):
        job_from_request(value, Settings(), 10)


def test_too_many_requests_are_refused_one_over_the_bound():
    assert len(asked(most=9).trace.requests) == 9
    with pytest.raises(InputError, match="has 9 requests, and this server replays at most 8"):
        asked(most=8)


def test_memory_is_reckoned_before_anything_is_put_on_the_device():
    trace = read_trace(COURSE)
    plans = list(plans_of(trace, ["static", "continuous"]).values())
    llama = replay_bytes(plans, SHAPES["llama-3.1-8b"], 4, "bfloat16")
    assert 4 * 436_207_616 + 3 * 2**30 <= llama < 8 * 10**9
    assert replay_bytes(plans, SHAPES["llama-3.1-8b"], 2, "bfloat16") < llama
    wide = parse_trace(json.dumps({**TRACE, "limits": {**TRACE["limits"], "num_pages": 10**7}}))
    huge = list(plans_of(wide, ["continuous"]).values())
    assert replay_bytes(huge, SHAPES["llama-3.1-8b"], 4, "bfloat16") > 10**7 * 16 * 2048 * 2 * 4


@pytest.mark.parametrize(
    ("count", "text"), [(5, "5 bytes"), (2500, "2.5 kB"), (436_207_616, "436.2 MB"), (8e10, "80.0 GB")]
)
def test_bytes_in_words(count, text):
    assert shown_bytes(count) == text


def test_the_memory_of_a_replay_counts_a_graph_for_each_batch_size():
    shape = SHAPES["llama-3.1-8b"]

    def needed(requests):
        limits = Limits(requests, 4096, 16)
        trace = Trace("many", limits, tuple(Request(f"r{n}", 0, 4, 2 + n) for n in range(requests)))
        plan = plans_of(trace, ["continuous"])["continuous"]
        return plan, graph_bytes(plan, shape, 4, 2), replay_bytes([plan], shape, 4, "bfloat16")

    few, many = needed(8), needed(256)
    assert len(batch_sizes([few[0]])) == 8 and len(batch_sizes([many[0]])) == 8 + 31
    assert few[1] < 9 * GRAPH_LEAST
    # The largest graph's q, k, v and output in four layers are 29 MB, and its MLP's 22 MB.
    assert many[1] > 39 * GRAPH_LEAST + 51e6
    assert many[2] > many[1] + 4 * shape.weights * 2
