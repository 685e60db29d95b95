"""A learner's step drives a replay: a right one is the engine, a wrong one is explained where it departs."""

import json
from dataclasses import replace

import pytest
from drive import COURSE, requests_of
from solutions import STEP
from strategies import seeded_case

from lab.driver import Departure, called, drive_replay, plan_for, recorded, step_limits
from lab.engine import replay, screen
from lab.formats.trace_json import read_trace
from lab.grading.child.call import Session
from lab.grading.child.wire import encode
from lab.grading.traces import Dice, seeded
from lab.records import Iteration
from lab.replay import run
from lab.workload import Limits

COURSE_TRACE = read_trace(COURSE)


def step_from(source):
    """`scheduler_step` of `source`."""
    space = {}
    exec(source, space)
    return space["scheduler_step"]


RIGHT = step_from(STEP.reference)
WRONG = {wrong.file.removesuffix(".py"): step_from(wrong.code) for wrong in STEP.wrong}


def on_course(step):
    return drive_replay(COURSE_TRACE.requests, COURSE_TRACE.limits, called(step))


def on(step, *specs, seats=3, pages=32, size=16):
    return drive_replay(requests_of(*specs), Limits(seats, pages, size), called(step))


def test_a_right_step_gives_the_courses_numbers():
    driven = on_course(RIGHT)
    assert driven.metrics["iterations"] == 88
    assert round(100 * driven.metrics["utilization"]) == 86
    assert driven.metrics["wait_p95"] == 7
    assert (driven.stopped, driven.departure) == (None, None)


def test_a_right_step_gives_the_engines_document():
    engine = run(COURSE_TRACE).to_document()["policies"]["continuous"]
    policy = on_course(RIGHT).to_policy()
    assert {key: policy[key] for key in engine} == engine
    assert set(policy) - set(engine) == {"departure", "stopped"}
    json.dumps(policy, allow_nan=False)


def engine_records(case):
    return list(replay(case.requests, step_limits(case.limits), "continuous"))


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_a_right_step_is_the_engine_on_every_trace_that_needs_no_preemption(first):
    needed = 0
    for seed in range(first, first + 100):
        case = seeded_case(seed)
        records = engine_records(case)
        dry = next((i for i, r in enumerate(records) if isinstance(r, Iteration) and r.preempted), None)
        driven = drive_replay(case.requests, case.limits, called(RIGHT))
        assert driven.departure is None, f"seed {seed}: {driven.departure}"
        assert [r.to_row() for r in driven.records] == [r.to_row() for r in records[:dry]], f"seed {seed}"
        if dry is None:
            needed += 1
            assert driven.stopped is None
            trace = replace(COURSE_TRACE, requests=case.requests, limits=step_limits(case.limits))
            engine = run(trace, policies=("continuous",)).policies["continuous"]
            assert (driven.metrics, driven.requests) == (engine.metrics, engine.requests)
        else:
            assert driven.stopped.reason == "dry"
            assert driven.stopped.iteration == records[dry].iteration
            assert "preempts" in driven.stopped.text
    assert 30 < needed < 90  # both kinds are there


def test_it_stops_where_the_pool_runs_dry_and_says_what_an_engine_does():
    driven = on(RIGHT, ("a", 0, 4, 8), ("b", 0, 4, 8), pages=4, size=4)
    # Both hold 2 pages of 4 and the pool is empty: they store 8 tokens after iteration 4, and the ninth has no room.
    assert (driven.stopped.iteration, driven.stopped.reason) == (5, "dry")
    assert driven.stopped.text == (
        "the pool ran dry: the running requests need 2 pages more to decode, and 0 are free. "
        "A serving engine preempts here: it takes the newest request's pages and lets it start again later"
    )
    assert driven.departure is None
    assert (driven.stopped.moment.expected, driven.stopped.moment.returned) == (None, None)
    assert driven.metrics["busy_iterations"] == 4
    assert driven.metrics["completed"] == 0


