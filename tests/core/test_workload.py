"""Requests, limits and traces check themselves."""

from dataclasses import FrozenInstanceError, replace

import pytest

from lab.errors import InputError
from lab.options import Options
from lab.workload import Limits, Request, Trace

GOOD = {"id": "a", "arrival": 0, "prompt_tokens": 3, "output_tokens": 2}
LIMITS = {"max_num_seqs": 3, "num_pages": 32, "page_size": 16}


def error_of(make):
    with pytest.raises(InputError) as caught:
        make()
    return caught.value


@pytest.mark.parametrize("field", ["prompt_tokens", "output_tokens", "cancel_after_tokens", "samples"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (0, "must be at least 1, not 0; write 1 or more"),
        (-3, "must be at least 1, not -3; write 1 or more"),
        (2**53, "must be at most 9007199254740991 (2**53 - 1), not 9007199254740992; write a smaller number"),
        (3.0, "must be an integer, not 3.0; write 3"),
        (3.5, "must be an integer, not 3.5; round it to a whole number"),
        (True, "must be an integer, not true; write a whole number such as 1"),
        ("3", 'must be an integer, not the text "3"; take the quotation marks away'),
        ("many", 'must be an integer, not the text "many"; write a whole number such as 1'),
        (float("nan"), "must be an integer, not NaN; write a whole number such as 1"),
        (float("inf"), "must be an integer, not Infinity; write a whole number such as 1"),
        ([3], "must be an integer, not a list; write a whole number such as 1"),
        ({}, "must be an integer, not an object; write a whole number such as 1"),
    ],
)
def test_counts(field, value, problem):
    error = error_of(lambda: Request(**{**GOOD, field: value}))
    assert (error.field, error.problem) == (field, problem)


@pytest.mark.parametrize("field", ["prompt_tokens", "output_tokens", "arrival"])
def test_the_largest_number_is_fine(field):
    assert getattr(Request(**{**GOOD, field: 2**53 - 1}), field) == 2**53 - 1


@pytest.mark.parametrize("value", [-1, -0.5, 2**53, float("nan"), float("inf"), True, "0", None, [0]])
def test_arrivals_that_are_no_times(value):
    assert error_of(lambda: Request(**{**GOOD, "arrival": value})).field == "arrival"


@pytest.mark.parametrize("value", [-1, 4, 4.999, 2**53, float("nan"), True, "7", [7]])
def test_times_to_leave_that_are_none_or_before_the_arrival(value):
    assert error_of(lambda: Request(**{**GOOD, "arrival": 5}, cancel_at=value)).field == "cancel_at"


@pytest.mark.parametrize("value", [5, 5.5, 2**53 - 1])
def test_a_client_may_leave_at_once_or_later(value):
    assert Request(**{**GOOD, "arrival": 5}, cancel_at=value).cancel_at == value


@pytest.mark.parametrize("field", ["id", "client"])
@pytest.mark.parametrize("value", ["", 7, True, ["a"], "\ud800"])
def test_texts(field, value):
    assert error_of(lambda: Request(**{**GOOD, field: value})).field == field


def test_the_id_is_not_optional():
    assert error_of(lambda: Request(**{**GOOD, "id": None})).field == "id"


@pytest.mark.parametrize(
    ("value", "field"),
    [("abc", "prefix"), (5, "prefix"), ([1.0], "prefix[0]"), (["a", ""], "prefix[1]"), ([-1], "prefix[0]")],
)
def test_prefix(value, field):
    assert error_of(lambda: Request(**GOOD, prefix=value)).field == field


def test_prefix_is_kept_as_a_tuple():
    assert Request(**GOOD, prefix=["p", 7]).prefix == ("p", 7)
    assert Request(**GOOD, prefix=[]).prefix == ()


@pytest.mark.parametrize("field", ["max_num_seqs", "num_pages", "page_size", "max_num_batched_tokens"])
@pytest.mark.parametrize("value", [0, -1, 1.0, True, "3", 2**53, float("nan")])
def test_limits(field, value):
    assert error_of(lambda: Limits(**{**LIMITS, field: value})).field == field


def test_limits_must_not_be_none_but_for_the_budget():
    for field in LIMITS:
        assert error_of(lambda field=field: Limits(**{**LIMITS, field: None})).field == field
    assert Limits(**LIMITS, max_num_batched_tokens=None).max_num_batched_tokens is None


