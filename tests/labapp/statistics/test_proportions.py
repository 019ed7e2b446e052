"""Intervals of one rate: published values, a reference library, and honesty at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labapp.statistics.proportions import clopper_pearson_bounds, rate, wilson_bounds

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 50, 0, 0.0713), (50, 50, 0.9287, 1), (26, 50, 0.3851, 0.6520), (43, 50, 0.7381, 0.9305)],
)
def test_wilson_gives_the_published_bounds(k: int, n: int, low: float, high: float) -> None:
    result = rate(k, n)
    assert result.low == pytest.approx(low, abs=5e-5)
    assert result.high == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_no_trials_have_no_rate_and_no_bounds(method: str) -> None:
    assert rate(0, 0, method=method)[:5] == (0, 0, None, None, None)


@given(counts, st.sampled_from(["wilson", "clopper-pearson"]))
def test_bounds_hold_the_rate_and_stay_within_zero_and_one(kn: tuple[int, int], method: str) -> None:
    result = rate(*kn, method=method)
    assert 0 <= result.low <= result.rate <= result.high <= 1


@given(counts, st.sampled_from([("wilson", "wilson"), ("clopper-pearson", "exact")]))
def test_bounds_agree_with_scipy(kn: tuple[int, int], methods: tuple[str, str]) -> None:
    reference = stats.binomtest(*kn).proportion_ci(method=methods[1])
    result = rate(*kn, method=methods[0])
    assert (result.low, result.high) == pytest.approx((reference.low, reference.high), abs=1e-9)


@given(counts)
def test_successes_and_failures_mirror_each_other(kn: tuple[int, int]) -> None:
    k, n = kn
    assert rate(n - k, n).low == pytest.approx(1 - rate(k, n).high, abs=1e-12)


def test_arrays_give_the_same_as_numbers_and_nan_without_trials() -> None:
    k, n = np.array([0, 26, 0]), np.array([50, 50, 0])
    for bounds in (wilson_bounds, clopper_pearson_bounds):
        low, high = bounds(k, n)
        assert np.isnan(low[2])
        assert np.isnan(high[2])
        assert low[0] == 0
    assert wilson_bounds(k, n)[0][1] == rate(26, 50).low


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((51, 50), "there cannot be more successes than trials"),
        ((-1, 50), "whole numbers from 0"),
        ((1, 2, 95), "did you mean 0.95"),
        ((1, 2, 0.95, "wald"), "wilson, clopper-pearson"),
    ],
)
def test_impossible_input_is_refused_in_words(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rate(*arguments)