def test_the_step_is_not_called_when_the_pool_is_dry():
    calls = []

    def step(running, waiting, free_pages, max_num_seqs, page_size):
        grown = sum(-(-(r["tokens"] + 1) // page_size) - r["pages"] for r in running)
        calls.append(free_pages - grown)
        return RIGHT(running, waiting, free_pages, max_num_seqs, page_size)

    on(step, ("a", 0, 4, 8), ("b", 0, 4, 8), pages=4, size=4)
    assert len(calls) == 4
    assert min(calls) >= 0


def test_one_call_for_each_busy_iteration_with_what_has_arrived():
    seen = []

    def step(running, waiting, free_pages, max_num_seqs, page_size):
        ids = [r["id"] for r in running], [r["id"] for r in waiting], free_pages, max_num_seqs, page_size
        seen.append(ids)
        return RIGHT(running, waiting, free_pages, max_num_seqs, page_size)

    driven = on(step, ("c", 9, 3, 2), ("a", 0, 3, 2), ("b", 1, 3, 3), seats=1, pages=5, size=4)
    assert seen == [
        ([], ["a"], 5, 1, 4),
        (["a"], ["b"], 4, 1, 4),
        ([], ["b"], 5, 1, 4),
        (["b"], [], 4, 1, 4),
        (["b"], [], 3, 1, 4),
        ([], ["c"], 5, 1, 4),
        (["c"], [], 4, 1, 4),
    ]
    assert [r.to_row() for r in driven.records if not isinstance(r, Iteration)] == [{"idle": [6, 9]}]
    assert driven.metrics["iterations"] == 11


def test_waiting_requests_have_the_documented_keys_and_no_more():
    given = []

    def step(*arguments):
        given.append(arguments)
        return RIGHT(*arguments)

    on(step, ("a", 0, 3, 3), ("b", 0, 3, 3), seats=1)
    assert list(given[0][1][0]) == ["id", "prompt_tokens", "output_tokens"]
    assert list(given[1][0][0]) == ["id", "tokens", "remaining", "pages"]


def test_what_a_step_does_to_its_arguments_changes_nothing():
    def step(running, waiting, free_pages, max_num_seqs, page_size):
        result = RIGHT(running, waiting, free_pages, max_num_seqs, page_size)
        result = json.loads(json.dumps(result))
        running.clear()
        for request in waiting:
            request.clear()
        return result

    assert on_course(step).departure is None


def test_requests_that_can_never_run_are_left_out():
    driven = on(RIGHT, ("big", 0, 600, 1), ("a", 0, 3, 2))
    assert driven.metrics["rejected"] == [{"id": "big", "reason": "pages"}]
    assert (driven.metrics["completed"], driven.stopped) == (1, None)


def test_budget_and_chunked_prefill_are_off():
    limits = Limits(3, 32, 16, max_num_batched_tokens=3, chunked_prefill=True)
    driven = drive_replay(COURSE_TRACE.requests, limits, called(RIGHT))
    assert driven.metrics["iterations"] == 88
    assert driven.limits == Limits(3, 32, 16)
    assert driven.metrics["rejected"] == []


def test_nothing_to_do_calls_nobody():
    driven = drive_replay((), Limits(3, 32, 16), lambda arguments: pytest.fail("called"))
    assert (driven.records, driven.metrics["iterations"], driven.stopped) == ([], 0, None)


# Departures


@pytest.mark.parametrize(
    ("name", "iteration", "reason"),
    [
        (
            "static_batching",
            15,
            "The engine admits d: a seat is free, and so are 4 pages for its prompt and first token.",
        ),
        ("newest_first", 1, "d overtook a"),
        ("shortest_first", 1, "d overtook b: the first that does not fit ends admission."),
        ("one_seat_too_many", 1, "d has to wait: all 3 seats are taken in this iteration."),
        ("forgets_the_first_token", 1, "a emits its first token as it is admitted, and no second one"),
        ("newcomers_decode_too", 1, "a emits its first token as it is admitted, and no second one"),
        ("one_page_more_than_needed", 8, "b stores 80 tokens, and they need 5 pages of 16."),
        (
            "pages_not_given_back",
            14,
            "Of 32 pages, 10 are held by the requests that go on running, which leaves 22 free.",
        ),
        ("growth_is_not_paid_for", 9, "Of 32 pages, 13 are held by the requests that go on running, which leaves 19"),
        ("pages_never_grow", 9, "b stores 81 tokens, and they need 6 pages of 16."),
        (
            "completes_before_admitting",
            14,
            "d has to wait: all 3 seats are taken in this iteration; a only leaves at the end.",
        ),
        ("one_admission_an_iteration", 1, "The engine admits b"),
        ("completes_one_token_early", 13, "a goes on, with 1 token still to come."),
        ("finished_go_on_running", 14, "In the engine: a, b, c run, a completed."),
        ("float_pages", 1, "In the engine: a, b, c run, a, b, c admitted."),
        ("remembers_between_calls", 2, "In the engine: a, b, c run."),
    ],
)
def test_a_wrong_step_departs_at_its_iteration_for_the_engines_reason(name, iteration, reason):
    driven = on_course(WRONG[name])
    assert driven.departure is not None
    assert driven.departure.iteration == iteration
    assert reason in driven.departure.reason
    assert driven.departure.difference.endswith(".")
    # Until there the picture is the engine's, and the call that is shown is the one that went another way.
    before = [r.to_row() for r in driven.records if isinstance(r, Iteration) and r.iteration < iteration]
    engine = list(replay(COURSE_TRACE.requests, COURSE_TRACE.limits, "continuous"))
    assert before == [r.to_row() for r in engine if isinstance(r, Iteration) and r.iteration < iteration]
    assert driven.departure.moment.expected != driven.departure.moment.returned


def test_a_step_that_is_only_otherwise_goes_on_to_the_end():
    driven = on_course(WRONG["static_batching"])
    assert driven.stopped is None
    assert driven.metrics["iterations"] == 116
    assert driven.metrics["completed"] == 9


def test_a_head_that_the_step_leaves_waiting_without_need_has_no_gate():
    rows = on_course(WRONG["one_admission_an_iteration"]).to_policy()["rows"]
    assert [(row["waiting"], row["gate"]) for row in rows[:3]] == [
        (["b", "c", "d"], None),
        (["c", "d"], None),
        (["d"], "seats"),
    ]


def test_every_known_mistake_shows_on_some_trace_and_draws_what_can_be_drawn():
    for name, step in WRONG.items():
        shown = []
        for seed, count in ((17, 8), (192, 13), (26, 17), (163, 18)):
            requests, limits = seeded(seed, count)
            driven = drive_replay(requests, limits, called(step))
            shown.append(driven.departure is not None)
            policy = driven.to_policy()
            json.dumps(policy, allow_nan=False)
            for row in policy["rows"]:
                if "idle" in row:
                    continue
                held = [page for table in row["pages"].values() for page in table]
                assert len(held) == len(set(held)) == row["pages_used"] <= limits.num_pages
                assert row["wasted_slots"] == row["pages_used"] * limits.page_size - sum(row["kv"].values()) >= 0
                assert [seat["id"] for seat in row["seats"] if seat] != [] and len(row["seats"]) == limits.max_num_seqs
                assert {seat["id"] for seat in row["seats"] if seat} == set(row["running"])
        only_by_arguments = {"changes_its_arguments", "empties_the_queue_it_was_given"}
        assert any(shown) or name in only_by_arguments, name


# Stops


def with_result(change, at=2):
    """A right step whose result is changed in its call number `at`."""
    calls = []

    def step(*arguments):
        result = RIGHT(*arguments)
        calls.append(1)
        return change(result) if len(calls) == at else result

    return step


def row(result, i=0, **changes):
    result["running"][i].update(changes)
    return result


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda r: None, "your step returned None instead of a dict"),
        (lambda r: [r], "your step returned a list instead of a dict"),
        (lambda r: {**r, "extra": 1}, "the result has a key that nobody asked for: 'extra'"),
        (lambda r: {k: r[k] for k in ("running", "waiting", "completed")}, "the result has no 'free_pages'"),
        (lambda r: {**r, "running": {}}, "running is a dict instead of a list"),
        (lambda r: {**r, "running": [5]}, "running[0] is an int instead of a dict"),
        (lambda r: row(r, tokens=35.0), "running[0]['tokens'] is a float instead of an int"),
        (lambda r: row(r, pages=True), "running[0]['pages'] is a bool instead of an int"),
        (lambda r: row(r, tokens=float("nan")), "running[0]['tokens'] is a float instead of an int"),
        (lambda r: row(r, pages=-1), "running[0]['pages'] is -1, and nothing here can be below 0"),
        (lambda r: row(r, pages=2**60), "running[0]['pages'] is 1152921504606846976, far beyond"),
        (lambda r: row(r, pages=2**10000), "running[0]['pages'] is a huge int, far beyond"),
        (lambda r: row(r, id=5), "running[0]['id'] is an int instead of text"),
        (lambda r: row(r, id="z"), "there is no request 'z'"),
        (lambda r: row(r, id="b"), "b is there twice"),
        (lambda r: row(r, seat=1), "running[0] has a key that nobody asked for: 'seat'"),
        (
            lambda r: {**r, "running": r["running"][1:]},
            "request a left no trace: neither running, waiting nor completed",
        ),
        (lambda r: {**r, "running": [], "waiting": []}, "requests a, b, c and d left no trace"),
        (lambda r: {**r, "completed": ["a"], "running": r["running"][1:]}, "is completed with 12 tokens still to come"),
        (lambda r: {**r, "completed": [{"id": "a"}]}, "completed[0] is a dict instead of an id"),
        (lambda r: {**r, "free_pages": 33}, "free_pages is 33, and the pool has 32"),
        (lambda r: {**r, "free_pages": None}, "free_pages is None instead of an int"),
        (lambda r: row(r, tokens=49), "a stores 49 tokens in 3 pages of 16: there is no room for 1 of them"),
        (lambda r: row(r, pages=30), "the requests that ran hold 38 pages, and the pool has 32"),
        (lambda r: row(r, remaining=11), "a had 13 tokens to come and now has 11"),
        (lambda r: row(r, remaining=14), "a had 13 tokens to come and now has 14"),
        (
            lambda r: {
                **r,
                "running": r["running"][1:],
                "waiting": [{"id": "a", "prompt_tokens": 33, "output_tokens": 14}, *r["waiting"]],
            },
            "a was running and waits again: preemption is no part of this exercise",
        ),
        (
            lambda r: {**r, "waiting": [{"id": "d", "prompt_tokens": 4, "output_tokens": 20}]},
            "d waits with other numbers than it came with",
        ),
        (
            lambda r: {
                **r,
                "waiting": [],
                "running": [*r["running"], {"id": "d", "tokens": 49, "remaining": 19, "pages": 4}],
            },
            "4 requests ran on 3 seats",
        ),
        (lambda r: {**r, "running": [object()]}, "your step returned something that is not plain"),
        (lambda r: type("D", (dict,), {})(r), "your step returned something that is not plain"),
    ],
)
def test_what_no_engine_could_go_on_from_stops_the_replay(change, text):
    driven = on_course(with_result(change))
    assert (driven.stopped.iteration, driven.stopped.reason) == (2, "not_usable")
    assert text in driven.stopped.text
    assert len(driven.records) == 1
    assert driven.departure.iteration == 2
    assert text[1:] in driven.departure.difference
    assert driven.to_policy()["stopped"] == {"iteration": 2, "reason": "not_usable", "text": driven.stopped.text}


