"""What options make of traces that do not go with them: one clear line, before anything runs."""

import pytest
from drive import trace_of

from lab.engine import replay
from lab.errors import InputError
from lab.options import Options
from lab.replay import run
from lab.workload import Limits, Request, Trace

ROOMY = {"max_num_seqs": 4, "num_pages": 32, "page_size": 16}
H100 = Options(step_time="llama-3.1-8b-h100")


def forked(*ids, samples=3):
    requests = tuple(Request(name, 0, 4, 2, samples=samples if name == "a" else None) for name in ids)
    return Trace("forked", Limits(**ROOMY), requests, options=Options(fork_samples=True))


@pytest.mark.parametrize("name", ["a#2", "a#3"])
def test_an_id_that_a_forked_sequence_has_is_refused(name):
    with pytest.raises(InputError) as caught:
        run(forked("a", name))
    assert str(caught.value) == (
        f'requests[1] (id "{name}"), id: is what a forked sequence of a is called; give one of the two another id'
    )


@pytest.mark.parametrize("name", ["a#1", "a#4", "a#02", "a#", "b#2", "#2", "a#two", "a#²", "a#" + "9" * 5000])
def test_other_ids_are_fine(name):
    outcome = run(forked("a", name)).policies["continuous"]
    assert outcome.metrics["completed"] == 2
    assert outcome.records[0].options.sharing.forked == {"a": ("a#2", "a#3")}


def test_ids_like_those_of_forks_are_fine_without_forks():
    trace = forked("a", "a#2")
    assert run(trace, options=Options()).policies["static"].metrics["completed"] == 2


def test_time_without_a_model_of_time_is_refused_by_the_engine_itself():
    with pytest.raises(InputError) as caught:
        replay([Request("a", 0.5, 1, 1)], Limits(**ROOMY), "static", time_unit="ms")
    assert caught.value.field == "time_unit"


@pytest.mark.parametrize(("unit", "last"), [("s", 9_007_199), ("ms", 9_007_199_254)])
def test_arrivals_up_to_the_largest_number_of_nanoseconds(unit, last):
    def trace(arrival):
        return Trace("late", Limits(**ROOMY), (Request("a", 0, 1, 1), Request("b", arrival, 1, 1)), time_unit=unit)

    assert run(trace(last), options=H100).policies["static"].requests["b"]["ttft_ms"] > 0
    with pytest.raises(InputError) as caught:
        run(trace(last + 1), options=H100)
    assert (caught.value.field, caught.value.place) == ("arrival", 'requests[1] (id "b")')


def test_options_that_do_not_go_with_the_limits_are_refused():
    trace = trace_of(("a", 0, 5, 3), max_num_batched_tokens=8, chunked_prefill=True, **ROOMY)
    assert run(trace, options=Options(chunk_multiple=8)).policies["static"].metrics["completed"] == 1
    with pytest.raises(InputError) as caught:
        run(trace, options=Options(chunk_multiple=9))
    assert caught.value.field == "chunk_multiple"


def test_the_options_are_in_what_is_written_only_if_one_is_on():
    trace = trace_of(("a", 0, 5, 3), **ROOMY)
    assert "options" not in run(trace).to_dict()
    replayed = run(trace, options=Options(victim="largest", figures=True))
    assert replayed.to_dict()["options"] == replayed.to_document()["options"] == {"figures": True, "victim": "largest"}
