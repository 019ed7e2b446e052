"""Agreement of simulated with real success over policies."""

import numpy as np
import pytest
from scipy import stats

from labapp.statistics.prediction import agreement, fisher_bounds, mean_maximum_rank_violation, pearson

REAL = [0.86, 0.82, 0.74, 0.58, 0.52]


def test_the_same_order_violates_no_rank_however_far_the_rates_are_off():
    assert mean_maximum_rank_violation([0.5, 0.4, 0.3, 0.2, 0.1], REAL) == 0


def test_a_swapped_pair_costs_each_of_it_their_real_difference():
    swapped = [0.9, 0.7, 0.75, 0.5, 0.4]  # the second and third change places: |0.82 - 0.74| for both of five
    assert mean_maximum_rank_violation(swapped, REAL) == pytest.approx(2 * 0.08 / 5)


def test_a_reversed_order_costs_the_largest_real_difference_of_each():
    worst = [max(abs(a - b) for b in REAL) for a in REAL]
    assert mean_maximum_rank_violation(REAL[::-1], REAL) == pytest.approx(np.mean(worst))


def test_the_violation_is_what_the_definition_says():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = rng.random(6).round(1), rng.random(6).round(1)
        each = [max(abs(y[i] - y[j]) * ((x[i] < x[j]) != (y[i] < y[j])) for j in range(6)) for i in range(6)]
        assert mean_maximum_rank_violation(x, y) == pytest.approx(np.mean(each))


def test_correlation_and_interval_are_scipys():
    x = [0.8, 0.85, 0.6, 0.55, 0.3]
    expected = stats.pearsonr(x, REAL)
    found = agreement(x, REAL, 0.95)
    assert found.r == pytest.approx(expected.statistic)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_under_three_policies_nothing_is_computed(n):
    found = agreement(REAL[:n], REAL[:n])
    assert found.policies == n
    assert found[1:5] == (None, None, None, None)


def test_without_spread_there_is_no_correlation_but_an_order():
    assert pearson([0.5, 0.5, 0.5], [0.1, 0.2, 0.3]) is None
    assert agreement([0.5] * 3, [0.1, 0.2, 0.3]).rank_violation == pytest.approx((0.2 + 0.1 + 0) / 3)


def test_three_policies_have_a_correlation_and_no_interval():
    found = agreement([0.1, 0.2, 0.5], [0.2, 0.3, 0.4])
    assert found.r is not None
    assert found.low is None
    assert fisher_bounds(1.0, 10) == (None, None)


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same policies"):
        agreement([0.1], [0.1, 0.2])