def test_a_step_that_does_nothing_is_stopped():
    driven = on_course(lambda running, waiting, free, seats, size: state(running, waiting, free))
    assert driven.stopped.iteration == 1
    assert driven.stopped.text.startswith("nothing ran")


def state(running, waiting, free, completed=()):
    return {"running": running, "waiting": waiting, "completed": list(completed), "free_pages": free}


def test_a_seat_of_who_finishes_is_still_taken_and_the_stop_says_so():
    driven = on_course(WRONG["completes_before_admitting"])
    assert driven.stopped.text == (
        "4 requests ran on 3 seats (a finished now, and a seat is free only for the next iteration)"
    )


def test_code_that_breaks_stops_the_replay_where_it_breaks():
    answer = Session(
        STEP.reference.replace("    active = []", "    assert len(running) < 3 or len(waiting) < 2\n    active = []"),
        "scheduler_step",
    ).run({"replay": plan_for(COURSE_TRACE.requests, COURSE_TRACE.limits)})
    driven = drive_replay(COURSE_TRACE.requests, COURSE_TRACE.limits, recorded(answer["steps"]))
    assert (driven.stopped.iteration, driven.stopped.reason) == (9, "no_answer")
    assert len(driven.records) == 8
    assert driven.departure is None
    assert answer["steps"][-1]["raised"]["type"] == "AssertionError"


