"""The clocks: iterations, iterations with their times told, and arrivals in ms or s."""

import pytest

from lab.clock import clock_for, moments_of, nanoseconds
from lab.options import Options
from lab.records import Idle
from lab.workload import Limits, Request

LIMITS = Limits(4, 8, 16)
# A step of n tokens keeps the GPU busy for the longer of 10 and 4 n nanoseconds.
STEPS = {"step_time": "llama-3.1-8b-h100", "weight_bytes": 10, "memory_bandwidth": 10**9, "token_ns": 4}


def clock(unit="iteration", **options):
    return clock_for(Options(**options), LIMITS, unit)


@pytest.mark.parametrize(
    ("iteration_ms", "second"), [(20, 50), (1000, 1), (1001, 1), (999, 1), (500, 2), (333.4, 2), (0.3, 3333)]
)
def test_a_second_is_whole_iterations_and_at_least_one(iteration_ms, second):
    assert clock(iteration_ms=iteration_ms).second == second
    assert clock(iteration_ms=iteration_ms, **STEPS).second == second
    assert clock("ms", iteration_ms=iteration_ms, **STEPS).second == 10**9


def test_iterations_start_and_end_in_iterations():
    time = clock()
    time.start()
    assert (time.iteration, time.now, time.end) == (1, 0, 1)
    assert time.skip_to(1) is None
    assert time.skip_to(4) == Idle(2, 4)
    time.start()
    assert (time.iteration, time.now, time.end) == (5, 4, 5)


def test_an_idle_iteration_lasts_as_long_as_reading_the_weights():
    time = clock(**STEPS)
    assert time.skip_to(2) == Idle(1, 2)
    time.start()
    assert (time.iteration, time.now, time.start_ns) == (3, 2, 20)
    time.ran(5, 0, 0)
    assert time.skip_to(4) == Idle(4, 4)
    time.start()
    assert (time.start_ns, time.idle_ns, time.end) == (50, 30, 5)


def test_in_real_time_idle_time_is_no_iteration_and_steps_end_when_they_have_run():
    time = clock("ms", **STEPS)
    assert time.skip_to(100) is None
    time.start()
    assert (time.iteration, time.now, time.start_ns) == (1, 100, 100)
    time.ran(5, 0, 0)
    assert time.end == 120
    assert time.skip_to(119) is None
    time.start()
    assert (time.iteration, time.now, time.idle_ns) == (2, 120, 100)


@pytest.mark.parametrize(
    ("tokens", "options", "gpu", "step"),
    [
        (0, {}, 0, 0),
        (2, {}, 10, 10),
        (3, {}, 12, 12),
        (3, {"scheduler_us": 1}, 12, 1012),
        (3, {"scheduler_us": 1, "async_scheduling": True}, 12, 1000),
        (300, {"scheduler_us": 1, "async_scheduling": True}, 1200, 1200),
        (0, {"scheduler_us": 1}, 0, 1000),
        (1, {"kv_read": True, "kv_bytes_per_token": 2}, 24, 24),
        (1, {"kv_bytes_per_token": 2}, 10, 10),
        (7, {"kv_read": True, "kv_bytes_per_token": 2}, 28, 28),
    ],
)
def test_a_step_lasts_as_long_as_its_parts(tokens, options, gpu, step):
    time = clock(**STEPS, **options)
    time.start()
    time.ran(tokens, 7, 5)
    assert (time.gpu_ns, time.duration_ns) == (gpu, step)


@pytest.mark.parametrize(("bandwidth", "swap"), [(None, 0), (10**9, 96), (10**11, 1)])
def test_swapping_adds_to_the_step_even_if_nothing_is_computed(bandwidth, swap):
    time = clock(**STEPS, kv_bytes_per_token=2, swap_bandwidth=bandwidth)
    time.start()
    time.ran(0, 0, 3)
    assert time.duration_ns == swap


@pytest.mark.parametrize(
    ("time", "unit", "ns"), [(0.07, "s", 70_000_000), (0.25, "ms", 250_000), (1e-7, "ms", 1), (3, "s", 3 * 10**9)]
)
def test_times_are_brought_to_nanoseconds_as_they_are_written(time, unit, ns):
    assert nanoseconds(time, unit) == ns
    assert moments_of([Request("a", time, 1, 1)], clock(unit, **STEPS)) == [ns]