@pytest.mark.parametrize("value", [1, 0, None, "yes"])
def test_chunked_prefill_is_a_flag(value):
    error = error_of(lambda: Limits(**LIMITS, chunked_prefill=value))
    assert error.field == "chunked_prefill"


@pytest.mark.parametrize("budget", [3, 4])
def test_a_budget_of_a_token_a_seat_is_fine(budget):
    assert Limits(**LIMITS, max_num_batched_tokens=budget).max_num_batched_tokens == budget


def test_a_budget_below_the_seats_is_refused():
    error = error_of(lambda: Limits(**LIMITS, max_num_batched_tokens=2))
    assert error.field == "max_num_batched_tokens"
    assert str(error) == (
        "max_num_batched_tokens: must be at least max_num_seqs (3), one token a seat, not 2; "
        "write 3 or more, or lower max_num_seqs"
    )


def test_replace_checks_again():
    limits = Limits(**LIMITS, max_num_batched_tokens=4)
    assert replace(limits, max_num_seqs=4).max_num_seqs == 4
    assert error_of(lambda: replace(limits, max_num_seqs=5)).field == "max_num_batched_tokens"
    assert error_of(lambda: replace(Request(**GOOD), output_tokens=0)).field == "output_tokens"


def test_what_a_trace_is_made_of_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Limits(**LIMITS).page_size = 3


def trace_with(*requests, **fields):
    return Trace(**{"name": "t", "limits": Limits(**LIMITS), "requests": requests, **fields})


def test_ids_that_repeat():
    error = error_of(lambda: trace_with(*(Request(name, 0, 1, 1) for name in ["a", "b", "a"])))
    assert str(error) == ('requests[2] (id "a"), id: repeats the id of requests[0]; give each request an id of its own')


@pytest.mark.parametrize("unit", ["ms", "s"])
def test_arrivals_in_time_may_be_fractions(unit):
    assert trace_with(Request("a", 12.5, 1, 1), time_unit=unit).requests[0].arrival == 12.5


def test_arrivals_in_iterations_are_integers():
    error = error_of(lambda: trace_with(Request("a", 0, 1, 1), Request("b", 2.0, 1, 1)))
    assert str(error) == 'requests[1] (id "b"), arrival: must be an integer, not 2.0; write 2'


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": 3}, "name"),
        ({"title": 3}, "title"),
        ({"source": ["x"]}, "source"),
        ({"license": False}, "license"),
        ({"time_unit": "minutes"}, "time_unit"),
        ({"time_unit": ["ms"]}, "time_unit"),
        ({"limits": {"max_num_seqs": 1}}, "limits"),
        ({"options": {"figures": True}}, "options"),
        ({"options": None}, "options"),
    ],
)
def test_other_fields_of_a_trace(fields, field):
    assert error_of(lambda: trace_with(**fields)).field == field


def test_times_to_leave_in_iterations_are_integers():
    error = error_of(lambda: trace_with(Request("a", 0, 1, 1, cancel_at=2.0)))
    assert str(error) == 'requests[0] (id "a"), cancel_at: must be an integer, not 2.0; write 2'
    assert trace_with(Request("a", 0, 1, 1, cancel_at=2.5), time_unit="ms").requests[0].cancel_at == 2.5


@pytest.mark.parametrize(("budget", "multiple", "fits"), [(8, 8, True), (8, 9, False), (None, 9, True)])
def test_options_must_go_with_the_limits(budget, multiple, fits):
    limits = Limits(**LIMITS, max_num_batched_tokens=budget, chunked_prefill=True)
    options = Options(chunk_multiple=multiple)
    if fits:
        assert trace_with(limits=limits, options=options).options == options
    else:
        error = error_of(lambda: trace_with(limits=limits, options=options))
        assert (error.place, error.field) == ("options", "chunk_multiple")


def test_requests_must_be_requests():
    assert error_of(lambda: trace_with({"id": "a"})).place == "requests[0]"


def test_an_error_is_one_line_whatever_is_in_it():
    error = InputError("bad", field="id", place='requests[0] (id "a\nb")', source="x\r\n\x1b[31m.json")
    assert str(error) == r'x\r\n\x1b[31m.json: requests[0] (id "a\nb"), id: bad'


def test_an_error_keeps_what_it_knows():
    error = InputError("bad", field="id").at(place="requests[0]").at(place="elsewhere", source="f.json")
    assert (error.field, error.place, error.source) == ("id", "requests[0]", "f.json")
    assert str(error) == "f.json: requests[0], id: bad"
    assert isinstance(error, ValueError)