# The learner's interpreter and the parent run the same loop


def test_what_the_child_recorded_gives_the_same_as_calling_the_step_here():
    for wrong in (None, *STEP.wrong):
        source = STEP.reference if wrong is None else wrong.code
        for requests, limits in ((COURSE_TRACE.requests, COURSE_TRACE.limits), seeded(26, 17)):
            answer = Session(source, "scheduler_step").run({"replay": plan_for(requests, limits)})
            there = drive_replay(requests, limits, recorded(answer["steps"]))
            # Afresh for each: a module that remembers would remember the replay before.
            here = drive_replay(requests, limits, called(step_from(source)))
            assert there == here


def test_a_record_that_ends_early_or_is_damaged_is_no_more_than_that():
    plan = plan_for(COURSE_TRACE.requests, COURSE_TRACE.limits)
    steps = Session(STEP.reference, "scheduler_step").run({"replay": plan})["steps"]
    assert len(steps) == 82
    cut = drive_replay(COURSE_TRACE.requests, COURSE_TRACE.limits, recorded(steps[:10]))
    assert (cut.stopped.iteration, cut.stopped.reason) == (11, "no_answer")
    swapped = [*steps[:10], steps[40], *steps[11:]]
    odd = drive_replay(COURSE_TRACE.requests, COURSE_TRACE.limits, recorded(swapped))
    assert (odd.stopped.iteration, odd.stopped.reason) == (11, "not_usable")
    more = drive_replay(COURSE_TRACE.requests, COURSE_TRACE.limits, recorded(steps + steps))
    assert more.metrics["iterations"] == 88


