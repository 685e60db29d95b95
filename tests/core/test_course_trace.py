"""The course trace, against the golden file: every figure, every start and finish, every iteration."""

import json

import pytest
from drive import COURSE, GOLDEN

from lab.formats.trace_json import read_trace
from lab.replay import run

GOLDEN_REPLAY = json.loads(GOLDEN.read_text("utf-8"))
POLICIES = ["static", "continuous"]
FIGURES = [
    "iterations",
    "busy_iterations",
    "decoded_tokens",
    "utilization",
    "wait_p95",
    "wait_max",
    "wait_mean",
    "peak_pages",
    "preemptions",
    "completed",
    "rejected",
]


@pytest.fixture(scope="module")
def document():
    return run(read_trace(COURSE)).to_document()


def busy_rows(document, policy):
    return [row for row in document["policies"][policy]["rows"] if "idle" not in row]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("figure", FIGURES)
def test_figure(document, policy, figure):
    assert document["policies"][policy]["metrics"][figure] == GOLDEN_REPLAY[policy][figure]


@pytest.mark.parametrize("policy", POLICIES)
def test_start_and_finish_of_every_request(document, policy):
    got = document["policies"][policy]["requests"]
    assert {name: {"start": times["start"], "finish": times["finish"]} for name, times in got.items()} == GOLDEN_REPLAY[
        policy
    ]["requests"]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_iteration(document, policy):
    rows = busy_rows(document, policy)
    assert [row["iteration"] for row in rows] == GOLDEN_REPLAY[policy]["member_iterations"]
    for row, expected in zip(rows, GOLDEN_REPLAY[policy]["members"], strict=True):
        got = ["".join(row["running"]), row["pages_used"], "".join(row["waiting"])]
        assert got == expected, f"iteration {row['iteration']}"


def test_iteration_1_fills_three_seats_and_d_waits(document):
    for policy in POLICIES:
        row = busy_rows(document, policy)[0]
        assert row["running"] == ["a", "b", "c"]
        assert row["pages_used"] == 11
        assert (row["waiting"], row["gate"]) == (["d"], {"static": "batch", "continuous": "seats"}[policy])


def test_continuous_gives_the_seat_of_a_to_d_at_once(document):
    rows = busy_rows(document, "continuous")
    assert rows[13]["completed"] == rows[13]["released"] == ["a"]
    assert rows[14]["admitted"] == ["d"]
    assert rows[14]["seats"][0] == {"id": "d", "state": "prefill"}


def test_static_holds_the_seat_of_a_until_the_batch_drains(document):
    rows = busy_rows(document, "static")
    assert (rows[13]["completed"], rows[13]["released"]) == (["a"], [])
    for row in rows[14:18]:
        assert row["seats"][0] == {"id": "a", "state": "held"}
        assert row["gate"] == "batch"
    assert (rows[17]["iteration"], rows[17]["released"]) == (18, ["a", "b", "c"])
    assert (rows[18]["iteration"], rows[18]["admitted"]) == (19, ["d", "e"])


def test_continuous_is_idle_from_78_to_83(document):
    idle = [row["idle"] for row in document["policies"]["continuous"]["rows"] if "idle" in row]
    assert idle == [[78, 83]]


def test_the_row_of_iteration_15_in_full(document):
    assert busy_rows(document, "continuous")[14] == {
        "iteration": 15,
        "arrived": [],
        "preempted": [],
        "admitted": ["d"],
        "running": ["b", "c", "d"],
        "seats": [
            {"id": "d", "state": "prefill"},
            {"id": "b", "state": "decode"},
            {"id": "c", "state": "decode"},
        ],
        "tokens": {"b": 1, "c": 1, "d": 48},
        "emitted": ["b", "c", "d"],
        "completed": ["b"],
        "released": ["b"],
        "waiting": ["e"],
        "gate": "seats",
        "pages": {"b": [3, 4, 5, 6, 7, 11], "c": [8, 9, 10, 12], "d": [13, 14, 15, 16]},
        "kv": {"b": 72 + 15, "c": 40 + 15, "d": 48 + 1},
        "pages_used": 14,
        "wasted_slots": 14 * 16 - (87 + 55 + 49),
    }


def test_document_is_plain_json_and_names_the_trace(document):
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema_version"] == 1
    assert document["trace"]["name"] == "course"
    assert document["trace"]["requests"][4] == {
        "id": "e",
        "arrival": 8,
        "prompt_tokens": 18,
        "output_tokens": 25,
    }
    assert document["limits"] == {
        "max_num_seqs": 3,
        "num_pages": 32,
        "page_size": 16,
        "max_num_batched_tokens": None,
        "chunked_prefill": False,
    }
    assert list(document["policies"]) == POLICIES
