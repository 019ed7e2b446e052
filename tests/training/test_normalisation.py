"""One function maps there and back, whatever the data."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.normalisation import Affine, fit_affine, fit_affine_by_tick


@given(st.floats(-1e3, 1e3), st.integers(2, 50))
def test_constant_dimension_is_exactly_zero_and_comes_back_exactly(value: float, n: int) -> None:
    x = np.full((n, 2), np.float32(value))
    x[:, 1] += np.arange(n)
    affine = fit_affine(x, floor=0.02)
    z = affine.normalise(x)
    assert (z[:, 0] == 0).all()
    assert np.isfinite(z).all()
    assert (affine.restore(np.random.default_rng(0).normal(size=(5, 2)))[:, 0] == np.float32(value)).all()


def test_range_below_a_millionth_counts_as_constant() -> None:
    x = np.array([[0.5], [0.5 + 5e-7]])
    assert fit_affine(x).is_constant.all()


def test_restoring_undoes_normalising() -> None:
    x = np.random.default_rng(0).normal(3, 2, (100, 4))
    affine = fit_affine(x, floor=0.01)
    assert np.allclose(affine.restore(affine.normalise(x)), x, atol=1e-5)


def test_survives_json_exactly() -> None:
    affine = fit_affine(np.random.default_rng(0).normal(size=(10, 3)))
    again = Affine.from_json(json.loads(json.dumps(affine.to_json())))
    assert (again.mean == affine.mean).all()
    assert (again.scale == affine.scale).all()


def test_not_a_number_is_refused_with_its_dimension() -> None:
    with pytest.raises(ValueError, match=r"dimensions \[1\]"):
        Affine(np.array([0.0, np.nan]), np.ones(2))


def test_no_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        fit_affine(np.zeros((0, 3)))


def test_each_tick_of_a_chunk_gets_unit_width_of_its_own() -> None:
    rng = np.random.default_rng(0)
    width = np.array([0.01, 0.1, 1.0])[:, None]
    x = rng.normal(size=(500, 3, 2)) * width
    affine = fit_affine_by_tick(x, np.ones((500, 3), bool))
    assert np.allclose(affine.normalise(x).std(0), 1, atol=0.01)
    assert np.allclose(affine.restore(affine.normalise(x)), x, atol=1e-5)


def test_tick_that_no_chunk_reaches_takes_the_fit_before() -> None:
    x = np.random.default_rng(0).normal(size=(50, 3, 2))
    x[:, 2] = np.nan
    is_valid = np.tile([True, True, False], (50, 1))
    affine = fit_affine_by_tick(x, is_valid)
    assert (affine.scale[2] == affine.scale[1]).all()