def test_the_plan_is_in_order_of_arrival_and_tells_nothing_else():
    requests = requests_of(("b", 3, 5, 6), ("a", 0, 7, 8), ("c", 3, 1, 1), ("never", 0, 10**6, 1))
    plan = plan_for(requests, Limits(2, 9, 4, max_num_batched_tokens=4))
    assert [row["id"] for row in plan["requests"]] == ["a", "b", "c"]
    assert plan["requests"][0] == {"id": "a", "arrival": 0, "prompt_tokens": 7, "output_tokens": 8}
    assert {key: plan[key] for key in plan if key != "requests"} == {"num_pages": 9, "max_num_seqs": 2, "page_size": 4}


# Seeded workloads


def test_dice_are_splitmix64():
    # The first outputs of the published algorithm for the seed 1234567.
    dice = Dice(1234567)
    values = [dice.below(2**64) for _ in range(3)]
    assert values == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_seeded_workloads_never_need_preemption_and_meet_both_gates():
    gates = set()
    for check in STEP.checks(hidden=True):
        if check.replay is None or check.replay.seed is None:
            continue
        requests, limits = seeded(check.replay.seed, check.replay.count)
        assert len(requests) == check.replay.count
        assert screen(requests, limits, "continuous")[1] == []
        records = [r for r in replay(requests, limits, "continuous") if isinstance(r, Iteration)]
        assert not any(record.preempted for record in records)
        met = {record.gate for record in records}
        gates |= met
        assert "pages" in met and "seats" in met, check.name
        assert any(request.output_tokens == 1 for request in requests)
        assert sorted(r.id for r in requests) != [r.id for r in requests]
    assert gates == {None, "pages", "seats"}


def test_a_seed_gives_the_same_workload_and_another_seed_another():
    seeded.cache_clear()
    first = seeded(5, 12)
    seeded.cache_clear()
    assert seeded(5, 12) == first
    assert seeded(6, 12) != first


def test_a_departure_names_its_iteration():
    driven = on_course(WRONG["static_batching"])
    assert isinstance(driven.departure, Departure)
    assert driven.to_policy()["departure"] == {
        "iteration": 15,
        "difference": 'result["running"] lists c; expected c, d.',
        "reason": "The engine admits d: a seat is free, and so are 4 pages for its prompt and first token.",
    }
    assert encode(driven.departure.iteration) == ["int", 15]
