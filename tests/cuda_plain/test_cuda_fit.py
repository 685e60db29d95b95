"""The model max(floor, tokens x cost), fitted to points, and the statistics that the points are made of."""

from __future__ import annotations

import pytest

from lab.cuda.fit import fit
from lab.cuda.shapes import SHAPES, step_bytes
from lab.cuda.statistics import percentile, spread


def test_points_of_the_model_give_the_model_back():
    sizes = (1, 2, 4, 8, 64, 256, 512, 1024)
    found = fit([(size, max(0.5, size * 0.002)) for size in sizes])
    assert (found.floor_ms, found.token_ms) == pytest.approx((0.5, 0.002))
    assert found.knee == pytest.approx(250)
    assert found.worst_error == pytest.approx(0, abs=1e-9)
    assert [found.ms(n) for n in (1, 250, 500)] == pytest.approx([0.5, 0.5, 1.0])


def test_where_every_step_is_on_the_floor_the_cost_is_only_bounded():
    found = fit([(1, 0.5), (2, 0.5), (8, 0.5)])
    assert (found.floor_ms, found.token_ms, found.knee) == (0.5, None, None)
    assert found.token_ms_at_most == 0.5 / 8
    assert found.ms(10**6) == 0.5
    assert fit([(1, 0.5), (2, 0.5), (8, 0.52)]).token_ms is None
    assert fit([(1, 0.5), (2, 0.5), (8, 0.53)]).token_ms == pytest.approx(0.53 / 8)


def test_noise_moves_it_a_little_and_is_told():
    points = [(1, 0.52), (2, 0.49), (4, 0.5), (512, 1.03), (1024, 2.0)]
    found = fit(points)
    assert found.floor_ms == pytest.approx(0.5, rel=0.03)
    assert found.token_ms == pytest.approx(0.002, rel=0.03)
    assert 0 < found.worst_error < 0.05
    assert found.worst_error == pytest.approx(max(abs(found.ms(n) / ms - 1) for n, ms in points))


def test_order_does_not_matter_and_one_point_is_a_floor():
    points = [(512, 1.0), (1, 0.5), (2, 0.5)]
    assert fit(points) == fit(sorted(points))
    assert fit([(4, 0.5)]).to_dict()["floor_ms"] == 0.5


@pytest.mark.parametrize("points", [[], [(0, 1.0)], [(1, 0.0)], [(1, -1.0)]])
def test_nonsense_is_refused(points):
    with pytest.raises(ValueError, match="points"):
        fit(points)


def test_percentiles_lie_between_neighbours():
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2], 0.5) == 1.5
    assert percentile([7], 0.9) == 7
    assert spread([float(n) for n in range(11)]).to_dict() == {"median": 5, "p10": 1, "p90": 9}
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_layer_of_llama_weighs_what_its_matrices_do():
    shape = SHAPES["llama-3.1-8b"]
    assert shape.weights == 4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336  # 436 MB in bfloat16
    assert 2 * shape.weights == 436_207_616
    assert shape.kv_token == 2 * 8 * 128
    assert step_bytes(shape, 2, "bfloat16", 3, [10, 20, 30], [5]) == 2 * (436_207_616 + 68 * 2048 * 2)
